/** Where the reader is: the fragment of the address says all of it, so that every moment has a link. */
import { computed, signal } from "@preact/signals";

export const PANELS = ["conversation", "state", "flow", "cost", "search", "compare", "fork", "runs"] as const;
export type Panel = (typeof PANELS)[number];

/** As its tab says it. */
export const PANEL_NAMES: Record<Panel, string> = {
  conversation: "Conversation",
  state: "State",
  flow: "Flow",
  cost: "Cost & time",
  search: "Search",
  compare: "Compare",
  fork: "What if",
  runs: "Runs",
};

/** What the panels themselves keep in the address: `leaf`, `call`, `with`, `against`, `q`, `right`, `tab`, ... */
export type Words = Record<string, string>;

export interface Route {
  run: string | null;
  seq: number | null;
  panel: Panel;
  words: Words;
}

const read = (hash: string): Route => {
  const words = Object.fromEntries(new URLSearchParams(hash.slice(1)));
  const { run, seq, panel, ...rest } = words;
  const number = Number(seq);
  return {
    run: run ?? null,
    seq: seq !== undefined && Number.isInteger(number) ? number : null,
    panel: PANELS.includes(panel as Panel) ? (panel as Panel) : panel === "whatif" ? "fork" : "conversation",
    words: rest,
  };
};

const start = read(location.hash);

export const runKey = signal<string | null>(start.run);
/** The chosen event. Everything shown is as of this seq. */
export const seq = signal<number>(start.seq ?? 0);
export const panel = signal<Panel>(start.panel);
export const words = signal<Words>(start.words);
/** The address named a seq, or has done since: then it stands, else the newest event is shown. */
export let seqGiven = start.seq !== null;
/** The address named a panel, or somebody has chosen one since: then it stands, whatever the run is best looked at by. */
export let panelGiven = new URLSearchParams(location.hash.slice(1)).has("panel");

export const word = (name: string): string | null => words.value[name] ?? null;

export const setWords = (changes: Record<string, string | null>): void => {
  const next: Words = { ...words.value };
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") delete next[name];
    else next[name] = value;
  }
  words.value = next;
};

const fragment = computed(() => {
  const all = new URLSearchParams();
  if (runKey.value) all.set("run", runKey.value);
  if (seq.value) all.set("seq", String(seq.value));
  all.set("panel", panel.value);
  for (const [name, value] of Object.entries(words.value)) all.set(name, value);
  return `#${all.toString()}`;
});

export const link = (): string => location.href.split("#")[0] + fragment.peek();

/** Milliseconds after which the address follows: when the reader rests, and while he does not, now and then. */
const [RESTS, AT_MOST] = [150, 1000];

/** The address follows what is shown, and `arrive` is told where it has gone by itself: Back, or a link that was followed in
 * this tab. Not at once, for each writing of it costs milliseconds of a frame, and browsers refuse many of them. */
export function keepAddress(arrive: (there: Route) => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let wrote = performance.now();
  const write = () => {
    timer = undefined;
    wrote = performance.now();
    if (location.hash !== fragment.peek()) history.replaceState(null, "", fragment.peek());
  };
  const stop = fragment.subscribe(() => {
    if (timer === undefined) wrote = performance.now();
    clearTimeout(timer);
    timer = setTimeout(write, Math.max(0, Math.min(RESTS, wrote + AT_MOST - performance.now())));
  });
  const back = (event: HashChangeEvent) => {
    arrive(read(new URL(event.newURL).hash)); // the address itself may have been written since
  };
  window.addEventListener("hashchange", back);
  return () => {
    stop();
    clearTimeout(timer);
    window.removeEventListener("hashchange", back);
  };
}

/** Shows a moment of the run that is open. */
export function goThere(there: Route): void {
  if (there.seq !== null) seq.value = there.seq;
  seqGiven ||= there.seq !== null;
  panel.value = there.panel;
  panelGiven = true;
  words.value = there.words;
}

/** A panel is a place one can come back from. */
export function openPanel(name: Panel, changes: Record<string, string | null> = {}): void {
  if (panel.peek() !== name) history.pushState(null, "", fragment.peek());
  panel.value = name;
  panelGiven = true;
  if (Object.keys(changes).length) setWords(changes);
}
