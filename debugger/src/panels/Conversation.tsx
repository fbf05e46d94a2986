/** What was said: the conversation as it stood at the chosen event, or exactly what one call read. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { api } from "../api/client";
import type { Branch, Call, Conversation as Answer, ConversationRow, Conversations } from "../api/shapes";
import { useFollow, useGrowing } from "../store/follow";
import { state } from "../store/now";
import { seq, setWords, word } from "../store/route";
import { goTo, run } from "../store/run";
import { cost, count, duration, line, plural, short } from "../ui/format";
import { Icon } from "../ui/Icon";
import { CallDiffView } from "./CallDiff";
import { CallView } from "./CallView";
import { MessageView } from "./Message";
import { useInList, useShown } from "./shown";
import { Waiting } from "../ui/Waiting";
import "./conversation.css";

export function Conversation() {
  const call = word("call");
  const against = word("with");
  const view = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (call && view.current) view.current.scrollTop = 0; // what a call read begins at its beginning
  }, [call, against]);
  return (
    <div class="panel split">
      <Aside />
      <div class="scroll grow" tabIndex={0} role="region" aria-label="Conversation" ref={view}>
        {call && against ? (
          <CallDiffView left={Number(against)} right={Number(call)} />
        ) : call ? (
          <CallView step={Number(call)} />
        ) : (
          <Path />
        )}
      </div>
    </div>
  );
}

/** Conversations of the run, and its model calls. */
function Aside() {
  const tab = word("list") === "calls" || word("call") ? "calls" : "conversations";
  return (
    <aside class="panel-aside">
      <div class="subtabs" role="tablist" aria-label="Lists" data-arrows>
        <button
          type="button"
          role="tab"
          aria-selected={tab === "conversations"}
          onClick={() => setWords({ list: null, call: null, with: null })}
        >
          conversations
        </button>
        <button type="button" role="tab" aria-selected={tab === "calls"} onClick={() => setWords({ list: "calls" })}>
          model calls
        </button>
      </div>
      {tab === "calls" ? <CallList /> : <ConversationList />}
    </aside>
  );
}

function ConversationList() {
  const list = useGrowing<Conversations>(() => {
    const [about, at] = [run.value, seq.value];
    return about && { key: `${about.key}@${at}`, ask: (signal) => api.conversations(about.key, at, signal) };
  });
  const rows = list.value.value?.conversations ?? [];
  const chosen = word("leaf");
  if (list.value.value?.total === 0 && list.value.value.since == null) return <div class="empty">Nothing has been said yet</div>;
  return (
    <ul class="items">
      {list.value.value?.since != null ? (
        <li class="dim inset" role="status">
          <i class="pulse" /> The log is still being read: these are of the events from #{list.value.value.since} on.
        </li>
      ) : null}
      {rows.map((row) => (
        <ConversationItem key={row.root} row={row} counted={list.value.value?.progress === 1} chosen={chosen ? row.leaf === chosen : row.active} />
      ))}
      {list.value.value && list.value.value.total > rows.length ? (
        <li class="dim inset">{count(list.value.value.total - rows.length)} more</li>
      ) : null}
    </ul>
  );
}

/** `counted`: the calls are. */
function ConversationItem({ row, chosen, counted }: { row: ConversationRow; chosen: boolean; counted: boolean }) {
  const place = useRef<HTMLButtonElement>(null);
  useInList(place, chosen);
  return (
    <li>
      <button
        type="button"
        class={`item ${row.parent ? "nested" : ""}`}
        aria-current={chosen}
        ref={place}
        onClick={() => setWords({ leaf: row.leaf, call: null, with: null })}
      >
        <span class="row">
          <b class="ellipsis">{row.agent || row.id}</b>
          <span class="grow" />
          <span class="num dim">#{row.first}</span>
        </span>
        <span class="clip soft">{row.title || row.id}</span>
        <span class="row wrap dim num">
          <span>{plural(row.messages, "message")}</span>
          {counted ? <span>{plural(row.calls, "call")}</span> : null}
          {row.branches > 1 ? (
            <span class="tag">
              <Icon name="branch" /> {row.branches}
            </span>
          ) : null}
          <span class="grow" />
          {row.cost != null ? cost(row.cost) : null}
        </span>
      </button>
    </li>
  );
}

function CallList() {
  const about = run.value;
  const list = useFollow(() => {
    const now = run.value;
    return now && { key: `${now.key} ${now.last_seq}`, ask: (signal) => api.calls(now.key, null, 0, 1000, signal) };
  });
  const calls = list.value.value?.calls ?? [];
  if (list.value.value && calls.length === 0) return <div class="empty">No model was called</div>;
  return (
    <ul class="items">
      {calls.map((call) => (
        <CallItem key={call.step} call={call} before={calls} />
      ))}
      {about && list.value.value && list.value.value.total > calls.length ? (
        <li class="dim inset">{count(list.value.value.total - calls.length)} more</li>
      ) : null}
    </ul>
  );
}

