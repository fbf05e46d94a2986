/** The state at an event, and the agents of a run. */

import type { Change, Span, Tokens } from "./events";
import type { Totals } from "./runs";

export interface Fact {
  id: string;
  text: string;
  confidence: number | null;
  source: string | null;
  agent: string;
  added: number;
  modified: number;
  gate: string | null;
  history: [number, number | null, string | null][];
  changed: boolean;
}

export interface AgentUse {
  name: string;
  calls: number;
  errors: number;
  wall_ms: number;
  running: number;
  tokens: Tokens;
  changed: boolean;
}

export interface ModelUse {
  name: string;
  calls: number;
  errors: number;
  wall_ms: number;
  tokens: Tokens;
  cost: number | null;
  changed: boolean;
}

export interface ToolUse {
  name: string;
  calls: number;
  errors: number;
  wall_ms: number;
  changed: boolean;
}

export interface StateAnswer {
  seq: number;
  timestamp: string | null;
  ms: number | null;
  totals: Totals;
  progress: number;
  /** The log is still being read: the state is of the events from this one on. */
  since: number | null;
  agents: AgentUse[];
  models: ModelUse[];
  tools: ToolUse[];
  open_steps: Span[];
  open_step_count: number;
  streams: { seq: number; agent: string; message_id: string | null; chunks: number; tokens: number }[];
  facts: Fact[];
  fact_count: number;
  diagnostics: { seq: number; code: string; text: string }[];
  diagnostic_count: number;
  changes: Change[];
}

export interface StateDiff {
  from: number;
  to: number;
  changes: Change[];
  total: number;
  cut: boolean;
}

export interface FlowNode {
  agent: string;
  steps: number;
  llm_calls: number;
  tool_calls: number;
  errors: number;
  tokens: Tokens;
  wall_ms: number;
  first: number;
  last: number;
  running: boolean;
  models: string[];
  tools: string[];
}

export interface FlowEdge {
  from: string;
  to: string;
  kind: string;
  count: number;
  first: number;
  last: number;
  seqs: number[];
}

export interface Flow {
  nodes: FlowNode[];
  edges: FlowEdge[];
  cut: boolean;
  progress: number;
}

export interface Steps {
  spans: Span[];
  total: number;
  progress: number;
  cut: boolean;
  depth: number;
  from_ms: number;
  to_ms: number;
  collapsed: number;
}
