/** Events: rows of lists, an event opened, the time bar, what arrives live. */

export interface Tokens {
  input: number;
  output: number;
  cache_read: number;
  cache_write: number;
  reasoning: number;
  cache_write_1h: number;
  input_audio: number;
  cache_read_audio: number;
  output_audio: number;
  output_image: number;
  web_searches: number;
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
  | { kind: "tool_call"; call_id: string | null; name: string; arguments: unknown; text?: string }
  | {
      kind: "tool_result";
      call_id: string | null;
      name: string | null;
      output: unknown;
      text: string;
      error: boolean;
      seq: number | null;
    }
  /** `held`: the log has it, though it may be of a kind that is not shown. */
  | { kind: "image"; media_type: string | null; src: string | null; url: string | null; held?: boolean }
  | { kind: "other"; type: string; value: unknown; text?: string }
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
  request: { headers?: Record<string, unknown> | null; body?: unknown; size?: unknown };
  /** `notes`: what of it the log does not have. */
  response: { headers: Record<string, unknown> | null; body: unknown; chunks: [number, string][] | null; notes: string[] };
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
  /** `body`: the request's, put together from its messages. */
  copy: { lctl: string; python: string; curl: string | null; body: string | null };
  fork: { at: number; possible: boolean; reason: string };
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
