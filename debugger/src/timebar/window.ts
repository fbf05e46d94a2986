/** Which part of the run the time bar shows. */
import { computed, effect, signal } from "@preact/signals";
import { api } from "../api/client";
import type { Timeline } from "../api/shapes";
import { Follower } from "../store/follow";
import { axis, timebarHeight } from "../store/prefs";
import { runKey, seq } from "../store/route";
import { firstSeq, grown, isEmpty, lastSeq, run } from "../store/run";
import { boxes, HIGHEST, STRIP } from "./lanes";
import { RULER } from "./paint";
import { Scale } from "./scale";

/** Null: the whole run, also while it grows. */
export const chosen = signal<{ from: number; to: number } | null>(null);
/** Pixels of the lanes, set by the bar when it is laid out. */
export const pixels = signal(0);
/** Matches of the search, per slice of the whole run. */
export const hits = signal<number[]>([]);

export const shown = computed(() => chosen.value ?? { from: firstSeq.value, to: lastSeq.value });

export const window_ = new Follower<Timeline>();
export const whole = new Follower<Timeline>();
export const scale = computed(() => (window_.value.value ? new Scale(window_.value.value) : null));
export const lanes = computed(() => {
  const line = window_.value.value;
  return line ? boxes(line, (timebarHeight.value || HIGHEST) - STRIP - RULER - 1) : [];
});
export const wholeScale = computed(() => (whole.value.value ? new Scale(whole.value.value) : null));

const SMALLEST = 8;

export const by = computed(() => ((run.value?.duration_ms ?? 0) > 0 ? axis.value : "seq"));

/** What of the reading of a log a time bar is drawn from: once it has been counted, only the end is news. */
const drawn = (bar: Follower<Timeline>, progress: number): number | string =>
  progress === 1 ? 1 : (bar.value.peek()?.progress ?? 0) === 1 ? "counted" : progress;

export function followWindow(): () => void {
  const stops = [
    effect(() => {
      const about = run.value;
      if (!about || isEmpty.value || pixels.value < 1) return;
      const { from, to } = shown.value;
      const [width, axisNow] = [Math.min(1200, pixels.value), by.value];
      const key = `${about.key} ${from} ${to} ${width} ${axisNow} ${drawn(window_, about.progress)}`;
      window_.want({ key, ask: (signal) => api.timeline(about.key, from, to, width, axisNow, signal) });
    }),
    effect(() => {
      const about = run.value;
      if (!about || isEmpty.value || grown.value < 0) return;
      const key = `${about.key} ${about.last_seq} ${drawn(whole, about.progress)} ${by.value}`;
      const [from, to, axisNow] = [about.first_seq, about.last_seq, by.value];
      whole.want({ key, ask: (signal) => api.timeline(about.key, from, to, 400, axisNow, signal) });
    }),
    effect(() => {
      if (runKey.value !== null) chosen.value = null;
    }),
    effect(() => reveal(seq.value)),
  ];
  return () => stops.forEach((stop) => stop());
}

export function show(from: number, to: number): void {
  const [first, last] = [firstSeq.peek(), lastSeq.peek()];
  let size = Math.round(to - from) + 1;
  size = Math.max(Math.min(SMALLEST, last - first + 1), size);
  if (size >= last - first + 1) {
    chosen.value = null;
    return;
  }
  const start = Math.max(first, Math.min(last - size + 1, Math.round(from)));
  chosen.value = { from: start, to: start + size - 1 };
}

export const fit = (): void => void (chosen.value = null);

/** Zooms about a place of the bar (default: the chosen seq, else the middle). In time, edges are moments. */
export function zoomBy(factor: number, place?: number): void {
  const now = scale.peek();
  if (!now) return;
  const own = now.ofSeq(seq.peek());
  const at = place ?? (own >= 0 && own <= 1 ? own : 0.5);
  const [left, right] = [at - at * factor, at + (1 - at) * factor];
  if (factor > 1) return widen(now, left, right);
  const [from, to] = [now.seqAt(left), now.seqAt(right)];
  const { from: oldFrom, to: oldTo } = shown.peek();
  if (from === oldFrom && to === oldTo && oldTo - oldFrom > SMALLEST) return narrow(oldFrom, oldTo, now.seqAt(at));
  show(from, to);
}

/** By time a stretch that holds one burst does not get shorter by seq: take fewer events of it. */
function narrow(from: number, to: number, about: number): void {
  const size = Math.max(SMALLEST, Math.floor((to - from + 1) / 2));
  show(about - size / 2, about + size / 2);
}

function widen(now: Scale, left: number, right: number): void {
  const all = wholeScale.peek();
  if (!now.byTime || !all) {
    const size = now.line.to - now.line.from + 1;
    return show(now.line.from + left * size, now.line.from + right * size);
  }
  const [from, to] = [all.seqAt(all.ofMs(now.msAt(left))), all.seqAt(all.ofMs(now.msAt(right)))];
  show(Math.min(from, now.line.from - 1), Math.max(to, now.line.to + 1));
}

/** Moves the window by a part of itself. */
export function panBy(part: number): void {
  const { from, to } = shown.peek();
  const by = Math.max(1, Math.round(Math.abs(part) * (to - from + 1))) * Math.sign(part);
  panTo(from + by);
}

export function panTo(from: number): void {
  const now = shown.peek();
  const size = now.to - now.from;
  const start = Math.max(firstSeq.peek(), Math.min(lastSeq.peek() - size, Math.round(from)));
  if (chosen.peek()) show(start, start + size);
}

/** The chosen event is always in the window: it moves when the event would leave it. */
function reveal(at: number): void {
  const now = chosen.peek();
  if (!now || (at >= now.from && at <= now.to)) return;
  const size = now.to - now.from + 1;
  const outside = at < now.from ? at - size * 0.2 : at - size * 0.8;
  show(outside, outside + size - 1);
}
