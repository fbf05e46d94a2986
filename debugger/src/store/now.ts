/** What is true at the chosen seq, for every panel: the state and the event. */
import { computed, effect, signal } from "@preact/signals";
import { api } from "../api/client";
import type { EventAnswer, StateAnswer } from "../api/shapes";
import { Follower, slow } from "./follow";
import { isEmpty, run } from "./run";
import { seq } from "./route";

/** Twenty states a second are more than anybody reads; the frames between are the time bar's alone. */
export const state = new Follower<StateAnswer>(true, 50);
export const event = new Follower<EventAnswer>(true, 100);

/** The agent whose event is chosen. */
export const acting = computed(() => event.value.value?.event.agent ?? null);

/** The class of what is of another event than the chosen one, when its answer lets a reader wait. */
export const late = (shown: number): string => (slow.value && shown !== seq.value ? "late" : "");

/** Milliseconds after which a state that was not the last word is asked for again. */
const PAUSE = 500;
const again = signal(0);

export function followSeq(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stops = [
    effect(follow),
    effect(() => {
      clearTimeout(timer);
      if ((state.value.value?.progress ?? 1) < 1) timer = setTimeout(() => (again.value += 1), PAUSE);
    }),
    () => clearTimeout(timer),
  ];
  return () => stops.forEach((stop) => stop());
}

function follow(): void {
  const [about, at] = [run.value, seq.value];
  if (!about || isEmpty.value || at < 1) return;
  const { key, progress } = about;
  const read = progress < 1 ? progress : `whole ${again.value}`;
  state.want({ key: `${key}@${at}@${read}`, ask: (stop) => api.state(key, at, stop) });
  event.want({ key: `${key}@${at}`, ask: (stop) => api.event(key, at, stop) });
}
