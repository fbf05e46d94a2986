/** What was true at the chosen event: facts and how sure, agents, open steps, totals, and what this event changed. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { api } from "../api/client";
import type { Change, StateAnswer } from "../api/shapes";
import { useFollow } from "../store/follow";
import { late, state } from "../store/now";
import { seq, setWords, word } from "../store/route";
import { clamp, firstSeq, goTo, lastSeq, run } from "../store/run";
import { cost, count, duration, line, short, told, used } from "../ui/format";
import { Unhurried } from "../ui/Unhurried";
import { Waiting } from "../ui/Waiting";
import { Facts } from "./Facts";
import "./state.css";

export function State() {
  const now = state.value.value;
  if (state.error.value) return <p class="notice error inset">{state.error.value}</p>;
  if (!now) return <Waiting />;
  return (
    <div class={`panel scroll ${late(now.seq)}`} tabIndex={0} role="region" aria-label="State">
      {now.since !== null && now.since !== undefined ? (
        <p class="notice inset" role="status">
          <i class="pulse" /> The log is still being read: facts, steps, tokens and agents are of events {count(now.since)} to {count(now.seq)} only.
        </p>
      ) : null}
      {early(now) ? (
        <p class="notice inset" role="status">
          <i class="pulse" /> The log is still being read: this is the state at event {count(now.seq)}.
        </p>
      ) : null}
      <Figures now={now} />
      <Changed now={now} />
      <Against />
      <Unhurried now={now} pause={150} part={Facts} />
      <Unhurried now={now} part={Below} />
    </div>
  );
}

function Below({ now }: { now: StateAnswer }) {
  return (
    <>
      <OpenSteps now={now} />
      <Uses now={now} />
      <Diagnostics now={now} />
    </>
  );
}

function Figures({ now }: { now: StateAnswer }) {
  const { totals } = now;
  const again = run.value?.kind === "fork" || run.value?.kind === "rerun" ? "with the tape's" : undefined;
  const { input, output } = totals.tokens;
  const silent = totals.llm_calls > 0 && input + output === 0; // what was used is not said, which is not 0
  const tokens: [string, string] = silent ? ["–", "not recorded"] : [short(input + output), `${short(input)} → ${short(output)}`];
  const figures: [string, string, string?][] = [
    ["events", count(totals.events)],
    ["model calls", count(totals.llm_calls)],
    ["tool calls", count(totals.tool_calls)],
    ["tokens", ...tokens],
    ["cost", cost(totals.cost), again],
    ["errors", count(totals.errors)],
    ["time", duration(totals.duration_ms)],
  ];
  return (
    <div class="section">
      <dl class="figures">
        {figures.map(([name, value, more]) => (
          <div
            key={name}
            class={name === "errors" && totals.errors ? "bad" : ""}
            title={name === "errors" ? "Events of type error. Failures count failed tool calls and steps, too" : undefined}
          >
            <dt>{name}</dt>
            <dd>
              {value}
              <small>{more}</small>
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

/** The log has not been read as far as the chosen event. */
const early = (now: StateAnswer): boolean => now.progress < 1 && now.since == null && now.seq < seq.value;

function Changed({ now }: { now: StateAnswer }) {
  const { changes } = now;
  const none = now.progress < 1 ? "Not known yet: the log is still being read." : "Nothing but the count of events.";
  return (
    <section class="section" aria-label="Changed here">
      <h2>Changed by this event</h2>
      {changes.length ? <Changes changes={changes.slice(0, 40)} /> : <p class="dim">{none}</p>}
    </section>
  );
}

