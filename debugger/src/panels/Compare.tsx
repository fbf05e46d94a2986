/** Two runs side by side, aligned, from difference to difference; and the tree of forks they are of. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { api } from "../api/client";
import { written } from "../api/exact";
import type { Compare as Answer, CompareRows, Difference, Row, RunRow, Side } from "../api/shapes";
import { useFollow } from "../store/follow";
import { openPanel, setWords, word } from "../store/route";
import { openRun, run } from "../store/run";
import { ago, cost, count, duration, plural, short } from "../ui/format";
import { kindOf, rest } from "../ui/kinds";
import { Unified } from "../ui/Unified";
import { VirtualList } from "../ui/VirtualList";
import { Lineage } from "./Lineage";
import "./compare.css";

/** An event of one of the two, where it was: Back leads to the comparison again. */
type Open = (key: string, seq: number) => void;

const opening =
  (left: string, right: string): Open =>
  (key, seq) =>
    void openRun(key, seq, { left, right }).then(() => openPanel("conversation"));

export function Compare() {
  const about = run.value;
  const left = word("left") ?? about?.key ?? null;
  const right = word("right") === left ? null : word("right"); // the other one was opened since
  const answer = useFollow<Answer>(
    () => (left && right ? { key: `${left} ${right}`, ask: (signal) => api.compare(left, right, 0, 1000, signal) } : null),
    [left, right],
  );
  if (!left) return <div class="empty">Open a run first</div>;
  return (
    <div class="panel compare">
      <Choice left={left} right={right} />
      {answer.error.value && right ? <p class="notice error inset">{answer.error.value}</p> : null}
      {right && answer.value.value && answer.key.value === `${left} ${right}` ? (
        <Compared answer={answer.value.value} left={left} right={right} />
      ) : right ? null : (
        <div class="scroll">
          <section class="section">
            <h2>Runs this one is related to</h2>
            <Lineage chosen={left} onChoose={(key) => key !== left && setWords({ left, right: key })} />
          </section>
        </div>
      )}
    </div>
  );
}

function Choice({ left, right }: { left: string; right: string | null }) {
  const runs = useSignal<RunRow[]>([]);
  useEffect(() => {
    void api.runs({ limit: 200 }).then((answer) => (runs.value = answer.runs), () => undefined);
  }, []);
  const select = (name: string, value: string | null, words: string) => (
    <select class="input grow mono" aria-label={words} value={value ?? ""} onChange={(event) => setWords({ [name]: event.currentTarget.value || null, diff: null })}>
      <option value="">choose a run…</option>
      {value && !runs.value.some((one) => one.key === value) ? <option value={value}>{value}</option> : null}
      {runs.value.map((one) => (
        <option key={one.key} value={one.key}>
          {[one.id, one.kind === "recording" ? "" : one.kind, one.status, ago(one.started)].filter(Boolean).join(" · ")}
        </option>
      ))}
    </select>
  );
  return (
    <div class="compare-choice row">
      {select("left", left, "Left run")}
      <button type="button" class="button ghost icon" aria-label="Swap" title="Swap" disabled={!right} onClick={() => setWords({ left: right, right: left })}>
        ⇄
      </button>
      {select("right", right, "Right run")}
    </div>
  );
}

function Compared({ answer, left, right }: { answer: Answer; left: string; right: string }) {
  const at = Number(word("diff") ?? 0);
  const difference = answer.differences[at] ?? null;
  const open = opening(left, right);
  const go = (n: number) => setWords({ diff: String(Math.max(0, Math.min(answer.differences.length - 1, n))) });
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if ((event.target as HTMLElement).closest("input, select, textarea, dialog[open]")) return;
      if (event.key === "n") go(at + 1);
      if (event.key === "p") go(at - 1);
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  });
  return (
    <>
      <Sides answer={answer} />
      {answer.fork ? (
        <p class="notice inset">
          The right one was forked at event {answer.fork.seq}
          {answer.fork.edits.length ? <>: <code>{answer.fork.edits.join("; ")}</code></> : null}
        </p>
      ) : null}
      <div class="compare-bar row">
        <b class="num">{answer.total === 0 ? "No differences" : `${count(answer.total)} ${answer.total === 1 ? "difference" : "differences"}`}</b>
        <span class="dim num">{count(answer.equal)} events are the same</span>
        <span class="grow" />
        {answer.differences.length ? (
          <>
            <button type="button" class="button" onClick={() => go(at - 1)} disabled={at <= 0} title="Previous difference (p)">
              ‹ previous
            </button>
            <span class="num">
              {at + 1} / {count(answer.differences.length)}
            </span>
            <button type="button" class="button" onClick={() => go(at + 1)} disabled={at >= answer.differences.length - 1} title="Next difference (n)">
              next ›
            </button>
          </>
        ) : null}
      </div>
      {difference ? <DifferenceView difference={difference} left={left} right={right} open={open} /> : null}
      <Rows left={left} right={right} difference={difference?.n ?? null} open={open} />
    </>
  );
}

