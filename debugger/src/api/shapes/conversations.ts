/** Conversations and the calls in them. */

import type { Call, Message, Tokens } from "./events";

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
  /** Of an exported page: messages before these that it has no room for, and how many of the path it holds. */
  lacking?: number;
  held?: number;
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
