/** One message: who said it, its parts, and the versions there are of it. What a model read is shown as the text that
 * it is, what it answered as it is meant; either can be had of each. */
import { signal } from "@preact/signals";
import { api } from "../api/client";
import { isDistinct, parsed } from "../api/exact";
import type { Message, Part } from "../api/shapes";
import { say } from "../store/notices";
import { seq, setWords } from "../store/route";
import { explain, goTo, run } from "../store/run";
import { Code, laidOut } from "../ui/Code";
import { cost, count, duration, plural, short } from "../ui/format";
import { Icon } from "../ui/Icon";
import { Json } from "../ui/Json";
import { isPicture, Markdown } from "../ui/Markdown";
import { pieces } from "../ui/pieces";

/** By run and message: chosen to be shown as text (true) or rendered, for as long as the page is there. */
const wished = signal(new Map<string, boolean>());
const nameOf = (message: Message): string => `${run.value?.key} ${message.id}`;
/** As providers name who answers. */
const ANSWERS = ["assistant", "model", "ai"];
const isText = (message: Message): boolean => wished.value.get(nameOf(message)) ?? !ANSWERS.includes(message.role);

interface Props {
  message: Message;
  chosen?: boolean;
  /** It had been said last when the chosen event happened. */
  here?: boolean;
  badge?: string | null;
}

export function MessageView({ message, chosen = false, here = false, badge = null }: Props) {
  const asText = isText(message);
  return (
    <article class={`message role-${roleClass(message.role)}`} aria-current={chosen} data-here={here || undefined} id={`m-${message.seq}`}>
      <header class="row">
        <b class="role">{message.role}</b>
        {message.role === "assistant" && message.call?.model ? <span class="soft mono ellipsis">{message.call.model}</span> : null}
        {badge ? <span class={`tag diff-${badge}`}>{badge}</span> : null}
        {message.status !== "complete" ? (
          <span class={`tag ${message.status === "streaming" ? "accent" : "error"}`}>{message.status}</span>
        ) : null}
        {message.edits > 0 ? <span class="tag">{plural(message.edits, "other version")}</span> : null}
        <Versions message={message} />
        <span class="grow" />
        <CallFigures call={message.call} />
        <Switch message={message} asText={asText} />
        <button type="button" class="link num dim" onClick={() => goTo(message.seq)} title="Go to this event">
          #{message.seq}
        </button>
      </header>
      <div class="parts">
        {message.parts.length === 0 ? <p class="dim">empty</p> : null}
        {message.parts.map((part, n) => (
          <PartView key={n} part={part} asText={asText} />
        ))}
      </div>
      {message.nested.map((leaf, n) => (
        <button key={leaf} type="button" class="button nested-link" onClick={() => void openNested(leaf)}>
          <Icon name="branch" /> sub-agent{message.nested.length > 1 ? ` ${n + 1}` : ""}
        </button>
      ))}
    </article>
  );
}

/** Of a message that has words. */
function Switch({ message, asText }: { message: Message; asText: boolean }) {
  if (!message.parts.some((part) => part.kind !== "image" && part.kind !== "other")) return null;
  return (
    <span class="switch row" role="group" aria-label="How this message is shown">
      {[true, false].map((text) => (
        <button
          key={String(text)}
          type="button"
          class="link"
          aria-pressed={text === asText}
          onClick={() => (wished.value = new Map(wished.value).set(nameOf(message), text))}
        >
          {text ? "as text" : "rendered"}
        </button>
      ))}
    </span>
  );
}

/** Opens a sub-agent's conversation, told by its first message, where it has got to. */
async function openNested(root: string): Promise<void> {
  const about = run.peek();
  if (!about) return;
  try {
    const { conversations } = await api.conversations(about.key, seq.peek());
    setWords({ leaf: conversations.find((one) => one.root === root)?.leaf ?? root, call: null });
  } catch (error) {
    say(explain(error), "error");
  }
}

const roleClass = (role: string): string => (["system", "developer", "user", "assistant", "tool"].includes(role) ? role : "other");

function Versions({ message }: { message: Message }) {
  const { siblings, index } = message;
  if (siblings.length < 2) return null;
  const go = (step: number) => setWords({ leaf: siblings[(index + step + siblings.length) % siblings.length] ?? null, call: null });
  return (
    <span class="versions row" role="group" aria-label="Versions of this message">
      <button type="button" class="link" aria-label="Previous version" onClick={() => go(-1)}>
        ‹
      </button>
      <span class="num">
        {index + 1} / {siblings.length}
      </span>
      <button type="button" class="link" aria-label="Next version" onClick={() => go(1)}>
        ›
      </button>
    </span>
  );
}

