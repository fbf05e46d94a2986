/** A run that goes on: the server says how far it has got, the page asks for what it shows. */
import { effect, signal } from "@preact/signals";
import type { LiveBatch } from "../api/shapes";
import { isStatic } from "../api/static";
import { say } from "./notices";
import { followLive, grown, refreshRun, run } from "./run";
import { seq } from "./route";

/** Events per second, lately; 0 when nothing is followed. */
export const rate = signal(0);

export function followRun(): () => void {
  let source: EventSource | null = null;
  let of: string | null = null;
  const close = () => {
    source?.close();
    source = null;
    of = null;
    rate.value = 0;
  };
  const stop = effect(() => {
    const about = run.value;
    const key = about?.live && !isStatic() ? about.key : null;
    if (key === of) return;
    close();
    if (!key || !about) return;
    of = key;
    source = open(key, about.last_seq, close);
  });
  return () => {
    stop();
    close();
  };
}

function open(key: string, after: number, close: () => void): EventSource {
  const source = new EventSource(`/api/live?${new URLSearchParams({ run: key, after: String(after) }).toString()}`);
  let last = performance.now();
  source.addEventListener("batch", (message) => {
    const batch = JSON.parse((message as MessageEvent<string>).data) as LiveBatch;
    const now = performance.now();
    rate.value = (batch.events * 1000) / Math.max(50, now - last);
    last = now;
    grow(batch);
  });
  source.addEventListener("note", (message) => {
    const { what, text } = JSON.parse((message as MessageEvent<string>).data) as { what: string; text: string };
    say(text);
    if (what === "reopened") return;
    close();
    void refreshRun();
  });
  return source;
}

function grow(batch: LiveBatch): void {
  const about = run.peek();
  if (!about) return;
  run.value = {
    ...about,
    last_seq: Math.max(about.last_seq, batch.to),
    events: batch.events_total,
    duration_ms: batch.ms ?? about.duration_ms,
  };
  grown.value += 1;
  if (followLive.peek()) seq.value = batch.to;
}
