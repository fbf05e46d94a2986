/** What the run took, up to the chosen event: money, tokens, time, and how much of it was for nothing. */
import { useSignal } from "@preact/signals";
import { api } from "../api/client";
import type { Costs, Use } from "../api/shapes";
import { useFollow } from "../store/follow";
import { seq } from "../store/route";
import { goTo, run } from "../store/run";
import { useAgain, WorkingOut } from "../ui/Again";
import { Chart } from "../ui/Chart";
import { cost, count, duration, percent, short, used } from "../ui/format";
import { Waiting } from "../ui/Waiting";
import "./cost.css";

export function Cost() {
  const again = useSignal(0);
  const follow = useFollow<Costs>(
    () => {
      const [about, at] = [run.value, seq.value];
      return about && { key: `${about.key}@${at} ${again.value}`, ask: (signal) => api.costs(about.key, at, signal) };
    },
    [],
    true,
  );
  useAgain(follow.value.value, again);
  const costs = follow.value.value;
  if (follow.error.value) return <p class="notice error inset">{follow.error.value}</p>;
  if (!costs) return <Waiting />;
  return (
    <div class="panel scroll" tabIndex={0} role="region" aria-label="Cost and time">
      <Figures costs={costs} />
      <Curves />
      {costs.progress < 1 ? <WorkingOut what={costs.since != null ? `The log is still being read: sums are of events ${count(costs.since)} to ${count(seq.value)} only` : "Percentiles, the critical path and waste up to this event are being worked out"} /> : <Waste costs={costs} />}
      <Uses title="Agents" kind="step" uses={costs.agents} all={costs} />
      <Uses title="Models" kind="model" uses={costs.models} all={costs} />
      <Uses title="Tools" kind="tool" uses={costs.tools} all={costs} />
      <Critical costs={costs} />
      <Cache costs={costs} />
    </div>
  );
}

function Figures({ costs }: { costs: Costs }) {
  const { tokens, inherited } = costs;
  const total = tokens.input + tokens.output;
  const silent = total === 0 && costs.cost === null; // what was used is not said, which is not 0
  return (
    <div class="section">
      <dl class="figures">
        <div>
          <dt>cost</dt>
          <dd>
            {cost(costs.cost)} <small>{costs.unpriced.length ? `without ${costs.unpriced.map(([name]) => name).join(", ")}` : ""}</small>
          </dd>
        </div>
        <div>
          <dt>time</dt>
          <dd>
            {duration(costs.duration_ms)} <small>{costs.idle_ms > 0 ? `${duration(costs.idle_ms)} idle` : ""}</small>
          </dd>
        </div>
        <div>
          <dt>tokens</dt>
          <dd>
            {silent ? "–" : short(total)} <small>{silent ? "not recorded" : `${short(tokens.input)} → ${short(tokens.output)}`}</small>
          </dd>
        </div>
        <div>
          <dt>from the cache</dt>
          <dd>
            {percent(tokens.cache_read, tokens.input)} <small>{tokens.cache_read ? `${short(tokens.cache_read)} tokens` : ""}</small>
          </dd>
        </div>
        <div>
          <dt>first words</dt>
          <dd>
            {duration(costs.first_chunk_p50_ms)} <small>{costs.first_chunk_p50_ms != null ? "median of the streams" : ""}</small>
          </dd>
        </div>
      </dl>
      {inherited.calls ? (
        <p class="notice inset-top">
          {count(inherited.calls)} calls were answered from the tape and cost nothing here ({short(inherited.tokens.input + inherited.tokens.output)} tokens).
        </p>
      ) : null}
      {costs.recommendation ? <p class="notice inset-top">{costs.recommendation}</p> : null}
    </div>
  );
}

/** Tokens and money as they add up over the run. */
function Curves() {
  const trend = useFollow(() => {
    const about = run.value;
    if (!about) return null;
    return {
      key: `${about.key} ${about.last_seq} ${about.progress === 1}`,
      ask: async () => {
        const [tokens, money] = await Promise.all([api.trend(about.key, "tokens"), api.trend(about.key, "cost")]);
        return { tokens, money };
      },
    };
  });
  const answer = trend.value.value;
  if (!answer?.tokens.series.some((one) => one.points.length > 1)) return null;
  return (
    <section class="section" aria-label="Over the run">
      <h2>Over the run</h2>
      <div class="curves">
        <Chart title="tokens" series={answer.tokens.series} format={short} at={seq.value} onChoose={goTo} />
        {answer.money.series.some((one) => one.points.filter(([, dollars]) => dollars != null).length > 1) ? (
          <Chart title="cost" series={answer.money.series} format={cost} at={seq.value} onChoose={goTo} />
        ) : null}
      </div>
    </section>
  );
}

