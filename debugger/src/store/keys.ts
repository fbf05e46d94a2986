/** The keyboard: one table, which the help shows. */
import { api } from "../api/client";
import { copyText } from "../ui/Copy";
import { signal } from "@preact/signals";
import { beside } from "./aside";
import { say } from "./notices";
import { changeSpeed, stopPlay, togglePlay } from "./play";
import { axis, inspectorOpen, listOpen, switchTheme } from "./prefs";
import { link, openPanel, PANEL_NAMES, PANELS, runKey, seq, type Panel } from "./route";
import { explain, firstSeq, followLive, goTo, lastSeq, opened, run } from "./run";
import { fit, panBy, zoomBy } from "../timebar/window";

export const helpOpen = signal(false);
export const goOpen = signal(false);
/** Grows when the search box is asked for. */
export const searchAsked = signal(0);

interface Key {
  keys: string[];
  text: string;
  group: "Move" | "Play" | "Time bar" | "Page";
  run: (event: KeyboardEvent) => void;
}

/** Goes to the next (or previous) event of a kind; `around`: from the last one to the first. Whoever holds a key down asks once at a time. */
let looking = false;
export async function jump(what: string, back: boolean, around = false): Promise<void> {
  const key = runKey.peek();
  if (!key || looking) return;
  looking = true;
  try {
    const from = async (start: number) => (await api.neighbour(key, start, what, back)).seq;
    const found = (await from(seq.peek())) ?? (around ? await from(back ? lastSeq.peek() + 1 : firstSeq.peek() - 1) : null);
    if (found !== null) goTo(found);
    else say(`no ${back ? "earlier" : "later"} ${NAMES[what] ?? what}`);
  } catch (error) {
    say(explain(error), "error");
  } finally {
    looking = false;
  }
}

const NAMES: Record<string, string> = { error: "failure", llm: "model call", tool: "tool call" };

/** To the next event that the list shows. */
export const move = (by: 1 | -1): void => {
  stopPlay();
  const about = run.peek();
  if (about && about.events === about.last_seq - about.first_seq + 1) goTo(beside(seq.peek(), by) ?? seq.peek() + by);
  else void jump("event", by < 0);
};

export const KEYS: Key[] = [
  { keys: ["ArrowLeft"], text: "previous event", group: "Move", run: () => move(-1) },
  { keys: ["ArrowRight"], text: "next event", group: "Move", run: () => move(1) },
  { keys: ["Shift+ArrowLeft"], text: "previous step", group: "Move", run: () => void jump("step", true) },
  { keys: ["Shift+ArrowRight"], text: "next step", group: "Move", run: () => void jump("step", false) },
  { keys: ["["], text: "previous failure", group: "Move", run: () => void jump("error", true) },
  { keys: ["]"], text: "next failure", group: "Move", run: () => void jump("error", false) },
  { keys: ["{"], text: "previous model call", group: "Move", run: () => void jump("llm", true) },
  { keys: ["}"], text: "next model call", group: "Move", run: () => void jump("llm", false) },
  { keys: ["("], text: "previous checkpoint", group: "Move", run: () => void jump("checkpoint", true) },
  { keys: [")"], text: "next checkpoint", group: "Move", run: () => void jump("checkpoint", false) },
  { keys: ["Home"], text: "first event", group: "Move", run: () => goTo(firstSeq.peek()) },
  { keys: ["End"], text: "last event", group: "Move", run: () => goTo(lastSeq.peek()) },
  { keys: ["g"], text: "go to an event", group: "Move", run: () => (goOpen.value = true) },
  { keys: [" "], text: "play or pause", group: "Play", run: () => togglePlay() },
  { keys: [","], text: "slower", group: "Play", run: () => changeSpeed(-1) },
  { keys: ["."], text: "faster", group: "Play", run: () => changeSpeed(1) },
  {
    keys: ["l"],
    text: "stay at the newest event of a live run",
    group: "Play",
    run: () => {
      followLive.value = true;
      seq.value = lastSeq.peek();
    },
  },
  { keys: ["+", "="], text: "zoom in", group: "Time bar", run: () => zoomBy(0.5) },
  { keys: ["-"], text: "zoom out", group: "Time bar", run: () => zoomBy(2) },
  { keys: ["0"], text: "whole run", group: "Time bar", run: () => fit() },
  { keys: ["a"], text: "pan left", group: "Time bar", run: () => panBy(-0.25) },
  { keys: ["d"], text: "pan right", group: "Time bar", run: () => panBy(0.25) },
  {
    keys: ["t"],
    text: "by time or by event",
    group: "Time bar",
    run: () => (axis.value = axis.peek() === "time" ? "seq" : "time"),
  },
  {
    keys: ["/"],
    text: "search",
    group: "Page",
    run: () => {
      openPanel("search");
      searchAsked.value += 1;
    },
  },
  ...PANELS.map(
    (name: Panel, n): Key => ({ keys: [String(n + 1)], text: `${PANEL_NAMES[name]} panel`, group: "Page", run: () => openPanel(name) }),
  ),
  { keys: ["e"], text: "list of events", group: "Page", run: () => (listOpen.value = !listOpen.peek()) },
  { keys: ["i"], text: "inspector", group: "Page", run: () => (inspectorOpen.value = !inspectorOpen.peek()) },
  { keys: ["m"], text: "dark or light", group: "Page", run: () => switchTheme() },
  {
    keys: ["y"],
    text: "copy the link to this moment",
    group: "Page",
    run: () => void copyText(link()).then((done) => done && say("Link copied")),
  },
  { keys: ["?"], text: "this help", group: "Page", run: () => (helpOpen.value = !helpOpen.peek()) },
];

const TABLE = new Map(KEYS.flatMap((key) => key.keys.map((name) => [name, key] as const)));

/** Where keys are for writing, or for the control that has the focus. */
function isTaken(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement | null;
  if (!target) return false;
  if (target.closest("input, textarea, select, dialog[open], [contenteditable]")) return true;
  if ((event.key === " " || event.key === "Enter") && target.closest("button, a, summary, [role=tab], [role=option]")) return true;
  return event.key.startsWith("Arrow") && target.closest("[role=tablist], [role=separator], [data-arrows]") !== null;
}

export function listenToKeys(): () => void {
  const press = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTaken(event)) return;
    const name = event.shiftKey && event.key.startsWith("Arrow") ? `Shift+${event.key}` : event.key;
    const key = TABLE.get(name);
    if (!key) return;
    event.preventDefault();
    if (key.group === "Page" || run.peek()) key.run(event);
    else void opened.then(() => run.peek() && key.run(event)); // there is nothing to move in yet
  };
  window.addEventListener("keydown", press);
  return () => window.removeEventListener("keydown", press);
}
