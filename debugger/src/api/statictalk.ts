/** Conversations of an exported page as of any event: each message is in the page once, with the one above it. */
import type { Branch, Conversation, ConversationRow, Conversations, Message } from "./shapes";

/** See `lctl/debugger/pagetalk.py`, which writes it. */
export interface Talk {
  places: number[];
  above: number[];
  tops: number[];
  depths: number[];
  said: number[][];
  forks: number[][];
  calls: [number, number | null][][];
  lacking: number;
}

export interface Held {
  talk: Talk;
  messages: Message[];
  conversations: Conversations;
  /** A message as it is shown: the others are only counted with. */
  shown: (place: number) => Message;
}

type Query = Record<string, unknown>;

const BRANCHES = 200;
/** The list is no longer than one can look through. */
const LISTED = 500;
const SUMMARY = 120;

const at = (q: Query): number => (typeof q.at === "number" ? q.at : Number.MAX_SAFE_INTEGER);
const message = (all: Held, n: number): Message => all.messages[all.talk.places[n]!]!;

/** How many of the numbers, which grow, are not beyond `last`. */
function upto<T>(sorted: T[], last: number, of: (one: T) => number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (of(sorted[middle]!) <= last) low = middle + 1;
    else high = middle;
  }
  return low;
}

const itself = (n: number): number => n;
const heldUpto = (all: Held, last: number): number => upto(all.talk.places, last, (place) => all.messages[place]!.seq);
const isLast = (all: Held, last: number): boolean => {
  const { said } = all.talk;
  return said.every((seqs) => (seqs[seqs.length - 1] ?? 0) <= last);
};

export function conversationsAt(all: Held, q: Query): Conversations {
  const last = at(q);
  const { conversations, total } = all.conversations;
  const active = isLast(all, last) ? -1 : (all.talk.tops[activeAt(all, last)] ?? -1);
  const begun: ConversationRow[] = [];
  conversations.forEach((row, n) => {
    const messages = upto(all.talk.said[n]!, last, itself);
    if (messages) begun.push(rowAt(all, row, n, last, active < 0 ? row.active : n === active));
  });
  return {
    ...all.conversations,
    conversations: begun.slice(-LISTED),
    total: begun.length + total - conversations.length,
  };
}

function rowAt(all: Held, row: ConversationRow, n: number, last: number, active: boolean): ConversationRow {
  const seqs = all.talk.said[n]!;
  const messages = upto(seqs, last, itself);
  const calls = all.talk.calls[n]!.slice(0, upto(all.talk.calls[n]!, last, ([seq]) => seq));
  const costs = calls.flatMap(([, cost]) => (cost === null ? [] : [cost]));
  return {
    ...row,
    messages,
    branches: 1 + upto(all.talk.forks[n]!, last, itself),
    active,
    last: seqs[messages - 1] ?? row.first,
    calls: calls.length,
    cost: costs.length ? costs.reduce((sum, one) => sum + one, 0) : null,
  };
}

/** The message that a conversation is opened at: as the log says at its end; before, the one that was said last in
 * the main conversation, else in one that no tool call began. -1: the page holds none. */
function activeAt(all: Held, last: number): number {
  const { tops } = all.talk;
  const rows = all.conversations.conversations;
  if (isLast(all, last)) {
    const leaf = rows.find((row) => row.active)?.leaf;
    if (leaf !== undefined) return numbers(all).get(leaf) ?? -1;
  }
  const held = heldUpto(all, last);
  const newest = (fits: (row: ConversationRow | undefined) => boolean): number => {
    for (let n = held - 1; n >= 0; n--) if (fits(rows[tops[n]!])) return n;
    return -1;
  };
  const begun = (row: ConversationRow, n: number): boolean => (all.talk.said[n]![0] ?? Infinity) <= last && row.id === "main" && row.parent === null;
  if (rows.some(begun)) return newest((row) => row?.id === "main" && row.parent === null);
  const outer = newest((row) => row?.parent === null);
  return outer >= 0 ? outer : held - 1;
}

let known: { of: Held; ids: Map<string, number> } | null = null;

/** Message id -> its number here. */
function numbers(all: Held): Map<string, number> {
  if (known?.of !== all) known = { of: all, ids: new Map(all.talk.places.map((place, n) => [all.messages[place]!.id, n])) };
  return known.ids;
}

export function conversationAt(all: Held, q: Query): Conversation {
  const last = at(q);
  const asked = typeof q.leaf === "string" ? (numbers(all).get(q.leaf) ?? -1) : -1;
  let leaf = asked;
  while (leaf >= 0 && message(all, leaf).seq > last) leaf = all.talk.above[leaf]!;
  if (leaf < 0) leaf = activeAt(all, last);
  const path = wayTo(all, leaf, last);
  if (!path.length) return { ...NOTHING, lacking: all.talk.said.reduce((sum, seqs) => sum + upto(seqs, last, itself), 0) };
  const stop = typeof q.before === "string" ? path.findIndex((n) => message(all, n).id === q.before) : -1;
  const end = stop < 0 ? path.length : stop;
  const start = Math.max(0, end - (typeof q.limit === "number" ? q.limit : 100));
  const branches = branchesAt(all, leaf, last);
  return {
    ...NOTHING,
    leaf: message(all, leaf).id,
    conversation: message(all, leaf).conversation,
    messages: path.slice(start, end).map((n) => all.shown(all.talk.places[n]!)),
    older: start > 0,
    total: all.talk.depths[leaf]!,
    branches: branches.slice(0, BRANCHES),
    branch_total: branches.length,
    lacking: all.talk.depths[path[0]!]! - 1,
    held: path.length,
  };
}

const NOTHING: Conversation & { lacking: number; held: number } = {
  leaf: null,
  conversation: null,
  messages: [],
  older: false,
  total: 0,
  complete: true,
  branches: [],
  branch_total: 0,
  progress: 1,
  since: null,
  lacking: 0,
  held: 0,
};

function wayTo(all: Held, leaf: number, last: number): number[] {
  const path: number[] = [];
  for (let n = leaf; n >= 0 && message(all, n).seq <= last; n = all.talk.above[n]!) path.push(n);
  return path.reverse();
}

/** The ends of the conversation that a message is in. */
function branchesAt(all: Held, leaf: number, last: number): Branch[] {
  const { tops, above } = all.talk;
  const top = tops[leaf]!;
  if (top < 0) return [];
  const held = heldUpto(all, last);
  const followed = new Set<number>();
  const inside: number[] = [];
  for (let n = 0; n < held; n++)
    if (tops[n] === top) {
      inside.push(n);
      followed.add(above[n]!);
    }
  let main = numbers(all).get(all.conversations.conversations[top]!.leaf) ?? -1;
  while (main >= held) main = above[main]!;
  return inside.filter((n) => !followed.has(n)).map((n) => branch(all, n, n === main, n === leaf));
}

function branch(all: Held, n: number, main: boolean, active: boolean): Branch {
  const { id, seq, parts } = message(all, n);
  const words = parts.map((part) => (part.kind === "text" ? (part.text ?? "") : "")).join(" ");
  return {
    leaf: id,
    messages: all.talk.depths[n]!,
    main,
    active,
    parts: null,
    last: seq,
    summary: words.split(/\s+/).filter(Boolean).join(" ").slice(0, SUMMARY),
    calls: 0,
    cost: null,
  };
}
