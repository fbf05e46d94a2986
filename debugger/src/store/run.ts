/** The opened run: what is known of it, and how far it has got. */
import { batch, computed, effect, signal } from "@preact/signals";
import { api, ApiError } from "../api/client";
import type { RunInfo, Session } from "../api/shapes";
import { goThere, openPanel, panel, panelGiven, runKey, seq, seqGiven, setWords, type Route } from "./route";

export const session = signal<Session | null>(null);
export const run = signal<RunInfo | null>(null);
export const problem = signal<string | null>(null);
/** The reader stays at the newest event of a run that goes on. */
export const followLive = signal(false);
/** Above this a reader looks for a place first; the conversation comes later. */
const LONG = 100_000;

/** Milliseconds between two looks at a log that is being read. */
const READING = 400;

/** Grows when what was answered before may be out of date: the log has grown. */
export const grown = signal(0);

export const firstSeq = computed(() => run.value?.first_seq ?? 1);
export const lastSeq = computed(() => run.value?.last_seq ?? 0);
export const isEmpty = computed(() => run.value !== null && run.value.events === 0);

export const clamp = (value: number): number => Math.max(firstSeq.peek(), Math.min(lastSeq.peek(), Math.round(value)));

/** Goes to an event; whoever chooses one no longer follows the newest. */
export function goTo(target: number): void {
  followLive.value = false;
  seq.value = clamp(target);
}

let sessionOpened: () => void;
/** Resolves when what the address names is open, or cannot be. */
export const opened = new Promise<void>((done) => (sessionOpened = done));

/** What the address says that is of one run: another one has no such message, call or event. */
const OF_A_RUN = { leaf: null, before: null, call: null, with: null, against: null, root: null, left: null };

/** How often a run was asked for: the newest wish is the one that counts, whichever answer comes first. */
let asked = 0;

export async function openSession(): Promise<void> {
  const wanted = runKey.peek();
  const mine = ++asked;
  try {
    const named = wanted ? ask(wanted) : null; // at once, with the session
    const about = await api.session();
    if (mine === asked && !named && isList(about) && !panelGiven) openPanel("runs");
    session.value = about;
    if (mine !== asked || (!named && isList(about))) return;
    const first = await (named ?? ask(null));
    if (mine !== asked) return;
    if (first instanceof Error) {
      problem.value = explain(first);
      return;
    }
    take(first, seqGiven);
    if (!panelGiven && (first.events > LONG || !first.types.message)) openPanel("state");
  } catch (error) {
    problem.value = explain(error);
  } finally {
    sessionOpened();
  }
}

const ask = (key: string | null): Promise<RunInfo | Error> => api.run(key).catch((error: unknown) => error as Error);

/** The server was started for a folder: it shows its runs, and opens none before somebody wants one. */
const isList = (about: Session): boolean => about.run === null && about.folder !== null;

/** Whoever turns from the list to another panel, and has chosen no run, sees the newest. */
export function followWish(): () => void {
  return effect(() => {
    const about = session.value;
    if (!about || !isList(about) || runKey.value || run.value) return;
    if (panel.value === "runs") problem.value = null;
    else if (!problem.peek()) void openRun(null);
  });
}

export async function openRun(key: string | null, at: number | null = null, kept: Record<string, string> = {}): Promise<void> {
  const mine = ++asked;
  try {
    const next = await api.run(key);
    if (mine !== asked) return;
    batch(() => {
      if (next.key !== run.peek()?.key) setWords({ ...OF_A_RUN, ...kept });
      else setWords(kept);
      if (at !== null) seq.value = at;
      take(next, at !== null);
    });
    if (panel.peek() === "runs") openPanel("conversation");
  } catch (error) {
    if (mine === asked) problem.value = explain(error);
  }
}

/** Shows what the address names, when it changes by itself: of another run nothing is shown before that run is there. */
export async function arrive(there: Route): Promise<void> {
  const mine = there.run ? ++asked : asked;
  if (!there.run || there.run === run.peek()?.key) {
    problem.value = null;
    return batch(() => {
      goThere(there);
      if (run.peek()) seq.value = clamp(seq.peek());
    });
  }
  try {
    const next = await api.run(there.run);
    if (mine !== asked) return;
    batch(() => {
      goThere(there);
      take(next, there.seq !== null);
    });
  } catch (error) {
    if (mine !== asked) return;
    batch(() => {
      goThere(there);
      runKey.value = there.run;
      run.value = null;
      problem.value = explain(error);
    });
  }
}

function take(next: RunInfo, keepSeq: boolean): void {
  runKey.value = next.key;
  problem.value = null;
  run.value = next;
  followLive.value = next.live && !keepSeq;
  seq.value = keepSeq ? clamp(seq.peek()) : next.live ? next.last_seq : next.end_seq;
  if (next.progress < 1) setTimeout(() => void refreshRun(), READING);
}

/** Asks again how far the run has got. */
export async function refreshRun(): Promise<void> {
  const key = runKey.peek();
  if (!key) return;
  try {
    const next = await api.run(key);
    if (runKey.peek() !== key) return;
    run.value = next;
    grown.value += 1;
    if (followLive.peek()) seq.value = next.last_seq;
    if (next.progress < 1) setTimeout(() => void refreshRun(), READING);
  } catch (error) {
    problem.value = explain(error);
  }
}

export function explain(error: unknown): string {
  if (error instanceof ApiError && error.status === 401)
    return "This page has no key to the server. Open the link that lctl debug printed.";
  return error instanceof Error ? error.message : String(error);
}
