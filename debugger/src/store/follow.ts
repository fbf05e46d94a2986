/** Answers that follow what is wanted: asked at most once a frame, at most one question under way, and only the
 * newest wish is worth asking again. What was shown stays until the next answer is there. */
import { computed, effect, signal, useSignal, type Signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { explain } from "./run";

export interface Followed<T> {
  value: Signal<T | null>;
  /** The wish that `value` answers. */
  key: Signal<string | null>;
  error: Signal<string | null>;
  busy: Signal<boolean>;
}

type Ask<T> = (signal: AbortSignal) => Promise<T>;

/** A wish: a key that tells it from others, and how to ask. Null: nothing is wanted. */
export type Wish<T> = { key: string; ask: Ask<T> } | null;

const KEPT = 64;

/** Questions under way, of all followers. */
const waiting = signal(0);
/** One of them takes long enough for a reader to notice. */
export const slow = signal(false);
const SLOW_MS = 350;

let noticed: ReturnType<typeof setTimeout> | undefined;
const asking = computed(() => waiting.value > 0);
effect(() => {
  clearTimeout(noticed);
  if (asking.value) noticed = setTimeout(() => (slow.value = true), SLOW_MS);
  else slow.value = false;
});

export class Follower<T> implements Followed<T> {
  readonly value = signal<T | null>(null);
  readonly key = signal<string | null>(null);
  readonly error = signal<string | null>(null);
  readonly busy = signal(false);
  private wanted: Wish<T> = null;
  private frame = 0;
  private abort: AbortController | null = null;
  private readonly kept = new Map<string, T>();

  private began = -Infinity;
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** `pause`: milliseconds between two questions at least, for what nobody reads while it changes. */
  constructor(
    private readonly keep = false,
    private readonly pause = 0,
  ) {}

  want(wish: Wish<T>): void {
    this.wanted = wish;
    if (wish && this.keep) {
      const known = this.kept.get(wish.key);
      if (known !== undefined) return this.show(wish.key, known);
    }
    if (this.frame || this.abort || this.timer !== undefined) return;
    const early = this.began + this.pause - performance.now();
    if (early <= 0) this.frame = requestAnimationFrame(() => void this.run());
    else
      this.timer = setTimeout(() => {
        this.timer = undefined;
        void this.run();
      }, early);
  }

  stop(): void {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.timer);
    this.timer = undefined;
    this.frame = 0;
    this.wanted = null;
    this.abort?.abort();
    this.abort = null;
  }

  private async run(): Promise<void> {
    this.frame = 0;
    const wish = this.wanted;
    if (!wish || wish.key === this.key.peek()) return;
    this.abort = new AbortController();
    this.began = performance.now();
    this.busy.value = true;
    waiting.value += 1;
    try {
      const answer = await wish.ask(this.abort.signal);
      if (this.keep) this.remember(wish.key, answer);
      this.show(wish.key, answer);
    } catch (error) {
      if ((error as Error).name === "AbortError") return;
      this.error.value = explain(error);
      this.key.value = wish.key;
    } finally {
      this.abort = null;
      this.busy.value = false;
      waiting.value -= 1;
    }
    const next: Wish<T> = this.wanted;
    if (next && next.key !== wish.key) this.want(next);
  }

  private show(key: string, answer: T): void {
    this.error.value = null;
    this.value.value = answer;
    this.key.value = key;
  }

  private remember(key: string, answer: T): void {
    this.kept.set(key, answer);
    if (this.kept.size > KEPT) this.kept.delete(this.kept.keys().next().value as string);
  }
}

/** In a component: follows the wish that `wish` makes of the signals it reads, and of `deps`. */
export function useFollow<T>(wish: () => Wish<T>, deps: readonly unknown[] = [], keep = false): Followed<T> {
  const follower = useMemo(() => new Follower<T>(keep), []);
  useEffect(() => effect(() => follower.want(wish())), deps);
  useEffect(() => () => follower.stop(), []);
  return follower;
}

/** Milliseconds after which what was not the last word is asked for again. */
const BETTER = 700;

/** As `useFollow`, for answers that become better while the log is read: asked again until they are whole. */
export function useGrowing<T extends { progress?: number }>(wish: () => Wish<T>, deps: readonly unknown[] = [], keep = false): Followed<T> {
  const again = useSignal(0);
  const followed = useFollow<T>(
    () => {
      const one = wish();
      return one && again.value ? { ...one, key: `${one.key} again ${again.value}` } : one;
    },
    deps,
    keep,
  );
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = effect(() => {
      clearTimeout(timer);
      if ((followed.value.value?.progress ?? 1) < 1) timer = setTimeout(() => (again.value += 1), BETTER);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, []);
  return followed;
}