function CallItem({ call, before }: { call: Call; before: Call[] }) {
  const chosen = word("call") === String(call.step);
  const other = word("with") === String(call.step);
  const place = useRef<HTMLButtonElement>(null);
  useInList(place, chosen);
  const choose = (event: MouseEvent) => {
    const open = word("call");
    if ((event.shiftKey || event.ctrlKey || event.metaKey) && open && open !== String(call.step)) {
      const [left, right] = [Number(open), call.step].sort((a, b) => a - b);
      setWords({ call: String(right), with: String(left) });
      return;
    }
    setWords({ call: String(call.step), with: null, leaf: null });
    goTo(call.end_seq ?? call.step);
  };
  return (
    <li>
      <button
        type="button"
        class={`item ${call.step > seq.value ? "future" : ""}`}
        aria-current={chosen || other}
        ref={place}
        onClick={choose}
        title={before.length > 1 ? "Shift-click a second call to compare what the two read" : ""}
      >
        <span class="row">
          <b class="ellipsis">{call.model ?? "model"}</b>
          {call.error ? <span class="tag error">failed{call.attempts > 1 ? ` ×${call.attempts}` : ""}</span> : null}
          {call.attempts > 1 && !call.error ? <span class="tag warn">{call.attempts} attempts</span> : null}
          <span class="grow" />
          <span class="num dim">#{call.step}</span>
        </span>
        <span class="row dim num">
          <span class="ellipsis">{call.agent}</span>
          <span class="grow" />
          {call.tokens ? `${short(call.tokens.input)} → ${short(call.tokens.output)}` : ""}
          <span>{duration(call.duration_ms)}</span>
        </span>
      </button>
    </li>
  );
}

function Path() {
  const leaf = word("leaf");
  const before = word("before");
  const wanted = (): string => `${run.value?.key}@${seq.value} ${leaf} ${before}`;
  const path = useGrowing<Answer>(
    () => {
      const [about, at, key] = [run.value, seq.value, wanted()];
      return about && { key, ask: (signal) => api.conversation(about.key, { at, leaf, before, limit: 60 }, signal) };
    },
    [leaf, before],
    true,
  );
  const answer = path.value.value;
  const place = useRef<HTMLDivElement>(null);
  const here = answer && said(answer, seq.value);
  const answered = path.key.value?.replace(/ again \d+$/, "") ?? "";
  useShown(place, here?.id, answered);
  if (path.error.value) return <p class="notice error inset">{path.error.value}</p>;
  if (!answer) return <Waiting />;
  if (answer.messages.length === 0 && answer.lacking)
    return (
      <div class="empty">
        <strong>This page does not hold what was said up to here</strong>
        <span>{plural(answer.lacking, "message")}, for which there is no room in it: <code>lctl debug</code> has all.</span>
      </div>
    );
  if (answer.messages.length === 0)
    return (
      <div class="empty">
        <strong>Nothing has been said yet</strong>
        <span>
          {state.value.value?.totals.messages === 0 && run.value?.types.message
            ? `The first message comes later: there are ${count(run.value.types.message)} in this run.`
            : "At this event no model has been asked anything."}
        </span>
      </div>
    );
  const stale = answered !== wanted(); // of another event: the answer for this one is under way
  return (
    <div class={`thread ${stale ? "stale" : ""}`} ref={place} aria-busy={stale}>
      <h2 class="sr">What was said</h2>
      <Branches branches={answer.branches} total={answer.branch_total} leaf={answer.leaf} />
      {answer.older ? (
        <button type="button" class="button ghost" onClick={() => setWords({ before: answer.messages[0]?.id ?? null })}>
          Older messages
        </button>
      ) : null}
      {answer.lacking && !answer.older ? (
        <p class="notice" role="note">
          This page holds the last {count(answer.held ?? 0)} of {count(answer.total)} messages: <code>lctl debug</code> has all.
        </p>
      ) : null}
      {answer.messages.map((message) => (
        <MessageView key={message.id} message={message} chosen={message.seq === seq.value} here={message === here} />
      ))}
      {before ? (
        <button type="button" class="button ghost" onClick={() => setWords({ before: null })}>
          Back to the newest
        </button>
      ) : null}
    </div>
  );
}

/** The message of an event, or the one that had been said last by then. */
function said(answer: Answer, at: number): Answer["messages"][number] | undefined {
  const { messages } = answer;
  return messages.find((one) => one.seq === at) ?? messages.filter((one) => one.seq < at).at(-1) ?? messages[0];
}

function Branches({ branches, total, leaf }: { branches: Branch[]; total: number; leaf: string | null }) {
  if (total < 2) return null;
  return (
    <div class="branches row wrap" role="group" aria-label="Branches">
      <Icon name="branch" />
      {branches.slice(0, 12).map((branch) => (
        <button
          key={branch.leaf}
          type="button"
          class="button ghost"
          aria-pressed={branch.leaf === leaf}
          title={`${branch.summary}\n${plural(branch.messages, "message")}`}
          onClick={() => setWords({ leaf: branch.leaf, before: null })}
        >
          {branch.main ? "main" : line(branch.summary, 28) || branch.leaf} <span class="dim num">#{branch.last}</span>
        </button>
      ))}
      {total > 12 ? <span class="dim">{count(total - 12)} more</span> : null}
    </div>
  );
}
