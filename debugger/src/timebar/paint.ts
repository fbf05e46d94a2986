/** Draws the time bar: a strip of the whole run, a ruler with marks, a lane for each agent. */
import type { Lane, Span, Timeline } from "../api/shapes";
import { ROW, type LaneBox } from "./lanes";
import { count, duration } from "../ui/format";
import { endOf, ticks, type Scale } from "./scale";

export const RULER = 22;

export interface Colours {
  [name: string]: string;
}

export function colours(): Colours {
  const style = getComputedStyle(document.documentElement);
  const names = ["bg-0", "bg-1", "bg-2", "bg-3", "line", "line-strong", "ink-0", "ink-1", "ink-2", "accent", "model",
    "tool", "step", "fact", "error", "checkpoint", "handoff", "message", "error-soft"];
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

/** Makes a canvas as fine as the screen; answers its pen, with one unit one CSS pixel. */
export function pen(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

export const hue = (kind: string): string =>
  kind === "llm" || kind === "embedding" ? "model" : kind === "tool" || kind === "retriever" ? "tool" : "step";

export function paintWhole(canvas: HTMLCanvasElement, width: number, height: number, line: Timeline, c: Colours): void {
  const g = pen(canvas, width, height);
  const bins = Math.max(1, line.edges.length - 1);
  const sums = Array<number>(bins).fill(0);
  const bad = Array<number>(bins).fill(0);
  for (const lane of line.lanes)
    for (let n = 0; n < bins; n++) {
      sums[n] = (sums[n] ?? 0) + (lane.counts[n] ?? 0);
      bad[n] = (bad[n] ?? 0) + (lane.errors[n] ?? 0);
    }
  const most = Math.max(1, ...sums);
  const wide = width / bins;
  for (let n = 0; n < bins; n++) {
    const sum = sums[n] ?? 0;
    if (!sum) continue;
    const tall = Math.max(2, Math.sqrt(sum / most) * (height - 4));
    const broad = Math.max(1, wide - (wide > 3 ? 1 : 0));
    g.fillStyle = c["line-strong"] as string;
    g.fillRect(n * wide, height - tall - 1, broad, tall);
    const part = share(bad[n] ?? 0, sum, tall);
    if (!part) continue;
    g.fillStyle = c.error as string;
    g.fillRect(n * wide, height - part - 1, broad, part);
  }
}

/** How much of a bar is of errors: where many events share one, a few of them do not colour all of it. */
const share = (errors: number, events: number, tall: number): number =>
  errors ? Math.min(tall, Math.max(events < FEW ? tall : 2, (errors / Math.max(1, events)) * tall)) : 0;
const FEW = 20;

export interface Scene {
  width: number;
  height: number;
  scroll: number;
  scale: Scale;
  lanes: LaneBox[];
  hits: number[];
  first: number;
  last: number;
}

export function paintLanes(canvas: HTMLCanvasElement, scene: Scene, c: Colours): void {
  const { width, height, scroll, scale } = scene;
  const g = pen(canvas, width, height);
  g.font = `500 10.5px Inter, sans-serif`;
  g.textBaseline = "middle";
  const grid = marks(scale, width);
  g.fillStyle = c.line as string;
  for (const mark of grid) g.fillRect(Math.round(mark.x), RULER, 1, height - RULER);
  g.save();
  g.beginPath();
  g.rect(0, RULER, width, height - RULER);
  g.clip();
  for (const box of scene.lanes) {
    const top = RULER + box.top - scroll;
    if (top > height || top + box.height < RULER) continue;
    paintLane(g, box, top, scene, c);
    g.fillStyle = c.line as string;
    g.fillRect(0, top + box.height - 1, width, 1);
  }
  g.restore();
  paintRuler(g, scene, grid, c);
}

function marks(scale: Scale, width: number): { x: number; text: string }[] {
  const wanted = Math.max(2, width / 110);
  if (scale.byTime) {
    const [from, to] = [scale.msAt(0), scale.msAt(1)];
    const step = (to - from) / wanted;
    return ticks(from, to, wanted, true).map((ms) => ({ x: scale.ofMs(ms) * width, text: moment(ms, step, to) }));
  }
  const { from, to } = scale.line;
  return ticks(from, to, wanted, false)
    .filter((seq) => Number.isInteger(seq))
    .map((seq) => ({ x: scale.ofSeq(seq) * width, text: `#${count(seq)}` }));
}

/** A moment of the run, as fine as the marks are close; all marks of a window that ends at `to` have one unit. */
function moment(ms: number, step: number, to: number): string {
  if (ms === 0) return "0";
  if (to < 1000 && step >= 1) return `${Math.round(ms)}ms`;
  if (ms < 60_000) return step < 1 ? `${ms.toFixed(step < 0.1 ? 2 : 1)}ms` : step < 1000 ? `${+(ms / 1000).toFixed(3)}s` : `${Math.round(ms / 1000)}s`;
  return duration(ms);
}

function paintRuler(g: CanvasRenderingContext2D, scene: Scene, grid: { x: number; text: string }[], c: Colours): void {
  const { width, scale } = scene;
  const line = scale.line;
  g.fillStyle = c["bg-1"] as string;
  g.fillRect(0, 0, width, RULER);
  g.fillStyle = c.line as string;
  g.fillRect(0, RULER - 1, width, 1);
  paintHits(g, scene, c);
  g.fillStyle = c["ink-2"] as string;
  for (const mark of grid) g.fillText(mark.text, Math.min(Math.round(mark.x) + 4, width - 40), 8);
  for (const seq of line.handoffs) mark(g, scale.ofSeq(seq) * width, RULER - 5, 2.5, "round", c.handoff as string);
  for (const seq of line.checkpoints) mark(g, scale.ofSeq(seq) * width, RULER - 5, 3.5, "diamond", c.checkpoint as string);
  for (const seq of line.errors) mark(g, scale.ofSeq(seq) * width, RULER - 5, 4, "triangle", c.error as string);
}

/** What the search has found, as marks under the ruler. */
function paintHits(g: CanvasRenderingContext2D, scene: Scene, c: Colours): void {
  const { hits, scale, width, first, last } = scene;
  if (!hits.length) return;
  g.fillStyle = c.fact as string;
  const per = (last - first + 1) / hits.length;
  for (let n = 0; n < hits.length; n++) {
    if (!hits[n]) continue;
    const seq = Math.floor(first + n * per);
    const x = scale.ofSeq(Math.min(last, Math.max(seq, first)));
    if (x >= 0 && x <= 1) g.fillRect(x * width - 1, RULER - 10, 2, 9);
  }
}

function mark(g: CanvasRenderingContext2D, x: number, y: number, r: number, form: string, colour: string): void {
  if (x < -r) return;
  g.fillStyle = colour;
  g.beginPath();
  if (form === "round") g.arc(x, y, r, 0, Math.PI * 2);
  else if (form === "diamond") {
    g.moveTo(x, y - r);
    g.lineTo(x + r, y);
    g.lineTo(x, y + r);
    g.lineTo(x - r, y);
  } else {
    g.moveTo(x, y - r + 0.5);
    g.lineTo(x + r, y + r - 0.5);
    g.lineTo(x - r, y + r - 0.5);
  }
  g.fill();
}

function paintLane(g: CanvasRenderingContext2D, box: LaneBox, top: number, scene: Scene, c: Colours): void {
  const { scale, width } = scene;
  const under = box.placed.length > 0;
  paintCounts(g, box.lane, top + box.height, under ? 4 : box.height - 7, width, c, under);
  paintTools(g, box.lane, top + box.height, scale, width, c);
  for (const { span, row } of box.placed)
    if ((row + 1) * ROW < box.height) paintSpan(g, span, top + 3 + row * ROW, scale, width, c);
}

/** How much happens when: under the spans a quiet shadow, alone the lane itself. */
function paintCounts(g: CanvasRenderingContext2D, lane: Lane, floor: number, room: number, width: number, c: Colours, under: boolean): void {
  const bins = lane.counts.length;
  const wide = width / bins;
  let most = 1;
  for (const n of lane.counts) if (n > most) most = n;
  for (let n = 0; n < bins; n++) {
    const here = lane.counts[n];
    if (!here) continue;
    const bad = Boolean(lane.errors[n]);
    const tall = under ? (bad ? room + 2 : room) : Math.max(3, Math.sqrt(here / most) * room);
    const broad = Math.max(1, Math.min(wide, under ? 2 : wide));
    g.fillStyle = (under ? c["line-strong"] : c.step) as string;
    g.fillRect(n * wide, floor - 2 - tall, broad, tall);
    const part = under && bad ? tall : share(lane.errors[n] ?? 0, here, tall);
    if (!part) continue;
    g.fillStyle = c.error as string;
    g.fillRect(n * wide, floor - 2 - part, broad, part);
  }
}

function paintTools(g: CanvasRenderingContext2D, lane: Lane, floor: number, scale: Scale, width: number, c: Colours): void {
  for (const [seq, start, end, error] of lane.tools ?? []) {
    const left = (scale.byTime ? scale.ofMs(start) : scale.ofSeq(seq)) * width;
    const right = (scale.byTime ? scale.ofMs(end) : scale.ofSeq(seq)) * width;
    g.fillStyle = (error ? c.error : c.tool) as string;
    if (right >= 0 && left <= width) g.fillRect(left - 1, floor - 7, Math.max(2.5, right - left), 5);
  }
}

/** A call that failed and then went well is no failure: its error has a mark of its own. */
export const spanHue = (span: Span): string => (span.error && span.outcome !== "success" ? "error" : hue(span.kind));

function paintSpan(g: CanvasRenderingContext2D, span: Span, top: number, scale: Scale, width: number, c: Colours): void {
  const [x0, x1] = spanPlaces(span, scale, width);
  if (x1 < 0 || x0 > width) return;
  const left = Math.max(-2, x0);
  const wide = Math.max(2, Math.min(width + 2, x1) - left - (x1 - x0 > 6 ? 1 : 0));
  const work = hue(span.kind) !== "step";
  g.fillStyle = c[spanHue(span)] as string;
  g.globalAlpha = work ? 0.95 : 0.3;
  g.beginPath();
  g.roundRect(left, top, wide, ROW - 2, Math.min(2.5, wide / 2));
  g.fill();
  g.globalAlpha = 1;
  if (wide < 40) return;
  g.save();
  g.beginPath();
  g.rect(left, top, wide - 3, ROW);
  g.clip();
  g.fillStyle = (work ? c["bg-0"] : c["ink-1"]) as string;
  g.fillText(work ? span.name : span.intent || span.name, Math.max(1, left) + 5, top + ROW / 2 - 0.5);
  g.restore();
}

export function spanPlaces(span: Span, scale: Scale, width: number): [number, number] {
  if (scale.byTime) return [scale.ofMs(span.start_ms) * width, scale.ofMs(endOf(span, scale.endMs)) * width];
  const from = span.seq < scale.line.from ? -0.01 : scale.ofSeq(span.seq);
  const end = span.end_seq ?? scale.line.to;
  const to = end > scale.line.to ? 1.01 : scale.ofSeq(end);
  const half = 0.5 / Math.max(1, scale.line.to - scale.line.from + 1);
  return [(from - half) * width, (to + half) * width];
}