export function Changes({ changes }: { changes: Change[] }) {
  return (
    <table class="table changes">
      <tbody>
        {changes.map((one, n) => (
          <tr key={n}>
            <td class="dim">{one.section}</td>
            <td class="mono">
              {one.name}
              {one.field && one.field !== one.name ? <span class="dim">{one.name ? `.${one.field}` : one.field}</span> : null}
            </td>
            <td class="mono">
              {one.before !== null && one.before !== undefined ? <del>{shown(one.before)}</del> : null}{" "}
              {one.after !== null && one.after !== undefined ? <ins>{shown(one.after)}</ins> : one.before != null ? <span class="dim">gone</span> : null}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const shown = (value: unknown): string =>
  typeof value === "number" ? (Number.isInteger(value) ? count(value) : String(+value.toFixed(4))) : line(value, 200);

/** The state here against the state at another event. */
function Against() {
  const other = Number(word("against") ?? 0);
  const draft = useSignal(String(other || ""));
  const diff = useFollow(
    () => {
      const [about, at] = [run.value, seq.value];
      if (!about || !other) return null;
      return { key: `${about.key} ${other} ${at}`, ask: (signal) => api.stateDiff(about.key, Math.min(other, at), Math.max(other, at), signal) };
    },
    [other],
    true,
  );
  const answer = other ? diff.value.value : null;
  return (
    <section class="section" aria-label="Difference with another event">
      <h2>Against another event</h2>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          const wanted = Number(draft.value);
          setWords({ against: draft.value === "" || !Number.isFinite(wanted) ? null : String(clamp(wanted)) });
        }}
      >
        <input
          class="input num"
          inputMode="numeric"
          size={8}
          aria-label="Seq to compare with"
          placeholder={`${firstSeq.value}–${lastSeq.value}`}
          value={draft.value}
          onInput={(event) => (draft.value = event.currentTarget.value)}
        />
        <button class="button" type="submit">
          Compare
        </button>
        <button class="button ghost" type="button" onClick={() => ((draft.value = String(seq.value)), setWords({ against: String(seq.value) }))}>
          Mark this event
        </button>
        {other ? (
          <>
            <button class="button ghost" type="button" onClick={() => goTo(other)}>
              Go to #{other}
            </button>
            <button class="button ghost" type="button" onClick={() => ((draft.value = ""), setWords({ against: null }))}>
              Close
            </button>
          </>
        ) : null}
      </form>
      {answer ? (
        <div class="against">
          <p class="dim num">
            From #{answer.from} to #{answer.to}: {count(answer.total)} {answer.total === 1 ? "difference" : "differences"}
            {answer.cut ? `, the first ${count(answer.changes.length)} here` : ""}
          </p>
          <Changes changes={answer.changes.slice(0, 200)} />
        </div>
      ) : null}
    </section>
  );
}

function OpenSteps({ now }: { now: StateAnswer }) {
  if (!now.open_step_count && !now.streams.length) return null;
  return (
    <section class="section below" aria-label="Open steps">
      <h2>
        Open steps <span class="num">{count(now.open_step_count)}</span>
      </h2>
      <ul class="items flat">
        {now.open_steps.map((step) => (
          <li key={step.seq}>
            <button type="button" class="item inline" onClick={() => goTo(step.seq)}>
              <span class={`glyph ${step.kind === "llm" ? "k-model" : "k-step"}`} style={{ marginLeft: `${Math.min(8, step.depth) * 12}px` }} />
              <b>{step.agent}</b>
              <span class="soft ellipsis">{step.intent || step.name}</span>
              <span class="grow" />
              <span class="num dim">
                #{step.seq} · since {duration((now.ms ?? 0) - step.start_ms)}
              </span>
            </button>
          </li>
        ))}
        {now.streams.map((stream) => (
          <li key={stream.seq} class="item inline">
            <span class="glyph k-model" /> <b>{stream.agent}</b>
            <span class="soft">streams: {count(stream.chunks)} parts so far</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Uses({ now }: { now: StateAnswer }) {
  if (!now.agents.length && !now.models.length && !now.tools.length) return null;
  const left = [now.agents, now.models, now.tools].reduce((sum, uses) => sum + Math.max(0, uses.length - MOST), 0);
  return (
    <section class="section below" aria-label="Agents, models and tools">
      <h2>Agents, models, tools</h2>
      <table class="table">
        <thead>
          <tr>
            <th>name</th>
            <th class="r">calls</th>
            <th class="r">errors</th>
            <th class="r">tokens in</th>
            <th class="r">out</th>
            <th class="r">time</th>
          </tr>
        </thead>
        <tbody>
          {some(now.agents).map((one) => (
            <Use key={`a ${one.name}`} glyph="k-step" of={one}>
              <span>{one.name || "no agent"}</span>
              {one.running ? <i class="pulse" title="has open steps" /> : null}
            </Use>
          ))}
          {some(now.models).map((one) => (
            <Use key={`m ${one.name}`} glyph="k-model" of={one}>
              <span class="mono">{one.name}</span>
            </Use>
          ))}
          {some(now.tools).map((one) => (
            <Use key={`t ${one.name}`} glyph="k-tool" of={one}>
              <span class="mono">{one.name}</span>
            </Use>
          ))}
        </tbody>
      </table>
      {left ? <p class="dim">{count(left)} more, less busy: a search for agent: or tool: finds what they did.</p> : null}
    </section>
  );
}

/** So many of each kind: those that were busiest, and what this event changed. */
const MOST = 100;

function some<T extends Used>(uses: T[]): T[] {
  if (uses.length <= MOST) return uses;
  const busy = new Set([...uses].sort((a, b) => Number(b.changed) - Number(a.changed) || b.errors - a.errors || b.wall_ms - a.wall_ms).slice(0, MOST));
  return uses.filter((one) => busy.has(one));
}

interface Used {
  name: string;
  calls: number;
  errors: number;
  tokens?: { input: number; output: number };
  wall_ms: number;
  changed: boolean;
}

/** A row of what was used. Tools have no tokens, and not every call tells how many it used. */
function Use({ glyph, of: one, children }: { glyph: string; of: Used; children: ComponentChildren }) {
  const tokens = (n: number | null) => <td class={n === null ? "r dim" : "r"}>{told(n)}</td>;
  return (
    <tr class={one.changed ? "changed" : ""}>
      <td class="name" title={one.name}>
        <span class="row">
          <span class={`glyph ${glyph}`} />
          {children}
        </span>
      </td>
      <td class="r">{count(one.calls)}</td>
      <td class={`r ${one.errors ? "bad" : "dim"}`}>{count(one.errors)}</td>
      {tokens(used(one.tokens?.input, one.tokens))}
      {tokens(used(one.tokens?.output, one.tokens))}
      <td class="r">{duration(one.wall_ms)}</td>
    </tr>
  );
}

function Diagnostics({ now }: { now: StateAnswer }) {
  if (!now.diagnostic_count) return null;
  return (
    <section class="section below" aria-label="What the log got wrong">
      <h2>
        What the log got wrong <span class="num">{count(now.diagnostic_count)}</span>
      </h2>
      <ul>
        {now.diagnostics.slice(0, 50).map((one, n) => (
          <li key={n} class="row">
            <button type="button" class="link num" onClick={() => goTo(one.seq)}>
              #{one.seq}
            </button>
            <span class="tag warn">{one.code}</span>
            <span class="soft">{one.text}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
