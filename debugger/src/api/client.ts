/** Questions to the server, or to the data in an exported page. */
import { answer as exactly } from "./exact";
import * as places from "./places";
import type * as S from "./shapes";
import { staticAnswer, isStatic } from "./static";

export class ApiError extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly code: string,
    readonly position: number | null = null,
  ) {
    super(message);
  }
}

type Value = string | number | boolean | string[] | null | undefined;
type Query = Record<string, Value>;

export function address(path: string, query: Query = {}): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined || value === "") continue;
    for (const one of Array.isArray(value) ? value : [value]) words.append(name, String(one));
  }
  const text = words.toString();
  return text ? `${path}?${text}` : path;
}

/** `exact`: places of values of events, which are to be shown as they are. */
async function get<T>(path: string, query: Query = {}, signal?: AbortSignal, exact: readonly string[] = []): Promise<T> {
  if (isStatic()) return (await staticAnswer(path, query)) as T;
  const answer = await ask(address(path, query), signal ? { signal } : {});
  return exact.length ? exactly<T>(await answer.text(), exact) : ((await answer.json()) as T);
}

async function post<T>(path: string, body: string): Promise<T> {
  return (await (await send(path, body)).json()) as T;
}

const send = (path: string, body: string, signal?: AbortSignal): Promise<Response> =>
  ask(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body,
    ...(signal ? { signal } : {}),
  });

/** The data stands in the question letter for letter: what nobody changed is what the log has. */
function edited({ data, ...rest }: Edit): string {
  const body = JSON.stringify(rest);
  return data == null ? body : `${body.slice(0, -1)},"data":${data}}`;
}

async function ask(url: string, options: RequestInit): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetch(url, options);
  } catch (error) {
    if ((error as Error).name === "AbortError") throw error;
    throw new ApiError("lctl debug no longer answers: was it stopped?", 0, "gone");
  }
  if (answer.ok) return answer;
  let problem: { code?: string; message?: string; position?: number } = {};
  try {
    problem = ((await answer.json()) as { error: typeof problem }).error;
  } catch {
    // not one of ours: the status says enough
  }
  throw new ApiError(
    problem.message ?? `the server answered ${answer.status}`,
    answer.status,
    problem.code ?? "",
    problem.position ?? null,
  );
}

export interface Edit {
  run: string;
  at: number;
  set?: string[];
  /** JSON text of an object. */
  data?: string | null;
  drop?: number[];
  to_seq?: number | null;
}

export const api = {
  session: () => get<S.Session>("/api/session"),
  runs: (q: { q?: string; status?: string; sort?: string; offset?: number; limit?: number }, signal?: AbortSignal) =>
    get<S.Runs>("/api/runs", q, signal),
  sparks: (keys: string[], bins = 24) => get<{ sparks: Record<string, number[]> }>("/api/runs/spark", { keys, bins }),
  lineage: () => get<{ runs: S.RunRow[] }>("/api/lineage"),
  run: (run: string | null) => get<S.RunInfo>("/api/run", { run }),
  timeline: (run: string, from: number, to: number, width: number, by: string, signal?: AbortSignal) =>
    get<S.Timeline>("/api/timeline", { run, from, to, width, by }, signal),
  neighbour: (run: string, seq: number, what: string, back: boolean) =>
    get<{ seq: number | null }>("/api/neighbour", { run, seq, what, back }),
  ticks: (run: string, from: number, limit = 5000) =>
    get<{ from: number; ms: number[]; next: number | null }>("/api/ticks", { run, from, limit }),
  events: (run: string, from: number, limit: number, q = "", signal?: AbortSignal) =>
    get<{ rows: S.Row[]; next: number | null; total: number | null }>("/api/events", { run, from, limit, q }, signal),
  aside: (run: string, signal?: AbortSignal) => get<S.Aside>("/api/aside", { run }, signal),
  event: (run: string, seq: number, signal?: AbortSignal) => get<S.EventAnswer>(`/api/event/${seq}`, { run }, signal, places.EVENT),
  raw: (run: string, seq: number) => address(`/api/raw/${seq}`, { run }),
  state: (run: string, at: number, signal?: AbortSignal) => get<S.StateAnswer>("/api/state", { run, at }, signal),
  facts: (run: string, at: number, offset: number, q = "") =>
    get<{ total: number; next: number | null; facts: S.Fact[] }>("/api/facts", { run, at, offset, q, limit: 200 }),
  stateDiff: (run: string, at: number, to: number, signal?: AbortSignal) =>
    get<S.StateDiff>("/api/state/diff", { run, at, to }, signal),
  trend: (run: string, what: string, ids: string[] = [], points = 400) =>
    get<S.Trend>("/api/trend", { run, what, ids, points }),
  flow: (run: string, at: number, signal?: AbortSignal) => get<S.Flow>("/api/flow", { run, at }, signal),
  steps: (run: string, q: { at?: number; from?: number; to?: number; root?: number | null; limit?: number }, signal?: AbortSignal) =>
    get<S.Steps>("/api/steps", { run, ...q }, signal),
  conversations: (run: string, at: number, signal?: AbortSignal) =>
    get<S.Conversations>("/api/conversations", { run, at, limit: 200, early: true }, signal),
  conversation: (
    run: string,
    q: { at: number; leaf?: string | null; before?: string | null; limit?: number },
    signal?: AbortSignal,
  ) => get<S.Conversation>("/api/conversation", { run, early: true, ...q }, signal, places.CONVERSATION),
  calls: (run: string, at: number | null, offset = 0, limit = 200, signal?: AbortSignal) =>
    get<S.Calls>("/api/calls", { run, at, offset, limit }, signal),
  call: (run: string, step: number, signal?: AbortSignal) => get<S.CallAnswer>(`/api/call/${step}`, { run }, signal, places.CALL),
  callDiff: (run: string, left: number, right: number, signal?: AbortSignal) =>
    get<S.CallDiff>("/api/calls/diff", { run, left, right }, signal, places.CALL_DIFF),
  costs: (run: string, at: number, signal?: AbortSignal) => get<S.Costs>("/api/costs", { run, at }, signal),
  search: (run: string, q: string, after: number, limit: number, width: number, signal?: AbortSignal) =>
    get<S.Search>("/api/search", { run, q, after, limit, width }, signal),
  sql: (run: string, sql: string, at: number | null, signal?: AbortSignal) => get<S.Table>("/api/sql", { run, sql, at }, signal, places.SQL),
  searchHelp: (run: string) => get<S.SearchHelp>("/api/search/help", { run }),
  compare: (left: string, right: string, offset = 0, limit = 200, signal?: AbortSignal) =>
    get<S.Compare>("/api/compare", { left, right, offset, limit }, signal, places.COMPARE),
  compareRows: (left: string, right: string, offset: number, limit = 200, signal?: AbortSignal) =>
    get<S.CompareRows>("/api/compare/rows", { left, right, offset, limit }, signal),
  whatIf: (edit: Edit) => post<S.WhatIf>("/api/whatif", edited(edit)),
  prepareFork: (edit: Edit & { tools?: string | null; all_live?: boolean; policy?: string[] }) =>
    post<S.ForkPlan>("/api/fork/prepare", edited(edit)),
  stopFork: (job: string) => post<{ stopped: boolean }>("/api/fork/stop", JSON.stringify({ job })),
  runFork: (confirm: string, signal: AbortSignal) => send("/api/fork/run", JSON.stringify({ confirm }), signal),
};
