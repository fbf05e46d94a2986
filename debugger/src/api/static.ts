/** The exported page: the answers are in the page itself, compressed. What the server would work out from
 * rows (time bar, neighbours, search) is worked out here from the same rows. */
import { answer as exactly } from "./exact";
import * as places from "./places";
import type * as S from "./shapes";
import { conversationAt, conversationsAt, type Held, type Talk } from "./statictalk";
import { aside, failures, searchRows, timeline } from "./staticviews";

/** JSON text of it: what holds values of events is read when it is shown, and then exactly. */
type Text<_T> = string;

interface Data {
  format: number;
  session: S.Session;
  run: S.RunInfo;
  rows: S.Row[];
  spans: S.Span[];
  seqs: number[];
  states: Record<string, S.StateAnswer>;
  events: Record<string, Text<S.EventAnswer>>;
  flow: S.Flow;
  steps: S.Steps;
  conversations: S.Conversations;
  talk: Talk;
  calls: S.Calls;
  call: Record<string, Text<S.CallAnswer>>;
  costs: S.Costs;
  diffs: Record<string, Text<S.CallDiff>>;
  /** Those of all conversations, calls and diffs, by their places. */
  messages: Text<S.Message>[];
  /** By the step of the call. */
  copies: Record<string, Omit<S.EventAnswer["copy"], "lctl">>;
  exchanges: Record<string, Text<S.Exchange[]>>;
  /** By the address that a server has them at. */
  images?: Record<string, string>;
  cut: boolean;
}

let data: Promise<Data> | null = null;

const element = (): HTMLElement | null => document.getElementById("lctl-data");

export const isStatic = (): boolean => element() !== null;

