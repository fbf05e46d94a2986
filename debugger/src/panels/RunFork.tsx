/** Run from here: the exact command; and where the server may run programs, its run, watched. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { api } from "../api/client";
import { sentEvents } from "../api/sse";
import type { ForkPlan } from "../api/shapes";
import { openPanel } from "../store/route";
import { explain, run, session } from "../store/run";
import { Code } from "../ui/Code";
import { line } from "../ui/format";

interface Props {
  at: number;
  sets: string;
  data: string | null;
}

export function RunFork({ at, sets, data }: Props) {
  const about = run.value;
  const draft = useSignal("");
  const plan = useSignal<ForkPlan | null>(null);
  const problem = useSignal<string | null>(null);
  const allLive = useSignal(false);
  const asked = useRef(0);
  const ask = async () => {
    if (!about) return;
    const number = ++asked.current;
    try {
      const all = [...sets.split("\n"), ...draft.value.split("\n")].map((one) => one.trim()).filter(Boolean);
      if (data !== null) JSON.parse(data); // what is no JSON yet is said, and not sent
      const answer = await api.prepareFork({ run: about.key, at, set: all, data, all_live: allLive.value });
      if (number !== asked.current) return; // an older question was answered last
      plan.value = answer;
      problem.value = null;
    } catch (error) {
      if (number !== asked.current) return;
      plan.value = null;
      problem.value = explain(error);
    }
  };
  useEffect(() => {
    const timer = setTimeout(() => void ask(), 250);
    return () => clearTimeout(timer);
  }, [at, sets, data, draft.value, allLive.value]);
  return (
    <section class="section" aria-label="Run from here">
      <h2>Run from here</h2>
      <p class="dim">The program runs again: up to event {at} from the tape, offline and free; live after it, with what you change.</p>
      <div class="row fork-edit">
        <textarea
          class="input grow mono"
          aria-label="What to change in the fork, one on a line"
          rows={2}
          placeholder={"model=gpt-4.1-mini\nprompt.system+=Be strict."}
          spellcheck={false}
          value={draft.value}
          onInput={(event) => (draft.value = event.currentTarget.value)}
        />
        <label class="row">
          <input type="checkbox" checked={allLive.value} onChange={(event) => (allLive.value = event.currentTarget.checked)} /> all calls live
        </label>
      </div>
      {problem.value ? <p class="notice error">{problem.value}</p> : null}
      {plan.value ? <Plan plan={plan.value} again={ask} /> : null}
    </section>
  );
}

function Plan({ plan, again }: { plan: ForkPlan; again: () => Promise<void> }) {
  return (
    <div class="plan">
      <Code text={plan.command} language="bash" label="The command of this fork" />
      {plan.possible ? null : <p class="notice warn">{plan.problem}</p>}
      {plan.notes.map((note, n) => (
        <p key={n} class="soft">
          {note}
        </p>
      ))}
      {plan.live_calls.length ? (
        <p class="soft">
          Live again: {once(plan.live_calls).slice(0, 8).join(", ")}
          {once(plan.live_calls).length > 8 ? " …" : ""}
        </p>
      ) : null}
      {plan.confirm ? (
        <Running plan={plan} confirm={plan.confirm} again={again} />
      ) : session.value?.allow_run ? null : (
        <p class="dim">
          Start the debugger with <code>--allow-run</code> and this page can run it.
        </p>
      )}
    </div>
  );
}

interface Ended {
  code: number;
  run: string | null;
  left: string | null;
  text: string;
}

function Running({ plan, confirm, again }: { plan: ForkPlan; confirm: string; again: () => Promise<void> }) {
  const sure = useSignal(false);
  const output = useSignal<string | null>(null);
  const ended = useSignal<Ended | null>(null);
  const job = useRef<string | null>(null);
  const stop = useRef<AbortController | null>(null);
  const start = async () => {
    sure.value = false;
    output.value = "";
    ended.value = null;
    stop.current = new AbortController();
    try {
      for await (const sent of sentEvents(await api.runFork(confirm, stop.current.signal))) {
        const data = sent.data as { job?: string; text?: string } & Ended;
        if (sent.event === "started") job.current = data.job ?? null;
        if (sent.event === "output") output.value = (output.value + (data.text ?? "")).slice(-60_000);
        if (sent.event === "ended") ended.value = data;
      }
    } catch (error) {
      output.value += `\n${explain(error)}`;
    } finally {
      job.current = null;
    }
    if (ended.value?.run && ended.value.code === 0) openPanel("compare", { left: ended.value.left, right: ended.value.run, diff: null });
    else await again();
  };
  const running = output.value !== null && ended.value === null;
  const log = useRef<HTMLPreElement>(null);
  useEffect(() => {
    if (log.current) log.current.scrollTop = log.current.scrollHeight; // the end is what is new
  }, [output.value]);
  useEffect(() => {
    log.current?.scrollIntoView({ block: "nearest" });
  }, [running, output.value === null]);
  return (
    <div class="running">
      <div class="row">
        {sure.value ? (
          <>
            <b>Run {line(plan.program?.join(" "), 60)} in {plan.cwd}?</b>
            <button type="button" class="button primary" onClick={() => void start()}>
              Yes, run it
            </button>
            <button type="button" class="button ghost" onClick={() => (sure.value = false)}>
              No
            </button>
          </>
        ) : (
          <button type="button" class="button primary" disabled={running} onClick={() => (sure.value = true)}>
            Run from here
          </button>
        )}
        {running ? (
          <button type="button" class="button" onClick={() => job.current && void api.stopFork(job.current)}>
            Stop
          </button>
        ) : null}
        {ended.value ? (
          <span class={ended.value.code === 0 ? "tag good" : "tag error"}>{ended.value.code === 0 ? "done" : `ended with ${ended.value.code}`}</span>
        ) : null}
        {ended.value?.run ? (
          <button type="button" class="button" onClick={() => openPanel("compare", { left: ended.value?.left ?? null, right: ended.value?.run ?? null, diff: null })}>
            Compare
          </button>
        ) : null}
      </div>
      {output.value !== null ? (
        <pre class="code terminal" role="log" aria-label="Output of the fork" ref={log}>
          {output.value || "…"}
        </pre>
      ) : null}
    </div>
  );
}

/** Calls, each once: one that was tried again is several exchanges. */
function once(calls: ForkPlan["live_calls"]): string[] {
  const attempts = new Map<number, number>();
  for (const { seq } of calls) attempts.set(seq, (attempts.get(seq) ?? 0) + 1);
  const named = new Map(calls.map(({ seq, name }) => [seq, name]));
  return [...named].map(([seq, name]) => {
    const tries = attempts.get(seq) ?? 1;
    return `${name} (#${seq}${tries > 1 ? `, ${tries} attempts` : ""})`;
  });
}
