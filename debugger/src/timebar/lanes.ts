/** Where the lanes stand, and in which row of its lane each step: steps that overlap stand under each other. */
import type { Lane, Span, Timeline } from "../api/shapes";
import { endOf } from "./scale";

export const STRIP = 22;
export const [LOWEST, HIGHEST] = [104, 236];
export const ROW = 14;
const SMALLEST = 28;
/** Of one lane; of many, so many that as many lanes as can be are in sight together. */
const [MOST_ROWS, FEWEST_ROWS] = [8, 3];

export interface LaneBox {
  lane: Lane;
  top: number;
  height: number;
  placed: { span: Span; row: number }[];
}

/** `room`: pixels that the bar has for them before one has to scroll. */
export function boxes(line: Timeline, room: number): LaneBox[] {
  const all = line.lanes.map((lane) => packed(lane.spans ?? [], line));
  const tall = (rows: number, most: number): number => Math.max(SMALLEST, Math.min(rows, most) * ROW + 10);
  let most = MOST_ROWS;
  while (most > FEWEST_ROWS && all.reduce((sum, [, rows]) => sum + tall(rows, most), 0) > room) most -= 1;
  let top = 0;
  return line.lanes.map((lane, n) => {
    const [placed, rows] = all[n] as (typeof all)[number];
    const height = tall(rows, most);
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
