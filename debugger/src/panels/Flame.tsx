/** The steps of the time bar's window as a flame graph: width is time, depth is nesting. */
import { effect, useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { api } from "../api/client";
import type { Span, Steps } from "../api/shapes";
import { useFollow } from "../store/follow";
import { painted } from "../store/prefs";
import { seq, setWords, word } from "../store/route";
import { goTo, run } from "../store/run";
import { colours, hue, pen, spanHue, type Colours } from "../timebar/paint";
import { endOf } from "../timebar/scale";
import { shown } from "../timebar/window";
import { useAgain, WorkingOut } from "../ui/Again";
import { cost, count, duration } from "../ui/format";

const BAR = 22;

export function Flame() {
  const root = word("root");
  const canvas = useRef<HTMLCanvasElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const width = useSignal(0);
  const over = useSignal<Span | null>(null);
  const again = useSignal(0);
  const steps = useFollow<Steps>(
    () => {
      const about = run.value;
      if (!about) return null;
      const { from, to } = shown.value;
      const q = root ? { root: Number(root) } : { from, to };
      return { key: `${about.key} ${from} ${to} ${root} ${about.last_seq} ${again.value}`, ask: (signal) => api.steps(about.key, q, signal) };
    },
    [root],
    true,
  );
  useEffect(() => {
    const watch = new ResizeObserver(() => (width.value = box.current?.clientWidth ?? 0));
    if (box.current) watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  const told = steps.value.value;
  const timed = (run.value?.duration_ms ?? 0) > 0;
  const answer = useMemo(() => (told && !timed ? byEvent(told) : told), [told, timed]);
  useAgain(answer, again);
  const deep = (answer?.spans.reduce((most, span) => Math.max(most, span.depth), 0) ?? 0) + 1;
  const shallow = answer?.spans.reduce((least, span) => Math.min(least, span.depth), Infinity) ?? 0;
  const rows = answer?.spans.length ? packed(answer) : null;
  useEffect(
    () =>
      effect(() => {
        const [wide, at] = [width.value, seq.value];
        if (answer && canvas.current && wide && painted.value && rows) paint(canvas.current, wide, answer, rows, at, colours());
      }),
    [answer, width.value],
  );
  const find = (event: MouseEvent): Span | null => {
    if (!answer || !rows || !canvas.current) return null;
    const bounds = canvas.current.getBoundingClientRect();
    const ms = answer.from_ms + ((event.clientX - bounds.left) / bounds.width) * (answer.to_ms - answer.from_ms);
    const row = Math.floor((event.clientY - bounds.top) / BAR);
    const slack = ((answer.to_ms - answer.from_ms) / bounds.width) * 2;
    return rows.spans.find(({ span, y }) => y === row && span.start_ms - slack <= ms && endOf(span, answer.to_ms) + slack >= ms)?.span ?? null;
  };
  if (answer && !answer.spans.length && answer.progress < 1)
    return (
      <div class="flame">
        <WorkingOut what="The steps are still being read" />
      </div>
    );
  if (answer && !answer.spans.length) return <div class="flame empty">This run has no steps</div>;
  return (
    <section class="flame" aria-label="Flame graph of steps">
      <header class="row">
        <h2 class="heading">Steps</h2>
        {answer ? (
          <span class="dim num">
            {count(answer.total)} · {deep - Math.min(shallow, deep)} deep · {timed ? duration(answer.to_ms - answer.from_ms) : "by event"}
            {answer.collapsed ? ` · the ${count(answer.collapsed)} shortest are left out` : ""}
          </span>
        ) : null}
        <span class="grow" />
        {over.value ? <Words span={over.value} known={timed ? (answer?.to_ms ?? 0) : null} /> : <span class="dim">click: go to it · double click: only it</span>}
        {root ? (
          <button type="button" class="button" onClick={() => setWords({ root: null })}>
            All steps
          </button>
        ) : null}
      </header>
      <div class="flame-body" ref={box} tabIndex={0} role="img" aria-label={`${answer?.total ?? 0} steps`}>
        <canvas
          ref={canvas}
          style={{ width: "100%", height: `${(rows?.rows ?? 1) * BAR + 4}px` }}
          onPointerMove={(event) => (over.value = find(event))}
          onPointerLeave={() => (over.value = null)}
          onClick={(event) => {
            const span = find(event);
            if (span) goTo(span.seq);
          }}
          onDblClick={(event) => {
            const span = find(event);
            if (span) setWords({ root: String(span.seq) });
          }}
        />
      </div>
    </section>
  );
}

/** Where nothing has a time, as of a conversation that was imported, a step is as wide as it has events. */
function byEvent(steps: Steps): Steps {
  const spans = steps.spans.map((span) => ({ ...span, start_ms: span.seq, end_ms: span.end_seq }));
  const from = Math.min(...spans.map((span) => span.seq));
  const to = Math.max(...spans.map((span) => span.end_seq ?? span.seq + 1));
  return { ...steps, spans, from_ms: from, to_ms: to };
}

/** `known`: up to where the times of the run are; null where it has none. */
function Words({ span, known }: { span: Span; known: number | null }) {
  return (
    <span class="row num ellipsis">
      <b>{span.name || span.kind}</b>
      <span class="soft ellipsis">
        {span.agent} {span.intent}
      </span>
      <span>
        {known === null ? null : duration(endOf(span, known) - span.start_ms)}
        {span.open ? " so far" : ""}
      </span>
      {span.cost != null ? <span>{cost(span.cost)}</span> : null}
      <span class="dim">#{span.seq}</span>
    </span>
  );
}

interface Packed {
  spans: { span: Span; y: number }[];
  rows: number;
}

/** Steps of one depth that run at once stand under each other: a step is always below the one it is in. */
function packed(steps: Steps): Packed {
  const ends: number[] = [];
  const rowOf = new Map<number, number>();
  const placed = [...steps.spans]
    .sort((a, b) => a.start_ms - b.start_ms || a.depth - b.depth || a.seq - b.seq)
    .map((span) => {
      const under = span.parent !== null ? (rowOf.get(span.parent) ?? -1) : -1;
      let y = under + 1;
      while ((ends[y] ?? -Infinity) > span.start_ms + 1e-6) y += 1;
      ends[y] = endOf(span, steps.to_ms);
      rowOf.set(span.seq, y);
      return { span, y };
    });
  return { spans: placed, rows: ends.length };
}

function paint(canvas: HTMLCanvasElement, width: number, steps: Steps, rows: Packed, at: number, c: Colours): void {
  const g = pen(canvas, width, rows.rows * BAR + 4);
  const per = width / Math.max(1e-6, steps.to_ms - steps.from_ms);
  g.font = "500 11px Inter, sans-serif";
  g.textBaseline = "middle";
  for (const { span, y } of rows.spans) {
    const left = Math.max(0, (span.start_ms - steps.from_ms) * per);
    const wide = Math.max(1.5, Math.min(width, (endOf(span, steps.to_ms) - steps.from_ms) * per) - left - 1);
    const work = hue(span.kind) !== "step";
    g.fillStyle = c[spanHue(span)] as string;
    g.globalAlpha = span.seq > at ? 0.25 : work ? 0.95 : 0.34;
    g.beginPath();
    g.roundRect(left, y * BAR + 2, wide, BAR - 3, Math.min(3, wide / 2));
    g.fill();
    g.globalAlpha = 1;
    if (span.seq <= at && (span.end_seq ?? Infinity) >= at) {
      g.strokeStyle = c.accent as string;
      g.lineWidth = 1.5;
      g.stroke();
    }
    if (wide < 30) continue;
    g.save();
    g.beginPath();
    g.rect(left, y * BAR, wide - 3, BAR);
    g.clip();
    g.fillStyle = (work && span.seq <= at ? c["bg-0"] : c["ink-0"]) as string;
    g.fillText(work ? span.name : [span.agent, span.intent].filter(Boolean).join(" · "), left + 6, y * BAR + BAR / 2 + 1);
    g.restore();
  }
}
