/** Who worked with whom, and the steps as a flame graph. A click shows the state at that point. */
import { useSignal } from "@preact/signals";
import { Graph, layout } from "@dagrejs/dagre";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { api } from "../api/client";
import type { Flow as Answer, FlowEdge, FlowNode } from "../api/shapes";
import { useFollow } from "../store/follow";
import { acting } from "../store/now";
import { seq } from "../store/route";
import { goTo, run } from "../store/run";
import { count, duration, line, plural, short } from "../ui/format";
import { Flame } from "./Flame";
import { useAgain, WorkingOut } from "../ui/Again";
import { Waiting } from "../ui/Waiting";
import "./flow.css";

export function Flow() {
  const again = useSignal(0);
  const flow = useFollow(
    () => {
      const [about, at] = [run.value, seq.value];
      return about && { key: `${about.key}@${at} ${again.value}`, ask: (signal) => api.flow(about.key, at, signal) };
    },
    [],
    true,
  );
  useAgain(flow.value.value, again);
  const answer = flow.value.value;
  if (flow.error.value) return <p class="notice error inset">{flow.error.value}</p>;
  return (
    <div class="panel flow">
      <section class="flow-chart" aria-label="Agents and hand-offs">
        {answer && answer.progress < 1 ? <WorkingOut what="The log is still being read: agents so far, and nothing between them" /> : null}
        {answer?.nodes.length ? <Chart flow={answer} /> : answer ? <div class="empty">No agent has begun yet</div> : <Waiting />}
        {answer?.cut ? <p class="notice">The busiest agents are shown.</p> : null}
      </section>
      <Flame />
    </div>
  );
}

const [WIDE, TALL] = [196, 76];
/** A chart that does not fit is scrolled, not shrunk until nobody can read it. */
const SMALLEST = 0.66;

interface Placed {
  nodes: { node: FlowNode; x: number; y: number }[];
  edges: { edge: FlowEdge; points: { x: number; y: number }[]; x: number; y: number }[];
  width: number;
  height: number;
}

function place(flow: Answer): Placed {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: "LR", nodesep: 26, ranksep: 92, marginx: 24, marginy: 24, edgesep: 16 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const node of flow.nodes) graph.setNode(node.agent, { width: WIDE, height: TALL });
  const known = new Set(flow.nodes.map((node) => node.agent));
  const drawn = flow.edges.filter((edge) => known.has(edge.from) && known.has(edge.to) && edge.from !== edge.to);
  const strong = new Set(drawn.filter((edge) => edge.kind !== "next").map((edge) => pairOf(edge)));
  const edges = drawn.filter((edge) => edge.kind !== "next" || !strong.has(pairOf(edge)));
  for (const edge of edges) graph.setEdge(edge.from, edge.to, { width: 30, height: 16, labelpos: "c" }, edge.kind);
  layout(graph);
  const size = graph.graph();
  return {
    nodes: flow.nodes.map((node) => ({ node, ...at(graph.node(node.agent)) })),
    edges: edges.map((edge) => {
      const found = graph.edge(edge.from, edge.to, edge.kind) as { points: { x: number; y: number }[]; x: number; y: number };
      return { edge, points: found.points, x: found.x, y: found.y };
    }),
    width: Number(size.width) || WIDE,
    height: Number(size.height) || TALL,
  };
}

const pairOf = (edge: FlowEdge): string => JSON.stringify([edge.from, edge.to]);
const at = (node: unknown): { x: number; y: number } => {
  const { x, y } = node as { x: number; y: number };
  return { x, y };
};

function Chart({ flow }: { flow: Answer }) {
  const shape = flow.nodes.map((node) => node.agent).join() + flow.edges.map((edge) => `${pairOf(edge)}${edge.kind}`).join();
  const layoutOf = useMemo(() => place(flow), [shape]);
  const now = new Map(flow.nodes.map((node) => [node.agent, node]));
  const edges = new Map(flow.edges.map((edge) => [pairOf(edge) + edge.kind, edge]));
  const zoom = useSignal(0);
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const room = box.current?.parentElement;
    if (room) zoom.value = Math.max(SMALLEST, Math.min(1, room.clientWidth / layoutOf.width, room.clientHeight / layoutOf.height));
  }, [layoutOf]);
  // By hand: the browser's own way to bring something into sight moves a narrow page with it.
  useLayoutEffect(() => {
    const room = box.current?.parentElement;
    const node = box.current?.querySelector(".node[aria-current]");
    if (!room || !node) return;
    const [seen, one] = [room.getBoundingClientRect(), node.getBoundingClientRect()];
    if (one.left < seen.left || one.right > seen.right) room.scrollLeft += (one.left + one.right - seen.left - seen.right) / 2;
    if (one.top < seen.top || one.bottom > seen.bottom) room.scrollTop += (one.top + one.bottom - seen.top - seen.bottom) / 2;
  }, [layoutOf, zoom.value, acting.value]);
  return (
    <div
      class="chart"
      ref={box}
      onWheel={(event) => {
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        zoom.value = Math.max(0.3, Math.min(2, zoom.value * Math.exp(-event.deltaY / 400)));
      }}
    >
      <svg
        width={layoutOf.width * zoom.value}
        height={layoutOf.height * zoom.value}
        viewBox={`0 0 ${layoutOf.width} ${layoutOf.height}`}
        role="group"
        aria-label={`${plural(flow.nodes.length, "agent")}`}
      >
        <defs>
          <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
            <path d="M0 0.5 7.5 4 0 7.5z" class="arrowhead" />
          </marker>
        </defs>
        {layoutOf.edges.map(({ edge, points, x, y }) => (
          <EdgeView key={pairOf(edge) + edge.kind} edge={edges.get(pairOf(edge) + edge.kind) ?? edge} points={points} x={x} y={y} />
        ))}
        {layoutOf.nodes.map(({ node, x, y }) => (
          <NodeView key={node.agent} node={now.get(node.agent) ?? node} x={x} y={y} />
        ))}
      </svg>
    </div>
  );
}

