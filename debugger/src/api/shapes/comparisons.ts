/** Two runs beside each other, and forks. */

import type { Change, Row } from "./events";

export interface Side {
  key: string;
  id: string;
  events: number;
  duration_ms: number | null;
  /** These and `llm_calls`: of all model calls, answered from the tape or not; `live_...`: of those it sent itself. */
  tokens: number | null;
  cost: number | null;
  errors: number;
  llm_calls: number;
  live_calls: number;
  live_tokens: number | null;
  live_cost: number | null;
  tool_calls: number;
  first_seq: number;
  last_seq: number;
}

export interface Difference {
  n: number;
  kind: "changed" | "added" | "removed";
  title: string;
  events: number;
  left: Row | null;
  right: Row | null;
  fields: { path: string; left: unknown; right: unknown; unified: string[] | null }[];
}

export interface Compare {
  left: Side;
  right: Side;
  fork: { seq: number; fork: string; edits: string[] } | null;
  equal: number;
  total: number;
  next: number | null;
  differences: Difference[];
  blocks: [number, number, number][];
}

export interface CompareRows {
  rows: {
    left: Row | null;
    right: Row | null;
    kind: "same" | "changed" | "added" | "removed";
    difference: number | null;
  }[];
  total: number;
  next: number | null;
}

export interface WhatIf {
  changes: Change[];
  total: number;
  confidence: { fact: string; first: number; last: number; before: number | null; after: number | null; gates: (string | null)[] }[];
  events: number;
  touched: number[];
  edits: string[];
  command: string;
  notes: string[];
  to_seq: number | null;
}

export interface ForkPlan {
  command: string;
  argv: string[];
  notes: string[];
  live_calls: { seq: number; name: string; agent: string }[];
  program: string[] | null;
  cwd: string | null;
  edits: string[];
  at: number;
  possible: boolean;
  problem: string;
  confirm: string | null;
}
