/** Time bar and search of an exported page, from its rows. */
import type { Aside, Lane, Row, RunInfo, Search, Span, Timeline } from "./shapes";

type Query = Record<string, unknown>;

const FAILING = new Set(["error", "tool_call", "step_end"]);

const number = (value: unknown, otherwise: number): number => (typeof value === "number" ? value : otherwise);

const known = new WeakMap<Row[], Set<number>>();

/** What the ruler marks, as the server does: each failure once. An exchange that failed is tried again, or its
 * step tells; and a step that failed for something that failed in it tells it again. */
export function failures(rows: Row[]): Set<number> {
  let found = known.get(rows);
  if (!found) known.set(rows, (found = toldOnce(rows)));
  return found;
}

function toldOnce(rows: Row[]): Set<number> {
  const around = new Map(rows.filter((row) => row.type === "step_start").map((row) => [row.seq, row.step]));
  const explained = new Set<number>();
  const found = new Set<number>();
  for (const row of rows) {
    if (!row.error || !FAILING.has(row.type)) continue;
    if (row.type !== "step_end" || row.step === null || !explained.has(row.step)) found.add(row.seq);
    for (let step = row.step; step !== null && !explained.has(step); step = around.get(step) ?? null) explained.add(step);
  }
  return found;
}

export function timeline(rows: Row[], spans: Span[], run: RunInfo, q: Query): Timeline {
  const from = Math.max(run.first_seq, number(q.from, run.first_seq));
  const to = Math.min(run.last_seq, number(q.to, run.last_seq));
  const inside = rows.filter((row) => row.seq >= from && row.seq <= to);
  const by = q.by === "seq" ? "seq" : "time";
  const bins = Math.max(1, Math.min(number(q.width, 1200), by === "seq" ? to - from + 1 : 1200));
  const [edges, ms] = by === "seq" ? bySeq(inside, from, to, bins) : byTime(inside, from, to, bins);
  const lanes = new Map<string, Lane>();
  const failed = failures(rows);
  let bin = 0;
  for (const row of inside) {
    while (bin < bins - 1 && (edges[bin + 1] ?? 0) <= row.seq) bin += 1;
    let lane = lanes.get(row.agent);
    if (!lane) {
      lane = { agent: row.agent, total: 0, counts: Array(bins).fill(0), errors: Array(bins).fill(0), spans: [] };
      lanes.set(row.agent, lane);
    }
    lane.total += 1;
    lane.counts[bin] = (lane.counts[bin] ?? 0) + 1;
    if (failed.has(row.seq)) lane.errors[bin] = (lane.errors[bin] ?? 0) + 1;
  }
  for (const span of spans)
    if (span.seq <= to && (span.end_seq ?? to) >= from) lanes.get(span.agent)?.spans?.push(span);
  const seqs = (test: (row: Row) => boolean): number[] => inside.filter(test).map((row) => row.seq).slice(0, 2000);
  return {
    from,
    to,
    by,
    edges,
    ms,
    progress: 1,
    lanes: [...lanes.values()].slice(0, 100),
    errors: seqs((row) => failed.has(row.seq)),
    checkpoints: seqs((row) => row.type === "checkpoint"),
    handoffs: seqs((row) => row.type === "handoff"),
    cut: {},
  };
}

function bySeq(rows: Row[], from: number, to: number, bins: number): [number[], number[]] {
  const edges = Array.from({ length: bins + 1 }, (_, n) => from + Math.floor(((to - from + 1) * n) / bins));
  let at = 0;
  let last = rows[0]?.ms ?? 0;
  const ms = edges.map((edge) => {
    while (at < rows.length && (rows[at]?.seq ?? 0) <= edge) last = rows[at++]?.ms ?? last;
    return last;
  });
  return [edges, ms];
}

function byTime(rows: Row[], from: number, to: number, bins: number): [number[], number[]] {
  const first = rows[0]?.ms ?? 0;
  const last = Math.max(first + 0.001, rows[rows.length - 1]?.ms ?? first);
  const ms = Array.from({ length: bins + 1 }, (_, n) => first + ((last - first) * n) / bins);
  const edges: number[] = [from];
  let at = 0;
  for (let bin = 1; bin < bins; bin++) {
    while (at < rows.length && (rows[at]?.ms ?? 0) < (ms[bin] ?? 0)) at += 1;
    edges.push(rows[at]?.seq ?? to + 1);
  }
  edges.push(to + 1);
  return [edges, ms];
}

/** Words that a row's text holds, and `field:value` on its keys. */
export function searchRows(rows: Row[], run: RunInfo, q: string, width: number): Search {
  const tests = q
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => test(word));
  const found = rows.filter((row) => tests.every((fits) => fits(row)));
  const bins = Array<number>(Math.max(1, width)).fill(0);
  const span = Math.max(1, run.last_seq - run.first_seq + 1);
  for (const row of found) {
    const bin = Math.min(bins.length - 1, Math.floor(((row.seq - run.first_seq) * bins.length) / span));
    bins[bin] = (bins[bin] ?? 0) + 1;
  }
  return { rows: found.slice(0, 2000), next: null, matches: found.length, scanned: run.last_seq, progress: 1, bins };
}

function test(word: string): (row: Row) => boolean {
  const [field = "", value] = word.split(":", 2);
  if (value === undefined) return (row) => row.summary.toLowerCase().includes(word);
  if (field === "error") return (row) => row.error;
  const key = (field === "tool" || field === "model" ? "name" : field) as keyof Row;
  const wanted = value.replaceAll("*", "");
  return (row) => String(row[key] ?? "").toLowerCase().includes(wanted);
}

const ASIDE = new Set(["ambient", "output", "blob"]);
/** What the program was asked or told is part of what it did. */
const ASKED = new Set(["cell", "gone", "keys", "prompt", "request", "signal", "stdin", "websocket"]);
/** A request for a file of a page, which its browser makes: nobody has asked anything. */
const FILE = /GET [^?]*\.(?:css|js|mjs|map|woff2?|ttf|otf|eot|png|jpe?g|gif|svg|ico|webp|avif|wasm|webmanifest)(?:\?|$)/;
const isAsked = ({ kind, summary }: Row): boolean => ASKED.has(kind ?? "") && !(kind === "request" && FILE.test(summary));

/** Events that only a rerun needs, in stretches. */
export function aside(rows: Row[]): Aside {
  const stretches: [number, number][] = [];
  let [events, inside] = [0, false];
  for (const row of rows) {
    const { seq } = row;
    const here = ASIDE.has(row.type) && !isAsked(row);
    const last = stretches[stretches.length - 1];
    if (here && inside && last) last[1] = seq;
    else if (here) stretches.push([seq, seq]);
    if (here) events += 1;
    inside = here;
  }
  return { stretches, events, upto: rows[rows.length - 1]?.seq ?? 0, progress: 1 };
}
