/** Curves over the seqs of a run, as steps: a value holds until it changes. */
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { painted } from "../store/prefs";
import { colours } from "../timebar/paint";

interface Props {
  title: string;
  series: { name: string; points: [number, number | null][] }[];
  format: (value: number) => string;
  at: number;
  onChoose: (seq: number) => void;
}

const HUES = ["accent", "tool", "fact", "model", "handoff", "checkpoint"];
const TALL = 150;

export function Chart({ title, series, format, at, onChoose }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const here = useRef(at);
  here.current = at;
  const colour = painted.value;
  useEffect(() => {
    const host = box.current;
    if (!host) return;
    const c = colours();
    const data = uPlot.join(series.map((one) => [one.points.map(([x]) => x), one.points.map(([, y]) => y)] as uPlot.AlignedData));
    const axis = { stroke: c["ink-2"] as string, font: "11px Inter", grid: { stroke: c.line as string, width: 1 }, ticks: { show: false } };
    const stepped = uPlot.paths.stepped?.({ align: 1 });
    plot.current = new uPlot(
      {
        width: host.clientWidth || 400,
        height: TALL,
        cursor: { y: false, points: { size: 6 } },
        legend: { show: false },
        scales: { x: { time: false } },
        axes: [
          { ...axis, size: 24, values: (_, values) => values.map((n) => (Number.isInteger(n) ? `#${n}` : "")) },
          { ...axis, size: (_, texts) => widest(texts), values: (_, values) => values.map((n) => format(n)) },
        ],
        series: [
          {},
          ...series.map((one, n) => ({
            label: one.name,
            stroke: c[HUES[n % HUES.length] as string] as string,
            width: 1.5,
            spanGaps: true,
            points: { show: false },
            ...(stepped ? { paths: stepped } : {}),
          })),
        ],
        hooks: { draw: [(u) => line(u, here.current, c.accent as string)] },
      },
      data,
      host,
    );
    const watch = new ResizeObserver(() => plot.current?.setSize({ width: host.clientWidth, height: TALL }));
    watch.observe(host);
    return () => {
      watch.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [series, colour]);
  useEffect(() => plot.current?.redraw(false), [at]);
  const choose = () => {
    const chart = plot.current;
    if (chart && chart.cursor.left != null && chart.cursor.left >= 0) onChoose(Math.round(chart.posToVal(chart.cursor.left, "x")));
  };
  const last = series.map((one) => `${one.name} ${format(one.points[one.points.length - 1]?.[1] ?? 0)}`).join(", ");
  return (
    <figure class="chart-figure">
      <figcaption class="row">
        <span class="dim">{title}</span>
        {series.length > 1
          ? series.map((one, n) => (
              <span key={one.name} class="row legend">
                <i style={{ background: `var(--${HUES[n % HUES.length]})` }} /> {one.name}
              </span>
            ))
          : null}
      </figcaption>
      <div ref={box} role="img" aria-label={`${title}: at the end ${last}`} onClick={choose} />
    </figure>
  );
}

/** Room for the longest of the texts beside an axis. */
const widest = (texts: string[] | null): number => Math.max(52, ...(texts ?? []).map((text) => 16 + text.length * 7));

function line(u: uPlot, at: number, colour: string): void {
  const x = Math.round(u.valToPos(at, "x", true));
  if (x < u.bbox.left || x > u.bbox.left + u.bbox.width) return;
  u.ctx.fillStyle = colour;
  u.ctx.fillRect(x, u.bbox.top, Math.max(1, window.devicePixelRatio), u.bbox.height);
}
