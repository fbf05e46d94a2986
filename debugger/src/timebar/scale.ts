/** Where a seq stands on the time bar, and which seq stands at a place. Places are from 0 to 1. */
import type { Span, Timeline } from "../api/shapes";

/** When a step ended; one that is open still is as long as what is known of the run. */
export const endOf = (span: Span, known: number): number => span.end_ms ?? (span.open ? Math.max(known, span.start_ms) : span.start_ms);

/** The last index whose value is at most `wanted`; 0 when none is. */
export function lastAtMost(values: number[], wanted: number): number {
  let low = 0;
  let high = values.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((values[middle] as number) <= wanted) low = middle;
    else high = middle - 1;
  }
  return low;
}

export class Scale {
  readonly bins: number;
  private readonly startMs: number;
  private readonly spanMs: number;

  constructor(readonly line: Timeline) {
    this.bins = Math.max(1, line.edges.length - 1);
    this.startMs = line.ms[0] ?? 0;
    this.spanMs = Math.max(1e-6, (line.ms[this.bins] ?? 0) - this.startMs);
  }

  /** The last moment of the window. */
  get endMs(): number {
    return this.line.ms[this.bins] ?? this.startMs;
  }

  get byTime(): boolean {
    return this.line.by === "time";
  }

  /** Of an event; outside 0..1 where the window does not hold it. */
  ofSeq(seq: number): number {
    const { from, to, edges } = this.line;
    if (seq < from) return -1;
    if (seq > to) return 2;
    if (!this.byTime) return (seq - from + 0.5) / Math.max(1, to - from + 1);
    const bin = Math.min(this.bins - 1, lastAtMost(edges, seq));
    const first = edges[bin] ?? from;
    const held = (edges[bin + 1] ?? to + 1) - first;
    return (bin + (held > 1 ? (seq - first + 0.5) / held : 0.5)) / this.bins;
  }

  /** Of a moment, in milliseconds of the run. */
  ofMs(ms: number): number {
    if (this.byTime) return (ms - this.startMs) / this.spanMs;
    const bin = lastAtMost(this.line.ms, ms);
    const [here, next] = [this.line.ms[bin] ?? 0, this.line.ms[bin + 1] ?? 0];
    const part = next > here ? Math.max(0, Math.min(1, (ms - here) / (next - here))) : 0;
    return (bin + part) / this.bins;
  }

  msAt(place: number): number {
    if (this.byTime) return this.startMs + place * this.spanMs;
    const at = Math.max(0, Math.min(this.bins, place * this.bins));
    const bin = Math.min(this.bins - 1, Math.floor(at));
    const [here, next] = [this.line.ms[bin] ?? 0, this.line.ms[bin + 1] ?? 0];
    return here + (next - here) * (at - bin);
  }

  /** The event at a place: by time the newest one that had happened by then. */
  seqAt(place: number): number {
    const { from, to, edges } = this.line;
    const inside = Math.max(0, Math.min(1, place));
    if (!this.byTime) return Math.max(from, Math.min(to, from + Math.floor(inside * (to - from + 1))));
    const bin = Math.min(this.bins - 1, Math.floor(inside * this.bins));
    const first = edges[bin] ?? from;
    const held = (edges[bin + 1] ?? to + 1) - first;
    const seq = held > 0 ? first + Math.floor((inside * this.bins - bin) * held) : first - 1;
    return Math.max(from, Math.min(to, seq));
  }
}

const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000];
/** From a minute on clocks do not count by tens. */
const ON_THE_CLOCK = [...[10, 20, 30].map((n) => n * SECOND), ...[1, 2, 5, 10, 20, 30].map((n) => n * MINUTE), ...[1, 2, 3, 6, 12].map((n) => n * HOUR), DAY, 2 * DAY, 7 * DAY];

const round = (raw: number): number => {
  const power = 10 ** Math.floor(Math.log10(raw));
  return ([1, 2, 5, 10].find((n) => n * power >= raw) ?? 10) * power;
};

/** Round steps for the marks of a ruler, so that about `wanted` of them fit; of time, those that clocks have. */
export function ticks(from: number, to: number, wanted: number, time: boolean): number[] {
  const span = to - from;
  if (!(span > 0) || wanted < 1) return [];
  const raw = span / wanted;
  const step = !time || raw <= 5 * SECOND ? round(raw) : (ON_THE_CLOCK.find((n) => n >= raw) ?? round(raw / DAY) * DAY);
  const found: number[] = [];
  for (let at = Math.ceil(from / step) * step; at <= to && found.length < 200; at += step) found.push(at);
  return found;
}
