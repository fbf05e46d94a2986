/** Exactly what one call of a model read, and what it answered. */
import { api } from "../api/client";
import { useFollow } from "../store/follow";
import { goTo, run } from "../store/run";
import { setWords } from "../store/route";
import { cost, count, duration, plural } from "../ui/format";
import { Json } from "../ui/Json";
import { MessageView } from "./Message";
import { Waiting } from "../ui/Waiting";

export function CallView({ step }: { step: number }) {
  const call = useFollow(
    () => {
      const about = run.value;
      return about && { key: `${about.key} ${step}`, ask: (signal) => api.call(about.key, step, signal) };
    },
    [step],
    true,
  );
  const answer = call.value.value;
  if (call.error.value) return <p class="notice error inset">{call.error.value}</p>;
  if (!answer) return <Waiting />;
  const { call: about, prompt, answers, tools, params, previous, failures } = answer;
  const parameters = Object.entries(params);
  return (
    <div class="thread">
      <div class="call-head">
        <div class="row wrap">
          <h2>{about.model ?? "model call"}</h2>
          <span class="dim">call {about.number} · {about.agent}</span>
          <span class="grow" />
          {previous != null ? (
            <button type="button" class="button" onClick={() => setWords({ with: String(previous) })}>
              Compare with the call before
            </button>
          ) : null}
          <button type="button" class="button ghost" onClick={() => setWords({ call: null, with: null })}>
            Close
          </button>
        </div>
        <p class="row wrap num soft">
          {about.tokens ? (
            <span>
              {count(about.tokens.input)} tokens in
              {about.tokens.cache_read ? ` (${count(about.tokens.cache_read)} cached)` : ""}, {count(about.tokens.output)} out
            </span>
          ) : null}
          <span>{duration(about.duration_ms)}</span>
          {about.first_chunk_ms != null ? <span>first words after {duration(about.first_chunk_ms)}</span> : null}
          {about.cost != null ? <span>{cost(about.cost)}</span> : null}
          {about.finish_reason ? <span>ended: {about.finish_reason}</span> : null}
          {about.attempts > 1 ? <span class="bad">{about.attempts} attempts</span> : null}
        </p>
        {failures.map((failure) => (
          <p key={failure.seq} class={about.error ? "notice error" : "notice"}>
            <button type="button" class="link num" onClick={() => goTo(failure.seq)}>
              #{failure.seq}
            </button>{" "}
            {failure.text}
          </p>
        ))}
        {tools.length ? (
          <details>
            <summary>{plural(tools.length, "tool")} offered: {tools.slice(0, 8).map((tool) => tool.name).join(", ")}{tools.length > 8 ? " …" : ""}</summary>
            <Json value={Object.fromEntries(tools.map((tool) => [tool.name, tool.definition]))} open={1} />
          </details>
        ) : null}
        {parameters.length ? (
          <details>
            <summary>{plural(parameters.length, "parameter")}: {parameters.slice(0, 6).map(([name]) => name).join(", ")}</summary>
            <Json value={params} open={2} />
          </details>
        ) : null}
      </div>
      <h3 class="divider">It read {plural(prompt.length, "message")}</h3>
      {prompt.map((message) => (
        <MessageView key={message.id} message={message} />
      ))}
      <h3 class="divider">It answered</h3>
      {answers.length ? (
        answers.map((message) => <MessageView key={message.id} message={message} />)
      ) : (
        <p class={about.error ? "notice error" : "dim"}>{about.error ? "Nothing: the call failed." : "Nothing yet."}</p>
      )}
    </div>
  );
}