async function unpack(): Promise<Data> {
  const packed = Uint8Array.from(atob((element()?.textContent ?? "").trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return (await new Response(stream).json()) as Data;
}

// Messages, requests and exchanges are in the page once, with their places where they stand. An answer is made
// whole when it is asked for: all at once, those of a long conversation would not fit.

/** Messages that were shown, by their text. */
const read = new Map<string, S.Message>();

function placed(all: Data, place: unknown): S.Message | null {
  const text = all.messages[place as number];
  if (place === null || text === undefined) return null;
  const known = read.get(text);
  if (known) return known;
  const message = exactly<S.Message>(text, places.MESSAGE);
  for (const part of message.parts) putIn(all.images ?? {}, part);
  read.set(text, message);
  return message;
}

const allPlaced = (all: Data, list: unknown[]): S.Message[] => list.flatMap((place) => placed(all, place) ?? []);

let counted: { of: Data; held: Held } | null = null;

/** Messages to be counted with: with plain numbers, which is quick for a whole log. */
function heldBy(all: Data): Held {
  if (counted?.of !== all) {
    const messages = all.messages.map((text) => JSON.parse(text) as S.Message);
    counted = { of: all, held: { ...all, messages, shown: (place) => placed(all, place)! } };
  }
  return counted.held;
}

function wholeCall(all: Data, text: string | undefined): S.CallAnswer | undefined {
  if (text === undefined) return undefined;
  const call = exactly<S.CallAnswer>(text, places.CALL);
  return { ...call, prompt: allPlaced(all, call.prompt), answers: allPlaced(all, call.answers) };
}

function wholeDiff(all: Data, text: string | undefined): S.CallDiff | undefined {
  if (text === undefined) return undefined;
  const diff = exactly<S.CallDiff>(text, places.CALL_DIFF);
  const parts = diff.parts.map((part): S.CallDiff["parts"][number] =>
    Array.isArray(part)
      ? { kind: "same", left: placed(all, part[0]), right: placed(all, part[1]), unified: [], lost: 0 }
      : { ...part, left: placed(all, part.left), right: placed(all, part.right) },
  );
  return { ...diff, parts };
}

function wholeEvent(all: Data, text: string | undefined): S.EventAnswer | undefined {
  if (text === undefined) return undefined;
  const event = exactly<S.EventAnswer>(text, places.EVENT);
  const copy = event.copy as S.EventAnswer["copy"] & { call?: number };
  const exchanges = event.exchanges as S.Exchange[] | number;
  return {
    ...event,
    copy: copy.call === undefined ? copy : { lctl: copy.lctl, ...all.copies[copy.call]! },
    exchanges: typeof exchanges === "number" ? exactly<S.Exchange[]>(all.exchanges[exchanges]!, places.EXCHANGES) : exchanges,
  };
}

/** An image stands where a server would be asked for it. */
function putIn(images: Record<string, string>, part: S.Part): void {
  if (part.kind === "image" && part.src !== null && Object.hasOwn(images, part.src)) part.src = images[part.src] ?? null;
}

type Query = Record<string, unknown>;

const number = (value: unknown, otherwise: number): number => (typeof value === "number" ? value : otherwise);

export async function staticAnswer(path: string, query: Query): Promise<unknown> {
  data ??= unpack();
  const all = await data;
  const [, , name = "", rest = ""] = path.split("/");
  const answer = answers[name === "event" || name === "call" ? name : path.slice(5)]?.(all, query, rest);
  if (answer === undefined) throw new Error("This is not in the exported page; 'lctl debug' shows it.");
  return answer;
}

const answers: Record<string, (all: Data, query: Query, rest: string) => unknown> = {
  session: (all) => all.session,
  run: (all) => all.run,
  runs: () => ({ total: 0, next: null, counts: {}, runs: [] }),
  timeline: (all, q) => timeline(all.rows, all.spans, all.run, q),
  neighbour: (all, q) => ({ seq: neighbour(all.rows, number(q.seq, 0), String(q.what), q.back === true) }),
  ticks: (all, q) => {
    const from = number(q.from, 1);
    return { from, ms: all.rows.filter((row) => row.seq >= from).map((row) => row.ms ?? 0), next: null };
  },
  events: (all, q) => {
    const from = number(q.from, 1);
    const rows = all.rows.filter((row) => row.seq >= from).slice(0, number(q.limit, 200));
    return { rows, next: null, total: all.rows.length };
  },
  aside: (all) => aside(all.rows),
  event: (all, _q, rest) => wholeEvent(all, all.events[rest]),
  state: (all, q) => state(all, number(q.at, all.run.last_seq)),
  "state/diff": (all, q) => diff(all, number(q.at, 1), number(q.to, 1)),
  facts: (all, q) => {
    const facts = state(all, number(q.at, all.run.last_seq)).facts;
    return { total: facts.length, next: null, facts };
  },
  flow: (all) => all.flow,
  steps: (all) => all.steps,
  conversations: (all, q) => conversationsAt(heldBy(all), q),
  conversation: (all, q) => conversationAt(heldBy(all), q),
  calls: (all, q) => {
    const at = number(q.at, Number.MAX_SAFE_INTEGER);
    const calls = all.calls.calls.filter((call) => call.step <= at);
    return { calls, total: calls.length, next: null };
  },
  call: (all, _q, rest) => wholeCall(all, all.call[rest]),
  "calls/diff": (all, q) => wholeDiff(all, all.diffs[`${String(q.left)}-${String(q.right)}`]),
  costs: (all) => all.costs,
  trend: () => ({ what: "", series: [] }),
  search: (all, q) => searchRows(all.rows, all.run, String(q.q ?? ""), number(q.width, 1)),
  "search/help": () => ({ fields: ["type", "agent", "name"], types: [], values: {} }),
};

function state(all: Data, at: number): S.StateAnswer {
  let low = 0;
  let high = all.seqs.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((all.seqs[middle] ?? 0) <= at) low = middle;
    else high = middle - 1;
  }
  const found = all.states[String(all.seqs[low] ?? 0)];
  if (!found) throw new Error("this log has no state");
  return found;
}

function neighbour(rows: S.Row[], seq: number, what: string, back: boolean): number | null {
  const fits = (row: S.Row): boolean => {
    if (what === "error") return failures(rows).has(row.seq);
    if (what === "step") return row.type === "step_start";
    if (what === "checkpoint") return row.type === "checkpoint";
    if (what === "tool") return row.type === "tool_call";
    if (what === "llm") return row.type === "step_start" && row.kind === "llm";
    return true;
  };
  const side = back ? rows.filter((row) => row.seq < seq).reverse() : rows.filter((row) => row.seq > seq);
  return side.find(fits)?.seq ?? null;
}

/** What differs in facts and totals between two moments. */
function diff(all: Data, from: number, to: number): S.StateDiff {
  const [before, after] = [state(all, from), state(all, to)];
  const old = new Map(before.facts.map((fact) => [fact.id, fact]));
  const changes: S.Change[] = [];
  for (const fact of after.facts) {
    const was = old.get(fact.id);
    old.delete(fact.id);
    if (!was) changes.push({ section: "facts", name: fact.id, field: "", before: null, after: fact.text });
    else
      for (const field of ["text", "confidence", "source"] as const)
        if (was[field] !== fact[field])
          changes.push({ section: "facts", name: fact.id, field, before: was[field], after: fact[field] });
  }
  for (const fact of old.values())
    changes.push({ section: "facts", name: fact.id, field: "", before: fact.text, after: null });
  for (const [name, was] of Object.entries(before.totals)) {
    const now = after.totals[name as keyof S.Totals];
    if (typeof now === "number" && now !== was)
      changes.push({ section: "totals", name, field: name, before: was, after: now });
  }
  return { from, to, changes, total: changes.length, cut: false };
}
