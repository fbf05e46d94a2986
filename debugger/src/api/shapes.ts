/** What the server answers. Times in `ms` count from the run's earliest timestamp; costs are US dollars; null
 * is "not known" and never 0. */

export interface Tokens {
  input: number;
  output: number;
  cache_read: number;
  cache_write: number;
  reasoning: number;
}

export interface Row {
  seq: number;
  type: string;
  agent: string;
  step: number | null;
  depth: number;
  ms: number | null;
  timestamp: string | null;
  summary: string;
  error: boolean;
  kind: string | null;
  name: string | null;
  duration_ms: number | null;
  fact: string | null;
  size: number;
}

/** Stretches of events that only a rerun needs: first and last seq of each. */
export interface Aside {
  stretches: [number, number][];
  events: number;
  upto: number;
  progress: number;
}

export interface Span {
  seq: number;
  end_seq: number | null;
  agent: string;
  kind: string;
  name: string;
  parent: number | null;
  depth: number;
  start_ms: number;
  /** Null where the step is open still, or nothing tells when it ended. */
  end_ms: number | null;
  open: boolean;
  error: boolean;
  tokens: Tokens | null;
  cost: number | null;
  intent: string;
  model: string | null;
  tool: string | null;
  outcome: string | null;
}

export type Part = (
  | { kind: "text" | "reasoning"; text: string }
  | { kind: "tool_call"; call_id: string | null; name: string; arguments: unknown }
  | {
      kind: "tool_result";
      call_id: string | null;
      name: string | null;
      output: unknown;
      text: string;
      error: boolean;
      seq: number | null;
    }
  | { kind: "image"; media_type: string | null; src: string | null; url: string | null }
  | { kind: "other"; type: string; value: unknown }
) & { truncated?: number | null };

export interface Message {
  id: string;
  seq: number;
  role: string;
  agent: string;
  timestamp: string | null;
  ms: number | null;
  status: string;
  sampled: boolean;
  conversation: string;
  parent: string | null;
  parts: Part[];
  siblings: string[];
  index: number;
  edits: number;
  nested: string[];
  call: {
    step: number;
    model: string | null;
    tokens: Tokens | null;
    cost: number | null;
    duration_ms: number | null;
    finish_reason: string | null;
    attempts: number;
  } | null;
  size: number;
}

export interface Change {
  section: string;
  name: string;
  field: string;
  before: unknown;
  after: unknown;
}

export interface Session {
  version: string;
  allow_run: boolean;
  run: string | null;
  folder: string | null;
  platform: string;
  static: boolean;
}

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

export interface Lane {
  agent: string;
  total: number;
  counts: number[];
  errors: number[];
  spans: Span[] | null;
  /** Of each tool call: seq, start, end, whether it failed, which tool. */
  tools?: [number, number, number, boolean, string][] | null;
  others?: number | null;
}

export interface Timeline {
  from: number;
  to: number;
  by: "seq" | "time";
  edges: number[];
  ms: number[];
  progress: number;
  lanes: Lane[];
  errors: number[];
  checkpoints: number[];
  handoffs: number[];
  cut: Record<string, boolean>;
}

export interface Exchange {
  seq: number;
  method: string | null;
  url: string | null;
  status: number | null;
  duration_ms: number | null;
  request: { headers: Record<string, unknown> | null; body: unknown };
  response: { headers: Record<string, unknown> | null; body: unknown; chunks: [number, string][] | null };
  error: Record<string, unknown> | null;
  streamed: boolean;
}

export interface Call {
  step: number;
  end_seq: number | null;
  agent: string;
  model: string | null;
  provider: string | null;
  ms: number | null;
  duration_ms: number | null;
  first_chunk_ms: number | null;
  prompt: string | null;
  answer: string | null;
  messages: number;
  tokens: Tokens | null;
  cost: number | null;
  finish_reason: string | null;
  attempts: number;
  error: boolean;
  outcome: string | null;
  number: number;
}

export interface EventAnswer {
  row: Row;
  event: { seq: number; type: string; timestamp: string; agent: string; step?: number; data: Record<string, unknown> };
  raw: string;
  truncated: boolean;
  previous: number | null;
  next: number | null;
  path: { seq: number; name: string; kind: string }[];
  call: Call | null;
  exchanges: Exchange[];
  cost: number | null;
  tokens: Tokens | null;
  related: { seq: number; relation: string; summary: string }[];
  copy: { lctl: string; python: string; curl: string | null };
  fork: { at: number; possible: boolean; reason: string };
}

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

export interface ConversationRow {
  id: string;
  root: string;
  title: string;
  agent: string;
  messages: number;
  branches: number;
  leaf: string;
  active: boolean;
  parent: string | null;
  first: number;
  last: number;
  calls: number;
  tokens: Tokens | null;
  cost: number | null;
}

export interface Conversations {
  conversations: ConversationRow[];
  total: number;
  next: number | null;
  progress: number;
  since: number | null;
}

export interface Branch {
  leaf: string;
  messages: number;
  main: boolean;
  active: boolean;
  parts: string | null;
  last: number;
  summary: string;
  calls: number;
  cost: number | null;
}

export interface Conversation {
  leaf: string | null;
  conversation: string | null;
  messages: Message[];
  older: boolean;
  total: number;
  complete: boolean;
  branches: Branch[];
  branch_total: number;
  progress: number;
  since: number | null;
}

export interface Calls {
  calls: Call[];
  total: number;
  next: number | null;
}

export interface CallAnswer {
  call: Call;
  prompt: Message[];
  answers: Message[];
  tools: { name: string; description: string | null; definition: unknown }[];
  params: Record<string, unknown>;
  previous: number | null;
  failures: { seq: number; text: string }[];
}

export interface CallDiff {
  left: Call;
  right: Call;
  parts: {
    kind: "same" | "injected" | "dropped" | "changed" | "truncated";
    left: Message | null;
    right: Message | null;
    unified: string[] | null;
    lost: number | null;
  }[];
  same: number;
  counts: Record<string, number>;
  tools: { added: string[]; removed: string[] };
  params: { path: string; left: unknown; right: unknown }[];
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

export interface Search {
  rows: Row[];
  next: number | null;
  matches: number;
  scanned: number;
  progress: number;
  bins: number[];
}

export interface SearchHelp {
  fields: string[];
  types: string[];
  values: Record<string, string[]>;
  tables: Record<string, string[]>;
}

export interface Table {
  columns: string[];
  rows: unknown[][];
  more: boolean;
  seqs: number | null;
  ms: number;
  command: string;
}

export interface Side {
  key: string;
  id: string;
  events: number;
  duration_ms: number | null;
  tokens: Tokens | null;
  cost: number | null;
  errors: number;
  llm_calls: number;
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

export interface LiveBatch {
  from: number;
  to: number;
  events: number;
  rows: Row[];
  skipped: number;
  agents: Record<string, number>;
  errors: number[];
  ms: number | null;
  events_total: number;
}
