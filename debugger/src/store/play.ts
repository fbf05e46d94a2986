/** Playing a run: at the speed it was recorded, or a multiple. Long waits are shortened, for nothing happens in them. */
import { signal } from "@preact/signals";
import { api } from "../api/client";
import { followLive, goTo, lastSeq, run } from "./run";
import { seq } from "./route";

export const SPEEDS = [0.25, 0.5, 1, 2, 5, 10, 50, 200] as const;

export const playing = signal(false);
export const speed = signal<number>(1);

/** A wait longer than this takes this long. */
const LONGEST_WAIT_MS = 1200;

interface Ticks {
  from: number;
  ms: number[];
}

class Player {
  private ticks: Ticks = { from: 1, ms: [] };
  private asking = false;
  private frame = 0;
  private last = 0;
  /** Milliseconds that have passed since the shown event, as the recording counts them. */
  private passed = 0;

  start(): void {
    if (seq.peek() >= lastSeq.peek()) goTo(run.peek()?.first_seq ?? 1);
    followLive.value = false;
    playing.value = true;
    this.ticks = { from: 1, ms: [] };
    this.passed = 0;
    this.last = performance.now();
    this.frame = requestAnimationFrame(this.turn);
  }

  stop(): void {
    playing.value = false;
    cancelAnimationFrame(this.frame);
  }

  private readonly turn = (now: number): void => {
    if (!playing.peek()) return;
    this.passed += Math.min(100, now - this.last) * speed.peek();
    this.last = now;
    let at = seq.peek();
    for (;;) {
      const wait = this.wait(at);
      if (wait === null || wait > this.passed) break;
      this.passed -= wait;
      at += 1;
    }
    if (at !== seq.peek()) seq.value = Math.min(at, lastSeq.peek());
    if (at >= lastSeq.peek()) return this.stop();
    this.frame = requestAnimationFrame(this.turn);
  };

  /** Milliseconds from this event to the next, or null while they are not known. */
  private wait(at: number): number | null {
    const { from, ms } = this.ticks;
    const [here, next] = [ms[at - from], ms[at - from + 1]];
    if (here !== undefined && next !== undefined)
      return Math.max(0, Math.min(next - here, LONGEST_WAIT_MS * Math.max(1, speed.peek())));
    if (at < lastSeq.peek() && !this.asking) void this.ask(at);
    return null;
  }

  private async ask(from: number): Promise<void> {
    const key = run.peek()?.key;
    if (!key) return;
    this.asking = true;
    try {
      const answer = await api.ticks(key, from);
      this.ticks = { from: answer.from, ms: answer.ms };
      if (answer.ms.length < 2) this.stop();
    } catch {
      this.stop();
    } finally {
      this.asking = false;
    }
  }
}

const player = new Player();

export const togglePlay = (): void => (playing.peek() ? player.stop() : player.start());
export const stopPlay = (): void => player.stop();

export function changeSpeed(direction: 1 | -1): void {
  const at = SPEEDS.indexOf(speed.peek() as (typeof SPEEDS)[number]);
  speed.value = SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, at + direction))] ?? 1;
}
