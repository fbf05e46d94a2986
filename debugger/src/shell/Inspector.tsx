/** The chosen event: what it says, its bytes, its exchange, what it cost, and how to get at it elsewhere. */
import { useSignal } from "@preact/signals";
import { Fragment } from "preact";
import { api } from "../api/client";
import type { EventAnswer, Tokens } from "../api/shapes";
import { isStatic } from "../api/static";
import { event, late } from "../store/now";
import { openPanel, setWords, word } from "../store/route";
import { goTo, run } from "../store/run";
import { Code, laidOut } from "../ui/Code";
import { bytes, clock, cost, count, duration, offset } from "../ui/format";
import { Json } from "../ui/Json";
import { kindOf } from "../ui/kinds";
import { ExchangeView } from "./Exchange";
import "./inspector.css";

const TABS = ["data", "exchange", "raw", "copy"] as const;
type Tab = (typeof TABS)[number];

export function Inspector() {
  const answer = event.value.value;
  if (event.error.value) return <p class="notice error inset">{event.error.value}</p>;
  if (!answer) return <div class="empty">No event is chosen</div>;
  const wanted = (word("tab") ?? "data") as Tab;
  const tab = wanted === "exchange" && answer.exchanges.length === 0 ? "data" : TABS.includes(wanted) ? wanted : "data";
  return (
    <div class={`inspector ${late(answer.row.seq)}`}>
      <Head answer={answer} />
      <div class="subtabs" role="tablist" aria-label="Parts of the event" data-arrows>
        {TABS.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            aria-selected={tab === name}
            disabled={name === "exchange" && answer.exchanges.length === 0}
            onClick={() => setWords({ tab: name === "data" ? null : name })}
          >
            {name}
            {name === "exchange" && answer.exchanges.length > 1 ? ` ${answer.exchanges.length}` : ""}
          </button>
        ))}
      </div>
      <div class="scroll" role="tabpanel" tabIndex={0} aria-label={tab}>
        {tab === "data" ? <Data answer={answer} /> : null}
        {tab === "exchange" ? answer.exchanges.map((one) => <ExchangeView key={one.seq} exchange={one} rebuilt={answer.copy.body} at={answer.row.seq} />) : null}
        {tab === "raw" ? <Raw answer={answer} /> : null}
        {tab === "copy" ? <Copies answer={answer} /> : null}
      </div>
    </div>
  );
}

/** So many steps around an event are told, of many: the outermost, and those that it is in next. */
const [OUTER, INNER] = [2, 5];

function Head({ answer }: { answer: EventAnswer }) {
  const { row, path } = answer;
  const opened = useSignal(0);
  const whole = path.length <= OUTER + INNER + 1 || path.some((step) => step.seq === opened.value);
  return (
    <div class={`inspector-head k-${kindOf(row)}`}>
      <div class="row">
        <span class="glyph" />
        <strong class="title">{row.type}</strong>
        {row.name ? <span class="soft ellipsis mono">{row.name}</span> : null}
        <span class="grow" />
        <span class="num dim">#{row.seq}</span>
      </div>
      <dl class="facts">
        <Fact name="agent" value={row.agent || "–"} />
        <Fact name="at" value={`${clock(row.timestamp)}  ${offset(row.ms)}`} />
        {row.duration_ms != null ? <Fact name="took" value={duration(row.duration_ms)} /> : null}
        {answer.cost != null ? <Fact name="cost" value={cost(answer.cost)} /> : null}
        {answer.tokens ? <Fact name="tokens" value={tokens(answer.tokens)} /> : null}
        <Fact name="size" value={bytes(row.size)} />
      </dl>
      {path.length ? (
        <nav class="path" aria-label="Steps it is in">
          {(whole ? path : [...path.slice(0, OUTER), ...path.slice(-INNER)]).map((step, n) => (
            <Fragment key={step.seq}>
              {n === OUTER && !whole ? (
                <button type="button" class="link" onClick={() => (opened.value = step.seq)} title="All the steps it is in">
                  {count(path.length - OUTER - INNER)} more
                </button>
              ) : null}
              <button type="button" class="link" onClick={() => goTo(step.seq)} title={`step ${step.seq}`}>
                {step.name || step.kind}
              </button>
            </Fragment>
          ))}
        </nav>
      ) : null}
    </div>
  );
}

const tokens = (t: Tokens): string =>
  `${count(t.input)} in${t.cache_read ? ` (${count(t.cache_read)} cached)` : ""}, ${count(t.output)} out${t.reasoning ? ` (${count(t.reasoning)} reasoning)` : ""}`;

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class="num">{value}</dd>
    </div>
  );
}

function Data({ answer }: { answer: EventAnswer }) {
  const { call, related, row } = answer;
  return (
    <>
      {Object.keys(answer.event.data).length ? (
        <Json value={answer.event.data} open={3} />
      ) : (
        <p class="dim">This event has no data.</p>
      )}
      {related.length ? (
        <section>
          <h2 class="heading">Related</h2>
          <ul class="related">
            {related.map((one) => (
              <li key={`${one.seq}${one.relation}`}>
                <button type="button" class="link row" onClick={() => goTo(one.seq)}>
                  <span class="num dim">#{one.seq}</span>
                  <span class="tag">{one.relation}</span>
                  <span class="ellipsis">{one.summary}</span>
                </button>
              </li>
            ))}
          </ul>
        </section>
      ) : null}
      <div class="row wrap actions">
        {call ? (
          <button
            type="button"
            class="button"
            onClick={() => openPanel("conversation", { call: String(call.step), with: null, leaf: null })}
          >
            What the model read
          </button>
        ) : null}
        {isStatic() ? null : (
          <button type="button" class="button" onClick={() => openPanel("fork", { edit: String(row.seq) })}>
            What if…
          </button>
        )}
      </div>
    </>
  );
}

function Raw({ answer }: { answer: EventAnswer }) {
  return (
    <>
      <Code text={laidOut(answer.raw)} language="json" label="Raw JSON" />
      {answer.truncated ? (
        <p>
          <a href={api.raw(run.value?.key ?? "", answer.row.seq)}>The whole event</a> is larger than is shown here.
        </p>
      ) : null}
    </>
  );
}

function Copies({ answer }: { answer: EventAnswer }) {
  const { lctl, python, curl } = answer.copy;
  return (
    <>
      <Command title="lctl" text={lctl} language="bash" />
      <Command title="Python" text={python} language="python" />
      {curl ? <Command title="curl" text={curl} language="bash" /> : <p class="dim">This event is no request: there is no curl of it.</p>}
    </>
  );
}

function Command({ title, text, language }: { title: string; text: string; language: string }) {
  return (
    <section>
      <h2 class="heading">{title}</h2>
      <Code text={text} language={language} label={`Copy as ${title}`} />
    </section>
  );
}
