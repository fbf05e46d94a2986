/** One SELECT over the run: facts, steps, tools, messages, errors, events, as they stood at a moment. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { api, ApiError } from "../api/client";
import { Exact } from "../api/exact";
import type { Table } from "../api/shapes";
import { seq, setWords, word } from "../store/route";
import { explain, firstSeq, goTo, lastSeq, run } from "../store/run";
import { hits } from "../timebar/window";
import { Code } from "../ui/Code";
import { count, duration, line, plural } from "../ui/format";
import { VirtualList } from "../ui/VirtualList";

const BINS = 600;
const ROW = 26;
const EXAMPLES: [string, string][] = [
  ["surest facts", "SELECT id, confidence, source, text, seq FROM facts ORDER BY confidence DESC"],
  ["slow tools", "SELECT tool, count(*) AS calls, round(avg(duration_ms)) AS mean_ms, sum(error IS NOT NULL) AS errors FROM tools GROUP BY tool ORDER BY mean_ms DESC"],
  ["dear steps", "SELECT seq, agent, model, input_tokens, output_tokens, duration_ms FROM steps WHERE model IS NOT NULL ORDER BY input_tokens DESC"],
  ["errors", "SELECT seq, agent, category, type, message FROM errors ORDER BY seq"],
];

interface Found {
  table: Table | null;
  error: string | null;
  position: number | null;
  busy: boolean;
}

const NOTHING: Found = { table: null, error: null, position: null, busy: false };

export function Sql() {
  const asked = word("sql") ?? "";
  const upto = Number(word("upto") ?? 0) || null;
  const draft = useSignal(asked);
  const moment = useSignal(upto !== null);
  const found = useSignal<Found>(NOTHING);
  const box = useRef<HTMLTextAreaElement>(null);
  const key = run.value?.key;

  useEffect(() => {
    hits.value = [];
    if (!key || !asked.trim()) {
      found.value = NOTHING;
      return;
    }
    const stop = new AbortController();
    found.value = { ...found.peek(), error: null, position: null, busy: true };
    void ask(key, asked, upto, stop.signal).then((answer) => {
      if (!answer) return;
      found.value = answer;
      if (answer.table) hits.value = marks(answer.table);
    });
    return () => stop.abort();
  }, [key, asked, upto]);

  const submit = () => setWords({ sql: draft.value.trim() || null, upto: moment.value ? String(seq.peek()) : null });
  const { table, error, position, busy } = found.value;
  return (
    <>
      <form
        class="search-head"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <textarea
          ref={box}
          class="input mono sql"
          rows={3}
          spellcheck={false}
          aria-label="SQL"
          aria-invalid={error !== null}
          placeholder="SELECT id, confidence, text FROM facts WHERE confidence < 0.5"
          value={draft.value}
          onInput={(event) => (draft.value = event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Escape") event.currentTarget.blur();
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
              event.preventDefault();
              submit();
            }
          }}
        />
        <div class="row">
          <button class="button primary" type="submit" title="Ctrl+Enter">
            Run
          </button>
          <label class="row soft">
            <input type="checkbox" checked={moment.value} onChange={(event) => (moment.value = event.currentTarget.checked)} />
            as it was after event {seq.value}
          </label>
          <span class="grow" />
          <span class="dim num" role="status">
            {busy ? "asking…" : table ? summary(table, upto) : ""}
          </span>
        </div>
        <Tables draft={draft} box={box} />
        {error ? (
          <div class="notice error" role="alert">
            {error}
            {position !== null ? <Pointed sql={asked} position={position} /> : null}
          </div>
        ) : null}
      </form>
      {table ? <Rows table={table} /> : error ? null : <Empty draft={draft} submit={submit} />}
    </>
  );
}

const summary = (table: Table, upto: number | null): string =>
  `${table.more ? "the first " : ""}${plural(table.rows.length, "row")}${upto ? ` after event ${count(upto)}` : ""} · ${duration(table.ms)}`;

async function ask(key: string, sql: string, at: number | null, stop: AbortSignal): Promise<Found | null> {
  try {
    return { ...NOTHING, table: await api.sql(key, sql, at, stop) };
  } catch (error) {
    if ((error as Error).name === "AbortError") return null;
    return { ...NOTHING, error: explain(error), position: error instanceof ApiError ? error.position : null };
  }
}

/** Where in the run the rows are, for the time bar. */
function marks(table: Table): number[] {
  const bins = new Array<number>(Math.min(BINS, Math.max(1, lastSeq.peek() - firstSeq.peek() + 1))).fill(0);
  const events = lastSeq.peek() - firstSeq.peek() + 1;
  for (const row of table.rows) {
    const at = placeOf(table, row);
    if (at === null || events < 1) continue;
    const bin = Math.min(bins.length - 1, Math.floor(((at - firstSeq.peek()) / events) * bins.length));
    if (bin >= 0) bins[bin] = (bins[bin] ?? 0) + 1;
  }
  return bins;
}

function placeOf(table: Table, row: unknown[]): number | null {
  const value = table.seqs === null ? null : row[table.seqs];
  return typeof value === "number" && value >= firstSeq.peek() && value <= lastSeq.peek() ? value : null;
}

