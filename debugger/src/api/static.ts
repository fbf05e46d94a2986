/** The exported page: the answers are in the page itself, compressed. What the server would work out from
 * rows (time bar, neighbours, search) is worked out here from the same rows. */
import type * as S from "./shapes";
import { conversationAt, conversationsAt, type Talk } from "./statictalk";
import { aside, failures, searchRows, timeline } from "./staticviews";

interface Data {
  format: number;
  session: S.Session;
  run: S.RunInfo;
  rows: S.Row[];
  spans: S.Span[];
  seqs: number[];
  states: Record<string, S.StateAnswer>;
  events: Record<string, S.EventAnswer>;
  flow: S.Flow;
  steps: S.Steps;
  conversations: S.Conversations;
  talk: Talk;
  calls: S.Calls;
  call: Record<string, S.CallAnswer>;
  costs: S.Costs;
  diffs: Record<string, S.CallDiff>;
  /** Those of all conversations, calls and diffs, by their places. */
  messages: S.Message[];
  /** By the step of the call. */
  copies: Record<string, Omit<S.EventAnswer["copy"], "lctl">>;
  exchanges: Record<string, S.Exchange[]>;
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
  const all = (await new Response(stream).json()) as Data;
  if (all.images && Object.keys(all.images).length) putIn(all.images, [all.messages]);
  return all;
}

// Messages, requests and exchanges are in the page once, with their places where they stand. An answer is made
// whole when it is asked for: all at once, those of a long conversation would not fit.

const placed = (all: Data, places: unknown[]): S.Message[] => places.map((place) => all.messages[place as number]!);

function wholeCall(all: Data, call: S.CallAnswer | undefined): S.CallAnswer | undefined {
  return call && { ...call, prompt: placed(all, call.prompt), answers: placed(all, call.answers) };
}

function wholeDiff(all: Data, diff: S.CallDiff | undefined): S.CallDiff | undefined {
  const one = (place: unknown): S.Message | null => (place === null ? null : (all.messages[place as number] ?? null));
  const parts = diff?.parts.map((part): S.CallDiff["parts"][number] =>
    Array.isArray(part)
      ? { kind: "same", left: one(part[0]), right: one(part[1]), unified: [], lost: 0 }
      : { ...part, left: one(part.left), right: one(part.right) },
  );
  return diff && parts && { ...diff, parts };
}

function wholeEvent(all: Data, event: S.EventAnswer | undefined): S.EventAnswer | undefined {
  if (!event) return undefined;
  const copy = event.copy as S.EventAnswer["copy"] & { call?: number };
  const exchanges = event.exchanges as S.Exchange[] | number;
  return {
    ...event,
    copy: copy.call === undefined ? copy : { lctl: copy.lctl, ...all.copies[copy.call]! },
    exchanges: typeof exchanges === "number" ? all.exchanges[exchanges]! : exchanges,
  };
}

/** Images stand where a server would be asked for them. */
function putIn(images: Record<string, string>, within: unknown[]): void {
  const waiting = [...within];
  for (let value = waiting.pop(); value !== undefined || waiting.length; value = waiting.pop()) {
    if (typeof value !== "object" || value === null) continue;
    const part = value as { src?: unknown };
    if (typeof part.src === "string" && Object.hasOwn(images, part.src)) part.src = images[part.src];
    waiting.push(...Object.values(value).filter((one) => typeof one === "object"));
  }
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
  conversations: (all, q) => conversationsAt(all, q),
  conversation: (all, q) => conversationAt(all, q),
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
