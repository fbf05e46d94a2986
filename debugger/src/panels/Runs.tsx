/** The runs of a folder: what they were, how they ended, what they cost; one that goes on pulses. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { api } from "../api/client";
import type { RunRow, Runs as Answer } from "../api/shapes";
import { useFollow } from "../store/follow";
import { openPanel, runKey, setWords, word } from "../store/route";
import { openRun, session } from "../store/run";
import { ago, bytes, cost, count, duration, line, plural, short, told } from "../ui/format";
import { VirtualList } from "../ui/VirtualList";
import { Waiting } from "../ui/Waiting";
import "./runs.css";

const SORTS: [string, string][] = [
  ["newest", "newest first"],
  ["errors", "errors first"],
  ["cost", "dearest first"],
  ["duration", "longest first"],
  ["events", "most events first"],
];
const STATUSES = ["error", "interrupted", "ok", "live", "unfinished", "unknown", "unreadable"];

export function Runs() {
  const [q, status, sort] = [word("find") ?? "", word("status") ?? "", word("sort") ?? "newest"];
  const version = useSignal(0);
  const draft = useSignal(q);
  useEffect(() => {
    const source = new EventSource("/api/runs/live");
    source.addEventListener("runs", () => (version.value += 1));
    return () => source.close();
  }, []);
  useEffect(() => {
    const timer = setTimeout(() => setWords({ find: draft.value.trim() || null }), 150);
    return () => clearTimeout(timer);
  }, [draft.value]);
  const follow = useFollow<Answer>(
    () => ({ key: `${q} ${status} ${sort} ${version.value}`, ask: (signal) => api.runs({ q, status, sort, limit: 1000 }, signal) }),
    [q, status, sort],
  );
  const answer = follow.value.value;
  return (
    <div class="panel runs">
      <div class="runs-head row wrap">
        <input
          class="input grow"
          type="search"
          aria-label="Find runs"
          placeholder="Find by name, id, agent or program"
          value={draft.value}
          onInput={(event) => (draft.value = event.currentTarget.value)}
        />
        <div class="row" role="group" aria-label="Status">
          {STATUSES.filter((name) => (answer?.counts[name] ?? 0) > 0 || name === status).map((name) => (
            <button
              key={name}
              type="button"
              class="button ghost"
              aria-pressed={status === name}
              onClick={() => setWords({ status: status === name ? null : name })}
            >
              <i class={`status ${name}`} /> {name} <span class="num dim">{count(answer?.counts[name] ?? 0)}</span>
            </button>
          ))}
        </div>
        <select class="input" aria-label="Order" value={sort} onChange={(event) => setWords({ sort: event.currentTarget.value === "newest" ? null : event.currentTarget.value })}>
          {SORTS.map(([name, text]) => (
            <option key={name} value={name}>
              {text}
            </option>
          ))}
        </select>
      </div>
      {follow.error.value ? <p class="notice error inset">{follow.error.value}</p> : null}
      {answer || follow.error.value ? null : <Waiting />}
      {answer && answer.runs.length === 0 ? (
        <div class="empty">
          <strong>{q || status ? "No run matches" : "No runs yet"}</strong>
          <span>{session.value?.folder ? <code>{session.value.folder}</code> : null}</span>
        </div>
      ) : null}
      {answer?.runs.length ? <Table runs={answer.runs} total={answer.total} /> : null}
    </div>
  );
}

function Table({ runs, total }: { runs: RunRow[]; total: number }) {
  const ids = new Map<string, number>();
  for (const { id } of runs) ids.set(id, (ids.get(id) ?? 0) + 1);
  const sparks = useSignal<Record<string, number[]>>({});
  const need = async (first: number, last: number) => {
    const keys = runs.slice(first, last + 1).map((row) => row.key).filter((key) => !(key in sparks.peek()));
    if (!keys.length) return;
    try {
      const answer = await api.sparks(keys.slice(0, 60));
      sparks.value = { ...sparks.peek(), ...answer.sparks };
    } catch {
      // a run without its curve is still a run
    }
  };
  return (
    <>
      <div class="run-row heads" aria-hidden="true">
        <span />
        <span>run</span>
        <span>activity</span>
        <span class="r">events</span>
        <span class="r">tokens</span>
        <span class="r">cost</span>
        <span class="r">time</span>
        <span class="r" title="Events of type error, as the log's end counts them: a run may have failed without one">
          errors
        </span>
        <span class="r">started</span>
      </div>
      <VirtualList
        label={`Runs, ${total}`}
        count={runs.length}
        size={50}
        at={runs.findIndex((row) => row.key === runKey.peek())}
        onRange={(first, last) => void need(first, last)}
        row={(n) => {
          const row = runs[n];
          return row ? <RunView row={row} alike={(ids.get(row.id) ?? 0) > 1} spark={sparks.value[row.key] ?? []} /> : null;
        }}
      />
      {total > runs.length ? <p class="dim inset">The first {count(runs.length)} of {count(total)}.</p> : null}
    </>
  );
}

/** `alike`: another row has the same id, as a copy of a log has. */
function RunView({ row, alike, spark }: { row: RunRow; alike: boolean; spark: number[] }) {
  // of a large document that lctl has not written a list knows nothing
  const unread = row.events === null && !row.problem ? `${bytes(row.size)} in another form than lctl writes: not read for this list` : "";
  const open = () => void openRun(row.key).then(() => openPanel("conversation"));
  return (
    <div
      class="run-row"
      role="option"
      tabIndex={0}
      aria-selected={row.key === runKey.value}
      onClick={open}
      onKeyDown={(event) => event.key === "Enter" && open()}
    >
      <i class={`status ${unread ? "" : row.status}`} title={unread || row.status} />
      <span class="run-name" title={row.path}>
        <span class="row">
          <b class="ellipsis">{row.id}</b>
          {row.kind === "recording" ? null : <span class="tag">{row.kind}{row.at != null ? ` at ${row.at}` : ""}</span>}
          {row.live ? <span class="tag accent">live</span> : null}
          {row.damage ? (
            <span class="tag warn" title={`The figures are those its end states. ${row.damage}`}>
              damaged
            </span>
          ) : null}
          {row.lost ? (
            <span class="tag warn" title={`Its program could not record ${plural(row.lost, "event")}.`}>
              {count(row.lost)} lost
            </span>
          ) : null}
          {alike ? <span class="dim mono ellipsis">{row.key}</span> : null}
        </span>
        <span class="row dim">
          <span class="ellipsis">{row.problem || unread || row.edits.join("; ") || line(row.agents.filter(Boolean).join(", "), 80) || row.name}</span>
        </span>
      </span>
      <SparkBars values={spark} />
      <span class="r num" title={bytes(row.size)}>
        {told(row.events)}
      </span>
      <span class="r num">{row.tokens ? short(row.tokens.input + row.tokens.output) : "–"}</span>
      <span class="r num">{cost(row.cost)}</span>
      <span class="r num">{duration(row.duration_ms)}</span>
      <span class={`r num ${row.errors ? "bad" : "dim"}`}>{told(row.errors)}</span>
      <span class="r num dim" title={row.started ?? ""}>
        {ago(row.started)}
      </span>
    </div>
  );
}

function SparkBars({ values }: { values: number[] }) {
  const most = Math.max(1, ...values);
  return (
    <svg class="bars" viewBox={`0 0 ${Math.max(1, values.length) * 4} 22`} preserveAspectRatio="none" aria-hidden="true">
      {values.map((value, n) => {
        const tall = value ? Math.max(1.5, Math.sqrt(value / most) * 20) : 0;
        return <rect key={n} x={n * 4} y={22 - tall} width={3} height={tall} />;
      })}
    </svg>
  );
}