/** The line of the query that is wrong, and where in it. */
function Pointed({ sql, position }: { sql: string; position: number }) {
  const before = sql.slice(0, position);
  const start = before.lastIndexOf("\n") + 1;
  const end = sql.indexOf("\n", position);
  return <code class="plain block">{`${sql.slice(start, end < 0 ? undefined : end)}\n${" ".repeat(position - start)}^`}</code>;
}

/** What can be asked for: a click on a table begins a query, one on a column puts it where one is writing. */
function Tables({ draft, box }: { draft: { value: string }; box: { current: HTMLTextAreaElement | null } }) {
  const tables = useSignal<Record<string, string[]>>({});
  const open = useSignal<string | null>(null);
  const key = run.value?.key;
  useEffect(() => {
    if (!key) return;
    let gone = false;
    void api.searchHelp(key).then((answer) => !gone && (tables.value = answer.tables), () => undefined);
    return () => void (gone = true);
  }, [key]);
  const insert = (text: string) => {
    const field = box.current;
    if (!field) return;
    field.setRangeText(text, field.selectionStart, field.selectionEnd, "end");
    draft.value = field.value;
    field.focus();
  };
  const choose = (name: string) => {
    open.value = open.value === name ? null : name;
    if (!draft.value.trim()) draft.value = `SELECT * FROM ${name}`;
  };
  const columns = open.value ? (tables.value[open.value] ?? []) : [];
  return (
    <div class="row wrap" role="group" aria-label="Tables">
      {Object.keys(tables.value).map((name) => (
        <button key={name} type="button" class={`tag ${open.value === name ? "accent" : ""}`} aria-expanded={open.value === name} onClick={() => choose(name)}>
          <span class="mono">{name}</span>
        </button>
      ))}
      {columns.map((name) => (
        <button key={`.${name}`} type="button" class="link mono" onClick={() => insert(name)}>
          {name}
        </button>
      ))}
    </div>
  );
}

function Empty({ draft, submit }: { draft: { value: string }; submit: () => void }) {
  return (
    <div class="empty">
      <strong>Ask this run in SQL</strong>
      <span>SELECT, and nothing else: a query can only read. JSON columns are taken apart with <code class="mono">-&gt;&gt; '$.path'</code>.</span>
      <div class="row wrap">
        {EXAMPLES.map(([name, sql]) => (
          <button key={name} type="button" class="button" onClick={() => ((draft.value = sql), submit())}>
            {name}
          </button>
        ))}
      </div>
    </div>
  );
}

function Rows({ table }: { table: Table }) {
  if (!table.rows.length)
    return (
      <div class="empty">
        <strong>No rows</strong>
      </div>
    );
  const numeric = table.columns.map((_, n) => table.rows.every((row) => row[n] === null || isNumber(row[n])));
  const widths = table.columns.map((name, n) => width(name, table.rows, n, numeric[n] ?? false));
  const columns = { gridTemplateColumns: widths.join(" ") };
  return (
    <>
      <div class="sql-rows" role="table" aria-label="Rows" aria-rowcount={table.rows.length}>
        <div class="sql-row head soft" role="row" style={columns}>
          {table.columns.map((name, n) => (
            <span key={n} role="columnheader" class={`ellipsis ${numeric[n] ? "r" : ""}`} title={name}>
              {name}
            </span>
          ))}
        </div>
        <VirtualList
          label="Rows"
          role="rowgroup"
          count={table.rows.length}
          size={ROW}
          at={-1}
          row={(n) => {
            const row = table.rows[n] ?? [];
            const at = placeOf(table, row);
            const cells = row.map((value, place) => <Cell key={place} value={value} numeric={numeric[place] ?? false} />);
            const go = () => at !== null && goTo(at);
            return (
              <div
                class={`sql-row ${at === null ? "" : "goes"} ${at !== null && at === seq.value ? "chosen" : ""}`}
                role="row"
                style={columns}
                {...(at === null ? {} : { tabIndex: 0, title: `go to event ${at}`, onClick: go, onKeyDown: pressed(go) })}
              >
                {cells}
              </div>
            );
          }}
        />
      </div>
      <div class="sql-foot">
        <Code text={table.command} language="bash" label="The same on the command line" />
      </div>
    </>
  );
}

function Cell({ value, numeric }: { value: unknown; numeric: boolean }) {
  if (value === null) return <span role="cell" class={`dim ellipsis ${numeric ? "r" : ""}`}>null</span>;
  const text = isNumber(value) && !/^-?\d+$/.test(String(value)) ? String(+Number(value).toPrecision(6)) : String(value);
  return (
    <span role="cell" class={`mono ellipsis ${numeric ? "r num" : ""}`} title={line(text, 1000)}>
      {line(text, 300)}
    </span>
  );
}

const isNumber = (value: unknown): boolean => typeof value === "number" || value instanceof Exact;

const pressed = (act: () => void) => (event: KeyboardEvent) => {
  if (event.key !== "Enter" && event.key !== " ") return;
  event.preventDefault();
  event.stopPropagation();
  act();
};

/** About as wide as what stands in it, as far as one sees at a glance. */
function width(name: string, rows: unknown[][], n: number, numeric: boolean): string {
  let most = name.length;
  for (const row of rows.slice(0, 100)) most = Math.max(most, Math.min(60, String(row[n] ?? "null").length));
  return numeric ? `${Math.min(16, most + 1)}ch` : `minmax(${Math.min(14, most + 1)}ch, ${Math.min(60, most + 1)}fr)`;
}
