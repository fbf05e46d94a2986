/** The facts at the chosen event, those that changed last first; more of them when asked. */
import { useSignal } from "@preact/signals";
import { api } from "../api/client";
import type { Fact, StateAnswer } from "../api/shapes";
import { goTo, run, session } from "../store/run";
import { confidence, count } from "../ui/format";
import { LongText } from "../ui/LongText";
import { Spark } from "./Confidence";

/** More than these nobody scrolls through: search finds the others. */
const MOST_FACTS = 1000;

export function Facts({ now }: { now: StateAnswer }) {
  const more = useSignal<{ at: number; facts: Fact[]; next: number | null } | null>(null);
  const failure = useSignal<{ at: number; said: string } | null>(null);
  const loaded = more.value?.at === now.seq ? more.value : null;
  const facts = loaded ? [...now.facts, ...loaded.facts] : now.facts;
  const left = now.fact_count - facts.length;
  const failed = failure.value?.at === now.seq ? failure.value.said : null;
  const load = async () => {
    const key = run.value?.key;
    if (!key) return;
    failure.value = null;
    let some: Fact[];
    try {
      some = (await api.facts(key, now.seq, facts.length)).facts;
    } catch (error) {
      failure.value = { at: now.seq, said: (error as Error).message };
      return;
    }
    const known = new Set(facts.map((one) => one.id));
    const fresh = some.filter((one) => !known.has(one.id));
    more.value = { at: now.seq, facts: [...(loaded?.facts ?? []), ...fresh], next: fresh.length ? facts.length + fresh.length : null };
  };
  return (
    <section class="section" aria-label="Facts">
      <h2>
        Facts <span class="num">{count(now.fact_count)}</span>
      </h2>
      {facts.length === 0 ? <p class="dim">None at this event.</p> : null}
      <ul class="fact-list">
        {facts.map((fact, n) => (
          <FactView key={n} fact={fact} at={now.seq} />
        ))}
      </ul>
      {failed ? (
        <p class="notice error" role="alert">
          {failed}
        </p>
      ) : null}
      {left > 0 && facts.length < MOST_FACTS && loaded?.next !== null && now.since == null && !session.value?.static ? (
        <button type="button" class="button" onClick={() => void load()}>
          {failed ? "Try again: " : ""}
          {count(left)} more
        </button>
      ) : null}
      {left > 0 && (facts.length >= MOST_FACTS || loaded?.next === null) ? (
        <p class="dim">The {count(facts.length)} that changed last, of {count(now.fact_count)}. Search fact:ID, or SQL, finds every other.</p>
      ) : null}
    </section>
  );
}

const GATES: Record<string, string> = { proceed: "good", verify: "warn", block: "error", stop: "error" };

/** By place and not by id: while one scrubs nearly all are others, and elements are dearer to make than to change. */
function FactView({ fact, at: now }: { fact: Fact; at: number }) {
  return (
    <li class={`fact ${fact.changed ? "changed" : ""}`}>
      <div class="fact-sure">
        <b class="num">{confidence(fact.confidence)}</b>
        <span class="bar k-fact" aria-hidden="true">
          <i style={{ width: `${Math.max(0, Math.min(1, fact.confidence ?? 0)) * 100}%` }} />
        </span>
      </div>
      <div class="grow">
        <p class="row">
          <b class="mono">{fact.id}</b>
          {fact.changed ? <span class="tag accent">changed here</span> : null}
          {fact.gate ? <span class={`tag ${GATES[fact.gate] ?? ""}`}>{fact.gate}</span> : null}
          <span class="dim ellipsis">
            {fact.agent}
            {fact.source && fact.source !== fact.agent ? ` · ${fact.source}` : ""}
          </span>
        </p>
        <p class="plain">
          <LongText text={fact.text} />
        </p>
        <p class="row dim num history">
          {fact.history.slice(-8).map(([at, value, reason], n) => (
            <button key={n} type="button" class="link" title={reason ?? ""} onClick={() => goTo(at)}>
              #{at} {confidence(value)}
            </button>
          ))}
        </p>
      </div>
      <Spark history={fact.history} upTo={now} />
    </li>
  );
}
