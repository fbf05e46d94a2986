/** Full text and structured search; what is found is marked on the time bar. */
import { effect, useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { api, ApiError } from "../api/client";
import type { Row } from "../api/shapes";
import { searchAsked } from "../store/keys";
import { seq, setWords, word } from "../store/route";
import { explain, goTo, run, session } from "../store/run";
import { hits } from "../timebar/window";
import { EventRow } from "../ui/EventRow";
import { count, percent } from "../ui/format";
import { VirtualList } from "../ui/VirtualList";
import { Sql } from "./Sql";
import "./search.css";

const BINS = 600;
const PAGE = 500;
/** More rows than this nobody reads; the time bar shows where all are. */
const MOST_ROWS = 20_000;

interface Found {
  rows: Row[];
  matches: number;
  scanned: number;
  done: boolean;
  error: string | null;
  position: number | null;
}

const NOTHING: Found = { rows: [], matches: 0, scanned: 0, done: true, error: null, position: null };

/** The wishes for the search box that have had it. */
let answered = 0;

export function Search() {
  const sql = word("ask") === "sql" && !session.value?.static;
  return (
    <div class="panel search">
      {session.value?.static ? null : (
        <div class="subtabs search-mode" role="tablist" aria-label="Ways to search" data-arrows>
          <button type="button" role="tab" aria-selected={!sql} onClick={() => setWords({ ask: null })}>
            Events
          </button>
          <button type="button" role="tab" aria-selected={sql} onClick={() => setWords({ ask: "sql" })}>
            SQL
          </button>
        </div>
      )}
      {sql ? <Sql /> : <Words />}
    </div>
  );
}

function Words() {
  const q = word("q") ?? "";
  const draft = useSignal(q);
  const found = useSignal<Found>(NOTHING);
  const input = useRef<HTMLInputElement>(null);
  const key = run.value?.key;

  // Before the next key, as in the dialogs.
  useLayoutEffect(
    () =>
      effect(() => {
        if (searchAsked.value === answered) return;
        answered = searchAsked.value;
        input.current?.select();
      }),
    [],
  );
  useEffect(() => {
    if (!key || !q.trim()) {
      found.value = NOTHING;
      hits.value = [];
      return;
    }
    const stop = new AbortController();
    void search(key, q, stop.signal, (now, bins) => {
      found.value = now;
      hits.value = bins;
    });
    return () => stop.abort();
  }, [key, q]);

  const now = found.value;
  const chosen = useMemo(() => now.rows.findIndex((row) => row.seq === seq.value), [now.rows, seq.value]);
  const move = (by: number) => {
    const next = by > 0 ? now.rows.find((row) => row.seq > seq.value) : [...now.rows].reverse().find((row) => row.seq < seq.value);
    if (next) goTo(next.seq);
  };
  return (
    <>
      <form
        class="search-head"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          setWords({ q: draft.value.trim() || null });
        }}
      >
        <div class="row">
          <input
            ref={input}
            class="input grow mono"
            type="search"
            aria-label="Search the run"
            placeholder={'words, "a phrase", type:tool_call tool:grep error:*'}
            value={draft.value}
            spellcheck={false}
            onInput={(event) => (draft.value = event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Escape") event.currentTarget.blur();
              if (event.key === "ArrowDown" || event.key === "ArrowUp") {
                event.preventDefault();
                move(event.key === "ArrowDown" ? 1 : -1);
              }
            }}
          />
          <button class="button primary" type="submit">
            Search
          </button>
          {q ? (
            <button class="button ghost" type="button" onClick={() => ((draft.value = ""), setWords({ q: null }))}>
              Clear
            </button>
          ) : null}
        </div>
        <Help draft={draft} />
        {now.error ? (
          <p class="notice error" role="alert">
            {now.error}
            {now.position != null ? (
              <code class="plain">{`\n${q}\n${" ".repeat(now.position)}^`}</code>
            ) : null}
          </p>
        ) : null}
        {q && !now.error ? (
          <p class="row dim num" role="status">
            <b>{count(now.matches)}</b> {now.matches === 1 ? "event" : "events"}
            {now.done ? "" : ` so far, ${percent(now.scanned, run.value?.last_seq ?? 0)} read`}
            {now.rows.length < now.matches ? ` · the first ${count(now.rows.length)} are listed` : ""}
          </p>
        ) : null}
      </form>
      {now.rows.length ? (
        <VirtualList
          label="Found events"
          count={now.rows.length}
          size={26}
          at={chosen}
          row={(n) => {
            const row = now.rows[n];
            return row ? <EventRow row={row} chosen={row.seq === seq.value} agent onChoose={goTo} /> : null;
          }}
        />
      ) : (
        <div class="empty">
          {q && now.done && !now.error ? (
            <>
              <strong>Nothing matches</strong>
              <span>Fewer words find more; data.path:value looks inside events.</span>
            </>
          ) : q ? null : (
            <>
              <strong>Search every event of this run</strong>
              <span>What is found shows on the time bar.</span>
            </>
          )}
        </div>
      )}
    </>
  );
}

async function search(key: string, q: string, stop: AbortSignal, show: (now: Found, bins: number[]) => void): Promise<void> {
  let now: Found = { ...NOTHING, done: false };
  let bins: number[] = [];
  let after: number | null = 0;
  try {
    while (after !== null) {
      const answer = await api.search(key, q, after, PAGE, BINS, stop);
      bins = bins.length === answer.bins.length ? bins.map((n, at) => n + (answer.bins[at] ?? 0)) : answer.bins;
      const rows = now.rows.length < MOST_ROWS ? [...now.rows, ...answer.rows] : now.rows;
      after = rows.length < MOST_ROWS || answer.progress < 1 ? answer.next : null;
      now = { ...now, rows, matches: now.matches + answer.matches, scanned: answer.scanned, done: after === null };
      show(now, bins);
    }
  } catch (error) {
    if ((error as Error).name === "AbortError") return;
    show({ ...now, done: true, error: explain(error), position: error instanceof ApiError ? error.position : null }, bins);
  }
}

/** Words one can begin with, taken from this run. */
function Help({ draft }: { draft: { value: string } }) {
  const help = useSignal<string[]>([]);
  const key = run.value?.key;
  useEffect(() => {
    if (!key) return;
    let gone = false;
    void api.searchHelp(key).then(
      (answer) => {
        const agents = (answer.values.agent ?? []).slice(0, 4).map((name) => `agent:${quoted(name)}`);
        const tools = (answer.values.tool ?? []).slice(0, 3).map((name) => `tool:${quoted(name)}`);
        const types = ["type:error", "type:tool_call", "type:fact_modified", "kind:llm"];
        if (!gone) help.value = [...types, ...agents, ...tools];
      },
      () => undefined,
    );
    return () => (gone = true);
  }, [key]);
  const add = (text: string) => {
    draft.value = `${draft.value.trim()} ${text}`.trim();
    setWords({ q: draft.value });
  };
  return (
    <div class="row wrap" role="group" aria-label="Fields to search by">
      {help.value.map((text) => (
        <button key={text} type="button" class="tag" onClick={() => add(text)}>
          <span class="mono">{text}</span>
        </button>
      ))}
    </div>
  );
}

const quoted = (text: string): string => (/^[\w.*/-]+$/.test(text) ? text : `"${text.replaceAll('"', "")}"`);
