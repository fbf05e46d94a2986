/** Runs: the list of them, one of them, what they cost. */

import type { Tokens } from "./events";

export interface RunRow {
  key: string;
  id: string;
  name: string;
  path: string;
  started: string | null;
  events: number | null;
  size: number;
  duration_ms: number | null;
  tokens: Tokens | null;
  cost: number | null;
  errors: number | null;
  facts: number;
  agents: string[];
  status: "ok" | "error" | "interrupted" | "live" | "unfinished" | "unreadable";
  live: boolean;
  kind: string;
  parent: string | null;
  at: number | null;
  edits: string[];
  depth: number;
  problem: string;
  /** What is wrong inside the log, whose figures are those that its end states. */
  damage: string;
  /** Events that its writer could not record. */
  lost: number;
}

export interface Runs {
  total: number;
  next: number | null;
  counts: Record<string, number>;
  runs: RunRow[];
}

export interface Totals {
  events: number;
  steps: number;
  llm_calls: number;
  tool_calls: number;
  errors: number;
  messages: number;
  tokens: Tokens;
  duration_ms: number;
  cost: number | null;
  facts: number;
  checkpoints: number;
}

export interface RunInfo {
  key: string;
  id: string;
  name: string;
  path: string;
  version: string;
  form: string;
  size: number;
  first_seq: number;
  last_seq: number;
  end_seq: number;
  events: number;
  first_timestamp: string | null;
  last_timestamp: string | null;
  duration_ms: number | null;
  status: string;
  live: boolean;
  notes: string[];
  problems: { seq: number | null; line: number | null; text: string }[];
  problem_count: number;
  kind: string;
  parent: { id: string; key: string | null; seq: number | null } | null;
  edits: string[];
  forks: { key: string; id: string; at: number | null; edits: string[] }[];
  program: { argv: string[]; cwd: string } | null;
  certificate: Record<string, unknown> | null;
  can_fork: boolean;
  progress: number;
  agents: { name: string; events: number; first: number; last: number }[];
  types: Record<string, number>;
  totals: Totals | null;
  /** Errors, failed tool calls, and steps that failed without one of these: what the time bar marks. */
  failures: number;
}

export interface Use {
  name: string;
  calls: number;
  errors: number;
  retries: number;
  llm_calls: number;
  tool_calls: number;
  p50_ms: number | null;
  p95_ms: number | null;
  wall_ms: number;
  exclusive_ms: number;
  tokens: Tokens;
  cost: number | null;
  unpriced: number;
}

export interface Costs {
  duration_ms: number;
  progress: number;
  since: number | null;
  cost: number | null;
  unpriced: [string, number][];
  tokens: Tokens;
  inherited: { calls: number; tokens: Tokens; cost: number | null };
  agents: Use[];
  models: Use[];
  tools: Use[];
  critical: { step: number | null; agent: string; name: string; start_ms: number; end_ms: number }[];
  slowest: {
    seq: number;
    agent: string;
    kind: string;
    intent: string;
    wall_ms: number;
    exclusive_ms: number;
    share: number;
    critical_ms: number;
    open: boolean;
  }[];
  idle_ms: number;
  recommendation: string | null;
  cache: {
    input: number;
    read: number;
    write: number;
    share: number | null;
    saved: number | null;
    by_model: { name: string; input: number; read: number; write: number; share: number | null }[];
  };
  waste: {
    what: string;
    title: string;
    text: string;
    times: number;
    tokens: number | null;
    cost: number | null;
    ms: number | null;
    seqs: number[];
  }[];
  confidence: number | null;
  first_chunk_p50_ms: number | null;
}

export interface Trend {
  what: string;
  series: { name: string; points: [number, number | null][] }[];
}

export interface Table {
  columns: string[];
  rows: unknown[][];
  more: boolean;
  seqs: number | null;
  ms: number;
  command: string;
}