function EdgeView({ edge, points, x, y }: { edge: FlowEdge; points: { x: number; y: number }[]; x: number; y: number }) {
  const go = () => goTo(edge.seqs.find((one) => one > seq.peek()) ?? edge.first);
  const words = `${edge.kind === "handoff" ? "hand-off" : edge.kind} from ${edge.from} to ${edge.to}, ${edge.count} times`;
  return (
    <g class={`edge ${edge.kind}`} role="button" tabindex={0} aria-label={words} onClick={go} onKeyDown={pressed(go)}>
      <path d={curve(points)} class="hit" />
      <path d={curve(points)} class="line" marker-end="url(#arrow)" />
      <rect x={x - 12} y={y - 9} width={24} height={18} rx={9} />
      <text x={x} y={y + 4}>
        {short(edge.count)}
      </text>
      <title>{words}</title>
    </g>
  );
}

function curve(points: { x: number; y: number }[]): string {
  const [first, ...rest] = points;
  if (!first) return "";
  if (rest.length < 2) return `M${first.x} ${first.y}${rest.map((p) => `L${p.x} ${p.y}`).join("")}`;
  let path = `M${first.x} ${first.y}`;
  for (let n = 0; n < rest.length - 1; n++) {
    const [here, next] = [rest[n] as { x: number; y: number }, rest[n + 1] as { x: number; y: number }];
    const end = n === rest.length - 2 ? next : { x: (here.x + next.x) / 2, y: (here.y + next.y) / 2 };
    path += `Q${here.x} ${here.y} ${end.x} ${end.y}`;
  }
  return path;
}

/** What an agent did, without what it did none of. */
const doings = (node: FlowNode): string => {
  const parts: [number, string][] = [
    [node.llm_calls, node.llm_calls === 1 ? "call" : "calls"],
    [node.tool_calls, node.tool_calls === 1 ? "tool" : "tools"],
    [node.tokens.input + node.tokens.output, "tok"],
  ];
  return parts.filter(([n]) => n).map(([n, word]) => `${short(n)} ${word}`).join(" · ") || "no calls";
};

/** A line of a node that keeps to its room, also in letters twice as wide. */
function Words({ y, room, class: kind, text }: { y: number; room: number; class: string; text: string }) {
  return (
    <svg x={14} y={0} width={room} height={TALL}>
      <text y={y} class={kind}>
        {text}
      </text>
    </svg>
  );
}

function NodeView({ node, x, y }: { node: FlowNode; x: number; y: number }) {
  const go = () => goTo(node.last);
  const tools = node.tools.length ? node.tools.join(", ") : "";
  return (
    <g
      class={`node ${node.running ? "running" : ""} ${node.errors ? "bad" : ""}`}
      transform={`translate(${x - WIDE / 2} ${y - TALL / 2})`}
      role="button"
      tabindex={0}
      aria-current={node.agent === acting.value || undefined}
      onClick={go}
      onKeyDown={pressed(go)}
    >
      <rect width={WIDE} height={TALL} rx={8} />
      <Words y={24} room={WIDE - (node.errors ? 56 : 24)} class="name" text={line(node.agent || "no agent", node.errors ? 19 : 24)} />
      <Words y={61} room={WIDE - 72} class="small dim" text={line(tools || node.models.join(", "), 22)} />
      <text x={14} y={43} class="small">
        {doings(node)}
      </text>
      <text x={WIDE - 12} y={61} class="small dim end">
        {run.value?.duration_ms ? duration(node.wall_ms) : null}
      </text>
      {node.errors ? (
        <text x={WIDE - 12} y={24} class="small err end">
          {count(node.errors)} ✕
        </text>
      ) : null}
      <title>{`${node.agent}\n${node.models.join(", ")}\n${tools}`}</title>
    </g>
  );
}

const pressed = (act: () => void) => (event: KeyboardEvent) => {
  if (event.key !== "Enter" && event.key !== " ") return;
  event.preventDefault();
  event.stopPropagation();
  act();
};
