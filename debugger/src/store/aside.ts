/** Events that only a rerun needs (what the program read of clock and random, what it printed) stand aside in the list
 * of events until they are asked for; the chosen event is always there. */
import { computed, effect } from "@preact/signals";
import { api } from "../api/client";
import type { Aside } from "../api/shapes";
import { Follower } from "./follow";
import { asideShown } from "./prefs";
import { firstSeq, grown, isEmpty, lastSeq, run } from "./run";

/** Milliseconds between two looks at a run that goes on. */
const PAUSE = 700;
const LONG = 100_000;
const follower = new Follower<Aside>(false, PAUSE);

export function followAside(): () => void {
  return effect(() => {
    const about = run.value;
    if (!about || isEmpty.value) return follower.want(null);
    const { key, last_seq, progress } = about;
    if (progress < 1 && about.events > LONG) return; // once it has been read, and not a little more of it each time
    follower.want({ key: `${key}@${last_seq}@${progress}@${progress < 1 ? grown.value : ""}`, ask: (stop) => api.aside(key, stop) });
  });
}

const known = computed((): Aside | null => {
  const answer = follower.value.value;
  return answer && run.value && follower.key.value?.startsWith(`${run.value.key}@`) ? answer : null;
});

/** How many stand aside, whether they are shown or not. */
export const asideCount = computed((): number => known.value?.events ?? 0);

/** A list with events left out: where each stretch begins, where it ends, and how many were left out before it. */
interface Gaps {
  from: number[];
  to: number[];
  before: number[];
  total: number;
}

const NONE: Gaps = { from: [], to: [], before: [], total: 0 };

const gaps = computed((): Gaps => {
  const answer = known.value;
  if (!answer || asideShown.value) return NONE;
  const made: Gaps = { from: [], to: [], before: [], total: 0 };
  for (const [from, to] of answer.stretches) {
    made.from.push(from);
    made.to.push(to);
    made.before.push(made.total);
    made.total += to - from + 1;
  }
  return made;
});

/** How many of these ascending numbers are at most `value`. */
function upTo(numbers: number[], value: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] as number) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The stretch that a seq is in, or -1. */
function stretchOf(seq: number, { from, to }: Gaps): number {
  const n = upTo(from, seq) - 1;
  return n >= 0 && seq <= (to[n] as number) ? n : -1;
}

/** How many places of the list are before a seq. */
function place(seq: number, all: Gaps): number {
  const n = upTo(all.from, seq) - 1;
  const left = n < 0 ? 0 : (all.before[n] as number) + Math.min(seq - (all.from[n] as number), (all.to[n] as number) - (all.from[n] as number) + 1);
  return seq - firstSeq.value - left;
}

/** The seq at a place among those that are not left out. */
function at(index: number, all: Gaps): number {
  let [low, high] = [0, all.from.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((all.from[middle] as number) - firstSeq.value - (all.before[middle] as number) <= index) low = middle + 1;
    else high = middle;
  }
  const left = low === 0 ? 0 : (all.before[low - 1] as number) + (all.to[low - 1] as number) - (all.from[low - 1] as number) + 1;
  return firstSeq.value + index + left;
}

export interface Listed {
  rows: number;
  /** Place of the chosen event, which is in the list whatever it is. */
  chosen: number;
  /** How many events it lacks. */
  left: number;
  seqAt: (index: number) => number;
}

/** The list of events, as it is with this event chosen. */
export function listed(chosen: number): Listed {
  const all = gaps.value;
  const here = place(chosen, all);
  const extra = stretchOf(chosen, all) >= 0;
  return {
    rows: lastSeq.value - firstSeq.value + 1 - all.total + (extra ? 1 : 0),
    chosen: here,
    left: all.total - (extra ? 1 : 0),
    seqAt: (index) => (!extra || index < here ? at(index, all) : index === here ? chosen : at(index - 1, all)),
  };
}

/** The event before or after one that the list shows, where some are left out; else null. */
export function beside(seq: number, by: 1 | -1): number | null {
  const all = gaps.peek();
  if (!all.total) return null;
  const n = stretchOf(seq + by, all);
  const found = n < 0 ? seq + by : by > 0 ? (all.to[n] as number) + 1 : (all.from[n] as number) - 1;
  return found < firstSeq.peek() || found > lastSeq.peek() ? seq : found;
}
