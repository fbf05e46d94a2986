/** The time bar: drag to any event, zoom with the wheel, move in the strip above. */
import { computed, effect, useComputed, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { acting, event as shownEvent } from "../store/now";
import { painted, timebarHeight } from "../store/prefs";
import { seq } from "../store/route";
import { firstSeq, goTo, lastSeq, run } from "../store/run";
import { stopPlay } from "../store/play";
import { duration, plural } from "../ui/format";
import { Splitter } from "../ui/Splitter";
import { heightOf, HIGHEST, LOWEST, STRIP } from "./lanes";
import { colours, paintLanes, paintWhole, RULER } from "./paint";
import { by, chosen, hits, lanes as boxes, panBy, panTo, pixels, scale, shown, whole, wholeScale, zoomBy } from "./window";
import "./timebar.css";

const GUTTER = 148;

const barHeight = computed(() => {
  if (timebarHeight.value) return timebarHeight.value;
  return Math.max(LOWEST, Math.min(HIGHEST, STRIP + RULER + heightOf(boxes.value) + 1));
});

export function TimeBar() {
  const lanes = useRef<HTMLCanvasElement>(null);
  const strip = useRef<HTMLCanvasElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const scroll = useSignal(0);
  const hover = useSignal<number | null>(null);
  const height = barHeight.value;

  useEffect(() => {
    const box = body.current;
    if (!box) return;
    const measure = () => {
      pixels.value = Math.max(0, Math.floor(box.clientWidth));
      bar.box = null;
    };
    const watch = new ResizeObserver(measure);
    watch.observe(box);
    measure();
    return () => watch.disconnect();
  }, []);

  useEffect(() => drawn(lanes, scroll, height - STRIP), [height]);
  useEffect(() => following(scroll, height - STRIP - RULER), [height]);
  useEffect(
    () =>
      effect(() => {
        const line = whole.value.value;
        if (line && strip.current && pixels.value && painted.value)
          paintWhole(strip.current, pixels.value, STRIP, line, colours());
      }),
    [],
  );

  return (
    <section class="timebar" aria-label="Time bar" style={{ height: `${height}px` }}>
      <div class="tb-gutter" style={{ width: `${GUTTER}px` }}>
        <Lanes scroll={scroll.value} height={height - STRIP - RULER} />
      </div>
      <div class="tb-body" ref={body}>
        <Strip canvas={strip} />
        <div
          class="tb-lanes"
          role="slider"
          tabIndex={0}
          aria-label="Chosen event"
          aria-valuemin={firstSeq.value}
          aria-valuemax={lastSeq.value}
          aria-valuenow={seq.value}
          aria-valuetext={`event ${seq.value} of ${lastSeq.value}`}
          {...scrubbing(lanes, hover)}
          onWheel={(event) => wheel(event, scroll, height)}
        >
          <canvas ref={lanes} aria-hidden="true" />
          <Future />
          <Hover place={hover.value} />
          <Playhead />
        </div>
      </div>
      <Splitter size={timebarHeight} now={height} min={90} max={420} edge="bottom" label="Height of the time bar" />
    </section>
  );
}

/** Draws again whenever something that is seen has changed, at most once a frame. */
function drawn(canvas: { current: HTMLCanvasElement | null }, scroll: { value: number }, height: number): () => void {
  let frame = 0;
  const stop = effect(() => {
    const [now, width, at, found] = [scale.value, pixels.value, scroll.value, hits.value];
    if (!now || !canvas.current || !width || !painted.value) return;
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => {
      if (!canvas.current) return;
      const scene = { width, height, scroll: at, scale: now, lanes: boxes.peek(), hits: found, first: firstSeq.peek(), last: lastSeq.peek() };
      paintLanes(canvas.current, scene, colours());
    });
  });
  return () => {
    stop();
    cancelAnimationFrame(frame);
  };
}

/** The lane of whose event is chosen comes into sight, once for each event: one may look elsewhere then. */
function following(scroll: { value: number; peek(): number }, room: number): () => void {
  let followed = "";
  return effect(() => {
    const [all, one, now] = [boxes.value, shownEvent.value.value, acting.value];
    const least = Math.max(0, heightOf(all) - room);
    if (scroll.peek() > least) scroll.value = least;
    const box = all.find(({ lane }) => lane.agent === now && !lane.others) ?? all.find(({ lane }) => lane.others);
    const key = `${run.peek()?.key} ${one?.row.seq}`;
    if (!box || key === followed) return;
    followed = key;
    const [top, bottom] = [box.top, box.top + box.height];
    if (top < scroll.peek()) scroll.value = top;
    else if (bottom > scroll.peek() + room) scroll.value = Math.min(top, bottom - room);
  });
}

interface Bar {
  /** Where the lanes are on the page. To ask for it has the browser lay everything out, so it is not asked at each move. */
  box: { left: number; width: number } | null;
  panning: { x: number; from: number } | null;
}

const bar: Bar = { box: null, panning: null };

function placing(canvas: { current: HTMLCanvasElement | null }) {
  const measure = () => (bar.box = (canvas.current as HTMLCanvasElement).getBoundingClientRect());
  const place = (event: PointerEvent): number => {
    const { left, width } = bar.box ?? measure();
    return (event.clientX - left) / Math.max(1, width);
  };
  return { measure, place };
}