function CallFigures({ call }: { call: Message["call"] }) {
  if (!call) return null;
  return (
    <span class="row dim num figures-line">
      {call.tokens ? <span title="tokens read and written">{`${short(call.tokens.input)} → ${short(call.tokens.output)}`}</span> : null}
      {call.cost != null ? <span>{cost(call.cost)}</span> : null}
      {call.duration_ms != null ? <span>{duration(call.duration_ms)}</span> : null}
      <button type="button" class="link" onClick={() => setWords({ call: String(call.step), with: null })}>
        what it read
      </button>
    </span>
  );
}

function PartView({ part, asText }: { part: Part; asText: boolean }) {
  switch (part.kind) {
    case "text":
      return <TextPart text={part.text} truncated={part.truncated} asText={asText} />;
    case "reasoning":
      return (
        <details class="reasoning">
          <summary>reasoning · {count(part.text.length)} characters</summary>
          {asText ? <AsText text={part.text} /> : <Markdown text={part.text} />}
        </details>
      );
    case "tool_call":
      return (
        <div class="tool-part k-tool">
          <div class="row">
            <span class="glyph" />
            <b class="mono">{part.name}</b>
            <span class="dim mono ellipsis">{part.call_id}</span>
          </div>
          <Value value={part.text ?? part.arguments} asText={asText} />
          <Cut shown={part.text ?? ""} of={part.truncated} />
        </div>
      );
    case "tool_result":
      return (
        <div class={`tool-part ${part.error ? "k-error" : "k-tool"}`}>
          <div class="row">
            <span class="glyph hollow" />
            {part.name ? <b class="mono">{part.name}</b> : null}
            <span class="dim">{part.error ? "failed" : "result"}</span>
            <span class="grow" />
            {part.seq != null ? (
              <button type="button" class="link num dim" onClick={() => goTo(part.seq as number)}>
                #{part.seq}
              </button>
            ) : null}
          </div>
          <Value value={part.output ?? part.text} asText={asText} />
          <Cut shown={part.text} of={part.truncated} />
        </div>
      );
    case "image":
      return <Picture src={part.src ?? null} url={part.url ?? null} type={part.media_type ?? null} held={part.held ?? false} />;
    case "other":
      return (
        <div class="tool-part k-other">
          <div class="row">
            <span class="glyph" /> <b class="mono">{part.type}</b>
          </div>
          <Json value={part.value ?? part.text} open={1} />
          <Cut shown={part.text ?? ""} of={part.truncated} />
        </div>
      );
  }
}

/** As git and diff write it. By the rules of Markdown its `-` are bullets and its `__init__` is bold. */
const isPatch = (text: string): boolean => /^(diff --git |--- .*\n\+\+\+ )/m.test(text) && /^@@ -/m.test(text);

const AsText = ({ text }: { text: string }) => <div class="plain as-text">{pieces(text)}</div>;

/** Rendered, an answer that is JSON or a patch is shown as it is meant. */
function TextPart({ text, truncated, asText }: { text: string; truncated: number | null | undefined; asText: boolean }) {
  return (
    <>
      {isPatch(text) && !text.includes("```") ? (
        <Code text={text} language="diff" label="Patch" part />
      ) : asText ? (
        <AsText text={text} />
      ) : asObject(text) !== undefined ? (
        <Code text={laidOut(text)} language="json" label="JSON text" part />
      ) : (
        <Markdown text={text} />
      )}
      <Cut shown={text} of={truncated} />
    </>
  );
}

const Cut = ({ shown, of: all }: { shown: string; of: number | null | undefined }) =>
  all ? <p class="dim">The first {count(shown.length)} of {count(all)} characters.</p> : null;

function Value({ value, asText }: { value: unknown; asText: boolean }) {
  if (value == null || value === "") return null;
  const object = typeof value !== "string" ? value : asText ? undefined : asObject(value);
  if (object === undefined) return <Code text={String(value)} label="Value" part />;
  if (typeof value === "string" && !isDistinct(value, object)) return <Code text={laidOut(value)} language="json" label="Value" part />;
  const flat = typeof object === "object" && object !== null && Object.keys(object).length === 0;
  return flat ? null : <Json value={object} open={2} />;
}

/** The object or list that a text says; undefined of any other. */
function asObject(text: string): unknown {
  const start = text.trimStart()[0];
  if (start !== "{" && start !== "[") return undefined;
  try {
    const value = parsed(text);
    return typeof value === "object" ? value : undefined;
  } catch {
    return undefined;
  }
}

interface PictureProps {
  src: string | null;
  url: string | null;
  type: string | null;
  held: boolean;
}

function Picture({ src, url, type, held }: PictureProps) {
  if (src && (src.startsWith("/api/blob?") || isPicture(src)))
    return <img class="picture" src={src} alt={`picture, ${type ?? "of unknown type"}`} loading="lazy" />;
  return (
    <p class="dim">
      picture{type ? `, ${type}` : ""}
      {url ? <span class="mono plain"> {url}</span> : held ? ", not shown" : " that the log does not hold"}
    </p>
  );
}