function Waste({ costs }: { costs: Costs }) {
  return (
    <section class="section" aria-label="Waste">
      <h2>Waste</h2>
      {costs.waste.length === 0 ? <p class="dim">None found: no retries, no context read twice.</p> : null}
      <ul class="waste">
        {costs.waste.map((one, n) => (
          <li key={n}>
            <p class="row">
              <b>{one.title}</b>
              <span class="grow" />
              <span class="num soft">
                {[one.times > 1 ? `${count(one.times)}×` : "", one.tokens ? `${short(one.tokens)} tokens` : "", one.cost != null ? cost(one.cost) : "", one.ms != null ? duration(one.ms) : ""]
                  .filter(Boolean)
                  .join(" · ")}
              </span>
            </p>
            <p class="soft">{one.text}</p>
            <p class="row wrap">
              {one.seqs.slice(0, 12).map((at) => (
                <button key={at} type="button" class="link num" onClick={() => goTo(at)}>
                  #{at}
                </button>
              ))}
              {one.seqs.length > 12 ? <span class="dim">{count(one.seqs.length - 12)} more</span> : null}
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Rows of a table. */
const MOST = 100;

const shortly = (n: number | null): string => (n === null ? "–" : short(n));

function Uses({ title, kind, uses, all }: { title: string; kind: string; uses: Use[]; all: Costs }) {
  if (!uses.length) return null;
  const most = Math.max(1e-9, ...uses.map((use) => use.wall_ms));
  const money = uses.some((use) => use.cost != null);
  const tokens = kind !== "tool";
  const timed = all.progress === 1;
  return (
    <section class="section" aria-label={title}>
      <h2>{title}</h2>
      <table class="table">
        <thead>
          <tr>
            <th>name</th>
            <th class="r">{kind === "step" ? "steps" : "calls"}</th>
            <th class="r">errors</th>
            <th class="r">retries</th>
            {tokens ? <th class="r">in</th> : null}
            {tokens ? <th class="r">out</th> : null}
            {money ? <th class="r">cost</th> : null}
            <th class="r">p50</th>
            <th class="r">p95</th>
            <th class="r">time</th>
            <th class="wide">share</th>
          </tr>
        </thead>
        <tbody>
          {uses.slice(0, MOST).map((use) => (
            <tr key={use.name}>
              <td class="name" title={use.name}>
                <span class={`row k-${kind}`}>
                  <span class="glyph" />
                  <span class={kind === "step" ? "" : "mono"}>{use.name || "no agent"}</span>
                </span>
              </td>
              <td class="r">{count(use.calls)}</td>
              <td class={`r ${use.errors ? "bad" : "dim"}`}>{count(use.errors)}</td>
              <td class={`r ${use.retries ? "" : "dim"}`}>{timed ? count(use.retries) : "…"}</td>
              {tokens ? <td class="r">{shortly(used(use.tokens.input, use.tokens))}</td> : null}
              {tokens ? <td class="r">{shortly(used(use.tokens.output, use.tokens))}</td> : null}
              {money ? <td class="r">{cost(use.cost)}</td> : null}
              <td class="r">{timed ? duration(use.p50_ms) : "…"}</td>
              <td class="r">{timed ? duration(use.p95_ms) : "…"}</td>
              <td class="r">{timed ? duration(use.wall_ms) : "…"}</td>
              <td class={`wide k-${kind}`} title={`${percent(use.wall_ms, all.duration_ms)} of the run`}>
                <span class="bar">
                  <i style={{ width: timed ? `${(use.wall_ms / most) * 100}%` : "0" }} />
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {uses.length > MOST ? <p class="dim">{count(uses.length - MOST)} more.</p> : null}
    </section>
  );
}

function Critical({ costs }: { costs: Costs }) {
  if (!costs.critical.length) return null;
  const from = costs.critical[0]?.start_ms ?? 0;
  const span = Math.max(1e-9, (costs.critical[costs.critical.length - 1]?.end_ms ?? 0) - from);
  return (
    <section class="section" aria-label="Critical path">
      <h2>Critical path</h2>
      <p class="dim">What the end waited for: to make the run shorter, make one of these shorter.</p>
      <ol class="critical">
        {costs.critical.slice(0, 60).map((part, n) => (
          <li key={n} class={part.step === null ? "k-other" : "k-model"}>
            <button type="button" class="link row" disabled={part.step === null} onClick={() => part.step !== null && goTo(part.step)}>
              <span class="ellipsis">{part.step === null ? "nothing in the log" : part.name || part.agent}</span>
              <span class="dim ellipsis">{part.agent}</span>
            </button>
            <span class="gantt">
              <i style={{ left: `${((part.start_ms - from) / span) * 100}%`, width: `max(2px, ${((part.end_ms - part.start_ms) / span) * 100}%)` }} />
            </span>
            <span class="num r">{duration(part.end_ms - part.start_ms)}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Cache({ costs }: { costs: Costs }) {
  const rows = costs.cache.by_model.filter((row) => row.input > 0);
  if (!rows.length) return null;
  return (
    <section class="section" aria-label="Cache">
      <h2>Cache</h2>
      {costs.cache.saved != null ? <p class="dim">It saved {cost(costs.cache.saved)}.</p> : null}
      <table class="table">
        <thead>
          <tr>
            <th>model</th>
            <th class="r">read in all</th>
            <th class="r">from the cache</th>
            <th class="r">written to it</th>
            <th class="r">share</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.name}>
              <td class="mono">{row.name}</td>
              <td class="r">{count(row.input)}</td>
              <td class="r">{count(row.read)}</td>
              <td class="r">{count(row.write)}</td>
              <td class="r">{percent(row.read, row.input)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