function scrubbing(canvas: { current: HTMLCanvasElement | null }, hover: { value: number | null }) {
  const { measure, place } = placing(canvas);
  return {
    onPointerEnter: measure,
    onPointerDown: (event: PointerEvent) => {
      measure();
      if (event.button > 1) return;
      (event.currentTarget as Element).setPointerCapture(event.pointerId);
      stopPlay();
      if (event.shiftKey || event.button === 1) bar.panning = { x: place(event), from: shown.peek().from };
      else if (scale.peek()) goTo((scale.peek() as NonNullable<typeof scale.value>).seqAt(place(event)));
    },
    onPointerMove: (event: PointerEvent) => {
      const at = place(event);
      hover.value = at;
      const now = scale.peek();
      if (!(event.buttons & 5) || !now) return;
      if (bar.panning) panTo(bar.panning.from + (bar.panning.x - at) * (now.line.to - now.line.from + 1));
      else goTo(now.seqAt(at));
    },
    onPointerUp: () => (bar.panning = null),
    onPointerLeave: () => (hover.value = null),
  };
}

function wheel(event: WheelEvent, scroll: { value: number }, height: number): void {
  event.preventDefault();
  const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
  const sideways = event.shiftKey ? event.deltaY : event.deltaX;
  const room = heightOf(boxes.peek()) - (height - STRIP - RULER);
  if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) panBy(sideways / 800);
  else if (!event.ctrlKey && !event.metaKey && room > 0)
    scroll.value = Math.max(0, Math.min(room, scroll.value + event.deltaY));
  else zoomBy(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), (event.clientX - box.left) / box.width);
}

function Lanes({ scroll, height }: { scroll: number; height: number }) {
  const below = boxes.value.filter(({ top, height: tall }) => top + tall / 2 > scroll + height).length;
  return (
    <>
      <div class="tb-axis num">
        {by.value === "time" ? duration(run.value?.duration_ms) : plural(run.value?.events ?? 0, "event")}
      </div>
      <div class="tb-names" style={{ height: `${height}px` }}>
        <ul style={{ transform: `translateY(${-scroll}px)` }} aria-label="Agents">
          {boxes.value.map(({ lane, height: tall }) => (
            <li key={lane.agent} aria-current={(!lane.others && lane.agent === acting.value) || undefined} style={{ height: `${tall}px` }} title={`${lane.agent || "no agent"}: ${plural(lane.total, "event")}`}>
              <span class="ellipsis">{lane.agent || (lane.others ? `${lane.others} others` : "no agent")}</span>
            </li>
          ))}
        </ul>
        {below ? <span class="tb-more num">{below} more</span> : null}
      </div>
    </>
  );
}

function Strip({ canvas }: { canvas: { current: HTMLCanvasElement | null } }) {
  const head = useComputed(() => (wholeScale.value ? wholeScale.value.ofSeq(seq.value) : -1));
  const box = useComputed(() => {
    const now = wholeScale.value;
    if (!now || !chosen.value) return null;
    return [now.ofSeq(chosen.value.from), now.ofSeq(chosen.value.to)] as const;
  });
  const move = (event: PointerEvent) => {
    const now = wholeScale.peek();
    if (!now || !(event.buttons & 1)) return;
    const bounds = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const at = now.seqAt((event.clientX - bounds.left) / bounds.width);
    const { from, to } = shown.peek();
    if (chosen.peek()) panTo(at - (to - from) / 2);
    goTo(at);
  };
  return (
    <div
      class="tb-strip"
      style={{ height: `${STRIP}px` }}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        stopPlay();
        move(event);
      }}
      onPointerMove={move}
    >
      <canvas ref={canvas} aria-hidden="true" />
      {box.value ? (
        <div
          class="tb-window"
          style={{ left: `${box.value[0] * 100}%`, width: `max(4px, ${(box.value[1] - box.value[0]) * 100}%)` }}
        />
      ) : null}
      <div class="tb-head small" style={{ transform: `translateX(${head.value * pixels.value}px)` }} />
    </div>
  );
}

const headPlace = (): number => scale.value?.ofSeq(seq.value) ?? -1;

function Playhead() {
  const place = useComputed(headPlace);
  if (place.value < 0 || place.value > 1) return null;
  return (
    <div class="tb-head" style={{ transform: `translateX(${place.value * pixels.value}px)` }}>
      <span class={`num ${place.value > 0.9 ? "left" : ""}`}>#{seq.value}</span>
    </div>
  );
}

/** What has not happened yet at the chosen event stands back. */
function Future() {
  const place = useComputed(() => Math.max(0, Math.min(1, headPlace())));
  return <div class="tb-future" style={{ transform: `translateX(${place.value * pixels.value}px)`, top: `${RULER}px` }} />;
}

function Hover({ place }: { place: number | null }) {
  const now = scale.value;
  if (place === null || !now || place < 0 || place > 1) return null;
  return (
    <div class="tb-hover" style={{ transform: `translateX(${place * pixels.value}px)` }}>
      <span class={`num ${place > 0.85 ? "left" : ""}`}>
        #{now.seqAt(place)} · {duration(now.msAt(place))}
      </span>
    </div>
  );
}
