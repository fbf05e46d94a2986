/** Change an event and see what follows, without running anything; or run the program again from here. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { api, type Edit } from "../api/client";
import { written } from "../api/exact";
import type { WhatIf } from "../api/shapes";
import { event } from "../store/now";
import { explain, run } from "../store/run";
import { confidence, count, plural } from "../ui/format";
import { Code } from "../ui/Code";
import { RunFork } from "./RunFork";
import { Changes } from "./State";
import { Waiting } from "../ui/Waiting";
import "./fork.css";

export function Fork() {
  const answer = event.value.value;
  const about = run.value;
  if (!about || !answer) return <div class="empty">Choose an event to change</div>;
  return (
    <div class="panel scroll" tabIndex={0} role="region" aria-label="What if">
      <Editor key={`${about.key} ${answer.row.seq}`} at={answer.row.seq} data={answer.event.data} cut={answer.truncated} />
    </div>
  );
}

function Editor({ at, data, cut }: { at: number; data: Record<string, unknown>; cut: boolean }) {
  const start = written(data, 2);
  const text = useSignal(start);
  const sets = useSignal("");
  const found = useSignal<WhatIf | null>(null);
  const problem = useSignal<string | null>(null);
  const asked = useRef(0);
  const about = run.value;
  const changed = text.value !== start || sets.value.trim() !== "";

  useEffect(() => {
    if (!about || !changed) {
      found.value = null;
      problem.value = null;
      return;
    }
    const timer = setTimeout(() => void ask(), 180);
    return () => clearTimeout(timer);
  }, [text.value, sets.value]);

  const ask = async () => {
    if (!about) return;
    const edit = wish(about.key, at, text.value, start, sets.value);
    if (typeof edit === "string") {
      problem.value = edit;
      return;
    }
    const number = ++asked.current;
    try {
      const answer = await api.whatIf(edit);
      if (number !== asked.current) return; // an older question was answered last
      found.value = answer;
      problem.value = null;
    } catch (error) {
      if (number !== asked.current) return;
      problem.value = explain(error);
    }
  };

  return (
    <>
      <section class="section">
        <h2>What if event {at} had been otherwise?</h2>
        <p class="dim">Everything derived is worked out again at once. Nothing runs, nothing is written.</p>
        <div class="whatif">
          <div>
            <label class="heading" for="event-data">
              Data of event {at}
            </label>
            <textarea
              id="event-data"
              class="input"
              rows={Math.min(22, Math.max(6, start.split("\n").length + 1))}
              spellcheck={false}
              disabled={cut}
              aria-invalid={problem.value !== null}
              value={text.value}
              onInput={(event) => (text.value = event.currentTarget.value)}
            />
            <label class="heading" for="event-sets">
              Or edits, one on a line
            </label>
            <textarea
              id="event-sets"
              class="input"
              rows={2}
              spellcheck={false}
              placeholder="data.confidence=0.3"
              value={sets.value}
              onInput={(event) => (sets.value = event.currentTarget.value)}
            />
            <div class="row">
              <button type="button" class="button ghost" disabled={!changed} onClick={() => ((text.value = start), (sets.value = ""))}>
                Put back
              </button>
            </div>
          </div>
          <div aria-live="polite">
            <h3 class="heading">What follows</h3>
            {problem.value ? <p class="notice error">{problem.value}</p> : null}
            {!changed ? <p class="dim">Change the event to see what would have been different.</p> : null}
            {found.value && changed ? <Consequences found={found.value} /> : changed && !problem.value ? <Waiting /> : null}
          </div>
        </div>
      </section>
      <RunFork at={at} sets={sets.value} data={text.value !== start ? text.value : null} />
    </>
  );
}

/** The question for the server, or what is wrong with what was typed. */
function wish(key: string, at: number, text: string, start: string, sets: string): Edit | string {
  const edits = sets.split("\n").map((one) => one.trim()).filter(Boolean);
  if (text === start) return { run: key, at, set: edits };
  try {
    const data: unknown = JSON.parse(text);
    if (typeof data !== "object" || data === null || Array.isArray(data)) return "An event's data is an object: { ... }";
    return { run: key, at, set: edits, data: text };
  } catch (error) {
    return `This is no JSON yet: ${(error as Error).message}`;
  }
}

function Consequences({ found }: { found: WhatIf }) {
  return (
    <>
      <p class="soft">
        {found.total === 0 ? "Nothing that is derived would be different: what a model or a program would have made of it only a fork tells, below." : `${plural(found.total, "difference")} in the state at the end, of ${count(found.events)} events.`}
      </p>
      {found.confidence.length ? (
        <table class="table">
          <thead>
            <tr>
              <th>fact</th>
              <th class="r">was</th>
              <th class="r">would be</th>
              <th>from</th>
              <th>gate</th>
            </tr>
          </thead>
          <tbody>
            {found.confidence.slice(0, 20).map((one, n) => (
              <tr key={n}>
                <td class="mono">{one.fact}</td>
                <td class="r">{confidence(one.before)}</td>
                <td class="r">{confidence(one.after)}</td>
                <td class="num dim">
                  #{one.first}–{one.last}
                </td>
                <td>{one.gates.filter(Boolean).join(" → ")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ) : null}
      {found.notes.map((text) => (
        <p key={text} class="dim">
          {text}
        </p>
      ))}
      <Changes changes={found.changes.slice(0, 60)} />
      <Code text={found.command} language="bash" label="The same on the command line" />
    </>
  );
}