function Sides({ answer }: { answer: Answer }) {
  const figure = (name: string, of: (side: Side) => number | null, shown: (n: number) => string) => {
    const [a, b] = [of(answer.left), of(answer.right)];
    const by = a != null && b != null ? b - a : 0;
    return (
      <div key={name}>
        <dt>{name}</dt>
        <dd>
          {b == null ? "–" : shown(b)}
          <small>{by ? `${by > 0 ? "+" : "−"}${shown(Math.abs(by))} from ${shown(a ?? 0)}` : a != null && b != null ? "the same" : a != null ? `from ${shown(a)}` : ""}</small>
        </dd>
      </div>
    );
  };
  return (
    <>
      <dl class="figures sides">
      {figure("events", (side) => side.events, count)}
      {figure("model calls", (side) => side.llm_calls, count)}
      {figure("tool calls", (side) => side.tool_calls, count)}
      {figure("tokens", (side) => side.tokens, short)}
      {figure("cost", (side) => side.cost, cost)}
      {figure("time", (side) => side.duration_ms, duration)}
      {figure("errors", (side) => side.errors, count)}
      </dl>
      <Spent name="left" side={answer.left} />
      <Spent name="right" side={answer.right} />
    </>
  );
}

/** What a run of which the tape answered calls has sent itself: the figures are of all calls. */
function Spent({ name, side }: { name: string; side: Side }) {
  if (side.live_calls === side.llm_calls) return null;
  const paid = [side.live_tokens === null ? "" : plural(side.live_tokens, "token"), side.live_cost === null ? "" : cost(side.live_cost)];
  return (
    <p class="dim inset num">
      {side.live_calls
        ? `Really sent by the ${name} run: ${count(side.live_calls)} of ${plural(side.llm_calls, "model call")}, ${paid.filter(Boolean).join(", ")}. The tape answered the others.`
        : `The ${name} run sent none of its model calls: the tape answered them.`}
    </p>
  );
}

function DifferenceView({ difference, left, right, open }: { difference: Difference; left: string; right: string; open: Open }) {
  return (
    <section class="difference" aria-label={`Difference ${difference.n + 1}`} aria-live="polite">
      <p class="row">
        <span class={`tag diff-${difference.kind}`}>{difference.kind}</span>
        <b class="ellipsis">{difference.title}</b>
        <span class="grow" />
        {difference.left ? (
          <button type="button" class="link num" title="Go to it, in its run" onClick={() => open(left, difference.left?.seq ?? 1)}>
            left #{difference.left.seq}
          </button>
        ) : null}
        {difference.right ? (
          <button type="button" class="link num" title="Go to it, in its run" onClick={() => open(right, difference.right?.seq ?? 1)}>
            right #{difference.right.seq}
          </button>
        ) : null}
      </p>
      {difference.fields.slice(0, 8).map((field) => (
        <div key={field.path}>
          <p class="mono dim">{field.path}</p>
          {field.unified?.length ? <Unified lines={field.unified} /> : <Unified lines={[`-${text(field.left)}`, `+${text(field.right)}`]} />}
        </div>
      ))}
    </section>
  );
}

const text = (value: unknown): string => (value === null || value === undefined ? "" : typeof value === "string" ? value : written(value));

const PAGE = 200;

function Rows({ left, right, difference, open }: { left: string; right: string; difference: number | null; open: Open }) {
  const pages = useSignal(new Map<number, CompareRows["rows"]>());
  const total = useSignal(0);
  const asked = useSignal<number | null>(null);
  const load = async (page: number) => {
    if (pages.value.has(page) || asked.value === page) return;
    asked.value = page;
    try {
      const answer = await api.compareRows(left, right, page * PAGE, PAGE);
      total.value = answer.total;
      pages.value = new Map(pages.value).set(page, answer.rows);
    } catch {
      // the summary above says what is wrong
    } finally {
      asked.value = null;
    }
  };
  useEffect(() => {
    pages.value = new Map();
    total.value = 0;
    void load(0);
  }, [left, right]);
  let at: number | null = null;
  if (difference !== null)
    for (const [page, rows] of pages.value) {
      const found = rows.findIndex((row) => row.difference === difference);
      if (found >= 0) at = page * PAGE + found;
    }
  useEffect(() => {
    if (difference !== null && at === null && total.value > pages.value.size * PAGE)
      void load([...Array(Math.ceil(total.value / PAGE)).keys()].find((page) => !pages.value.has(page)) ?? 0);
  });
  return (
    <VirtualList
      class="compare-rows"
      label="Both runs, aligned"
      role="list"
      count={total.value}
      size={25}
      at={at}
      onRange={(first, last) => {
        void load(Math.floor(first / PAGE));
        void load(Math.floor(last / PAGE));
      }}
      row={(n) => {
        const row = pages.value.get(Math.floor(n / PAGE))?.[n % PAGE];
        if (!row) return <div class="pair waiting" />;
        return (
          <div class={`pair ${row.kind}`} aria-current={difference !== null && row.difference === difference} role="listitem">
            <Cell row={row.left} onOpen={(seq) => open(left, seq)} />
            <Cell row={row.right} onOpen={(seq) => open(right, seq)} />
          </div>
        );
      }}
    />
  );
}

function Cell({ row, onOpen }: { row: Row | null; onOpen: (seq: number) => void }) {
  if (!row) return <span class="cell none" />;
  return (
    <button type="button" class={`cell k-${kindOf(row)}`} onClick={() => onOpen(row.seq)} title={row.summary}>
      <span class="seq num">{row.seq}</span>
      <span class="glyph" />
      <span class="type">{row.type}</span>
      <span class="ellipsis soft">{rest(row)}</span>
    </button>
  );
}

