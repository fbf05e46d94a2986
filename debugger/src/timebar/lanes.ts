/** Where the lanes stand, and in which row of its lane each step: steps that overlap stand under each other. */
import type { Lane, Span, Timeline } from "../api/shapes";
import { endOf } from "./scale";

export const ROW = 14;
const SMALLEST = 28;
const MOST_ROWS = 8;

export interface LaneBox {
  lane: Lane;
  top: number;
  height: number;
  placed: { span: Span; row: number }[];
}

export function boxes(line: Timeline): LaneBox[] {
  let top = 0;
  return line.lanes.map((lane) => {
    const [placed, rows] = packed(lane.spans ?? [], line);
    const height = Math.max(SMALLEST, Math.min(rows, MOST_ROWS) * ROW + 10);
    const box = { lane, top, height, placed };
    top += height;
    return box;
  });
}

export const heightOf = (all: LaneBox[]): number => {
  const last = all[all.length - 1];
  return last ? last.top + last.height : 0;
};

function packed(spans: Span[], line: Timeline): [LaneBox["placed"], number] {
  const byTime = line.by === "time";
  const start = (span: Span): number => (byTime ? span.start_ms : span.seq);
  const end = (span: Span): number => (byTime ? endOf(span, Infinity) : (span.end_seq ?? line.to));
  const ends: number[] = [];
  const rows = new Map<number, number>();
  const placed = [...spans]
    .sort((a, b) => start(a) - start(b) || a.depth - b.depth || a.seq - b.seq)
    .map((span) => {
      let row = span.parent !== null ? (rows.get(span.parent) ?? -1) + 1 : 0;
      while ((ends[row] ?? -Infinity) > start(span)) row += 1;
      ends[row] = end(span);
      rows.set(span.seq, row);
      return { span, row };
    });
  return [placed, ends.length];
}
