/** What two calls read, one against the other: injected, dropped, changed and truncated parts called out. */
import { useState } from "preact/hooks";
import { api } from "../api/client";
import type { CallDiff, Message } from "../api/shapes";
import { useFollow } from "../store/follow";
import { setWords } from "../store/route";
import { run } from "../store/run";
import { count, line, plural, short } from "../ui/format";
import { Unified } from "../ui/Unified";
import { MessageView } from "./Message";
import { Waiting } from "../ui/Waiting";

type Item = CallDiff["parts"][number];

export function CallDiffView({ left, right }: { left: number; right: number }) {
  const diff = useFollow(
    () => {
      const about = run.value;
      return about && { key: `${about.key} ${left} ${right}`, ask: (signal) => api.callDiff(about.key, left, right, signal) };
    },
    [left, right],
    true,
  );
  const answer = diff.value.value;
  if (diff.error.value) return <p class="notice error inset">{diff.error.value}</p>;
  if (!answer) return <Waiting />;
  return (
    <div class="thread">
      <div class="call-head">
        <div class="row wrap">
          <h2>
            Call #{left} <span class="dim">→</span> call #{right}
          </h2>
          <span class="grow" />
          <button type="button" class="button ghost" onClick={() => setWords({ with: null })}>
            Close
          </button>
        </div>
        <p class="row wrap num">
          {["injected", "dropped", "changed", "truncated"].map((kind) => (
            <span key={kind} class={`tag diff-${kind}`}>
              {answer.counts[kind] ?? 0} {kind}
            </span>
          ))}
          <span class="dim">{count(answer.same)} the same</span>
          <span class="dim">
            {short(answer.left.tokens?.input ?? 0)} → {short(answer.right.tokens?.input ?? 0)} tokens read
          </span>
        </p>
        {answer.tools.added.length || answer.tools.removed.length ? (
          <p>
            tools: {answer.tools.added.map((name) => <ins key={name}> +{name} </ins>)}
            {answer.tools.removed.map((name) => <del key={name}> -{name} </del>)}
          </p>
        ) : null}
        {answer.params.map((one) => (
          <p key={one.path} class="mono">
            {one.path}: <del>{line(one.left, 60)}</del> <ins>{line(one.right, 60)}</ins>
          </p>
        ))}
      </div>
      {folded(answer.parts).map((group, n) =>
        Array.isArray(group) ? <Same key={n} parts={group} /> : <Part key={n} part={group} />,
      )}
    </div>
  );
}

/** Runs of equal parts as one. */
function folded(parts: Item[]): (Item | Item[])[] {
  const groups: (Item | Item[])[] = [];
  for (const part of parts) {
    const last = groups[groups.length - 1];
    if (part.kind !== "same") groups.push(part);
    else if (Array.isArray(last)) last.push(part);
    else groups.push([part]);
  }
  return groups;
}

function Same({ parts }: { parts: Item[] }) {
  const [open, setOpen] = useState(false);
  if (!open)
    return (
      <button type="button" class="fold-same" onClick={() => setOpen(true)}>
        {plural(parts.length, "message")} both read
      </button>
    );
  return (
    <>
      {parts.map((part, n) => {
        const message = part.right ?? part.left;
        return message ? <MessageView key={n} message={message} /> : null;
      })}
    </>
  );
}

function Part({ part }: { part: Item }) {
  const message = (part.kind === "dropped" ? part.left : part.right) as Message | null;
  if (!message) return null;
  return (
    <div class={`diff-part ${part.kind}`}>
      {part.kind === "truncated" && part.lost ? <p class="notice warn">{count(part.lost)} characters are gone</p> : null}
      {part.unified?.length ? (
        <>
          <p class="row">
            <b>{message.role}</b>
            <span class={`tag diff-${part.kind}`}>{part.kind}</span>
            <span class="dim num">
              #{part.left?.seq} → #{part.right?.seq}
            </span>
          </p>
          <Unified lines={part.unified} />
        </>
      ) : (
        <MessageView message={message} badge={part.kind} />
      )}
    </div>
  );
}
