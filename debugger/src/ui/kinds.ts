/** Which family an event is of: its colour, and the word for it. */
import type { Row } from "../api/shapes";

export type Kind = "model" | "tool" | "step" | "fact" | "message" | "error" | "checkpoint" | "handoff" | "other";

const OF_TYPE: Record<string, Kind> = {
  tool_call: "tool",
  fact_added: "fact",
  fact_modified: "fact",
  fact_read: "fact",
  message: "message",
  message_alias: "message",
  view_select: "message",
  error: "error",
  checkpoint: "checkpoint",
  handoff: "handoff",
  model_routing: "handoff",
  exchange: "model",
  stream_start: "model",
  stream_chunk: "model",
  stream_end: "model",
  step_start: "step",
  step_end: "step",
  session_start: "step",
  session_end: "step",
};

export function kindOf(row: Pick<Row, "type" | "kind" | "error">): Kind {
  if (row.error) return "error";
  if ((row.type === "step_start" || row.type === "step_end") && (row.kind === "llm" || row.kind === "embedding")) return "model";
  return OF_TYPE[row.type] ?? "other";
}

/** What a row says beside its type and how long it took, which have places of their own. */
export function rest(row: Pick<Row, "type" | "summary" | "duration_ms">): string {
  const text = row.summary.startsWith(row.type) ? row.summary.slice(row.type.length).replace(/^[\s:]+/, "") : row.summary;
  if (row.duration_ms == null) return text;
  return text.replace(/(, | ?\()[\d.,]+ ?(µs|ms|s)(?=[,)])/, (_, before: string) => (before === ", " ? "" : before)).replace(/ ?\(\)/, "").replace("(, ", "(");
}
