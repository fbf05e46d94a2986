/** One request on the wire and what came of it, as far as the log has it, and as the chosen event can know it. */
import type { Exchange } from "../api/shapes";
import { goTo } from "../store/run";
import { Code, laidOut } from "../ui/Code";
import { count, duration, plural } from "../ui/format";
import { Json } from "../ui/Json";
import { pieces } from "../ui/pieces";

interface Props {
  exchange: Exchange;
  /** The request's body, put together from the messages of its call. */
  rebuilt: string | null;
  /** The chosen event. */
  at: number;
}

export function ExchangeView({ exchange, rebuilt, at }: Props) {
  const { status, error, response } = exchange;
  const good = status != null && status < 400;
  return (
    <section class="exchange">
      <div class="row">
        <b class="mono">{exchange.method}</b>
        <span class={`tag ${good ? "good" : "error"}`}>{status ?? "no answer"}</span>
        <span class="num dim">{duration(exchange.duration_ms)}</span>
        <span class="grow" />
        <button type="button" class="link num" onClick={() => goTo(exchange.seq)}>
          #{exchange.seq}
        </button>
      </div>
      <p class="mono plain">{exchange.url}</p>
      <h2 class="heading">Request</h2>
      <Headers of={exchange.request.headers} />
      <Request of={exchange} rebuilt={rebuilt} />
      <h2 class="heading">Response{response.chunks ? `, ${plural(response.chunks.length, "part")}` : ""}</h2>
      {exchange.seq > at ? <p class="notice">Of later than event {at}: it was there at event {exchange.seq}.</p> : null}
      {error ? <Json value={error} open={2} /> : null}
      <Headers of={response.headers} />
      {response.chunks ? <Chunks chunks={response.chunks} /> : <Body value={response.body} name="Response body" />}
      {[...new Set(response.notes)].map((note) => (
        <p key={note} class="dim">
          Not kept: {note}.
        </p>
      ))}
    </section>
  );
}

/** Of most requests the log tells the size only: their messages are in it once, as events. */
function Request({ of: exchange, rebuilt }: { of: Exchange; rebuilt: string | null }) {
  const { body, size } = exchange.request;
  if (body != null) return <Body value={body} name="Request body" />;
  if (typeof size !== "number") return <p class="dim">no body in the log</p>;
  if (size === 0) return <p class="dim">no body</p>;
  const told = `${plural(size, "byte")}, not kept in the log`;
  if (rebuilt === null || exchange.method !== "POST") return <p class="dim">{told}</p>;
  return (
    <>
      <p class="dim">{told}; rebuilt from the messages:</p>
      <Code text={laidOut(rebuilt)} language="json" label="Request body, rebuilt" />
    </>
  );
}

function Headers({ of: headers }: { of: Record<string, unknown> | null | undefined }) {
  const all = Object.entries(headers ?? {});
  if (!all.length) return null;
  return (
    <details>
      <summary>{plural(all.length, "header")}</summary>
      <dl class="headers mono">
        {all.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{Array.isArray(value) ? value.join(", ") : String(value)}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

function Body({ value, name }: { value: unknown; name: string }) {
  if (value == null) return <p class="dim">no body in the log</p>;
  if (value === "") return <p class="dim">no body</p>;
  if (typeof value !== "string") return <Json value={value} open={2} />;
  const text = laidOut(value);
  return <Code text={text} language={text === value ? "" : "json"} label={name} />;
}

const FIRST_CHUNKS = 200;

function Chunks({ chunks }: { chunks: [number, string][] }) {
  return (
    <ol class="chunks">
      {chunks.slice(0, FIRST_CHUNKS).map(([ms, text], n) => (
        <li key={n}>
          <span class="num dim">+{duration(ms)}</span>
          <code class="plain">{pieces(text)}</code>
        </li>
      ))}
      {chunks.length > FIRST_CHUNKS ? <li class="dim">{count(chunks.length - FIRST_CHUNKS)} more</li> : null}
    </ol>
  );
}
