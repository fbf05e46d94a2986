"""The tables that a query sees, as SQL over `events`: the names that `lctl query` has on one log, and `run`.

Plain SQL but for `arg_max` and `json_extract_string`, which DuckDB has; Spark's are `max_by` and
`get_json_object`.
"""

from __future__ import annotations

#: Of a call that was counted, what was not counted is none; of another, unknown.
_READ, _WROTE = (
    f"CASE WHEN json_type(e.data, '$.tokens') = 'OBJECT' THEN coalesce(e.{name}, 0) END AS {name}"
    for name in ("input_tokens", "output_tokens")
)

VIEWS: dict[str, str] = {
    "steps": f"""
        SELECT b.run, b.seq, b.agent, coalesce(b.kind, 'agent') AS kind, b.intent, b.step AS parent,
               b."timestamp" AS started, e."timestamp" AS ended, e.outcome,
               coalesce(e.duration_ms, epoch_us(e."timestamp" - b."timestamp") / 1000.0) AS duration_ms,
               coalesce(b.model, e.model) AS model, b.provider, b.operation,
               json_extract_string(b.data, '$.model.role') AS role,
               json_extract_string(b.data, '$.agent_profile.type') AS profile,
               json_extract_string(b.data, '$.tool') AS tool, e.finish_reason, e.response_id,
               {_READ}, {_WROTE},
               e.cache_read_tokens, e.cache_write_tokens, e.reasoning_tokens,
               (SELECT count(*) FROM events x WHERE x.run = b.run AND x.step = b.seq AND x.type = 'error')
                   AS errors,
               (SELECT count(*) FROM events x WHERE x.run = b.run AND x.step = b.seq AND x.type = 'tool_call')
                   AS tool_calls
        FROM events b LEFT JOIN events e ON e.run = b.run AND e.step = b.seq AND e.type = 'step_end'
        WHERE b.type = 'step_start'""",
    "tools": """
        SELECT run, seq, step, agent, tool, json_extract_string(data, '$.input') AS input,
               json_extract_string(data, '$.output') AS output, error, duration_ms, call_id, "timestamp"
        FROM events WHERE type = 'tool_call'""",
    "messages": """
        SELECT run, min(seq) AS seq, id, first(step ORDER BY seq) AS step, first(agent ORDER BY seq) AS agent,
               first(role ORDER BY role IS NULL, seq) AS role,
               first(parent_id ORDER BY parent_id IS NULL, seq) AS parent,
               CASE WHEN bool_or(nth = 1 AND status = 'streaming')
                    THEN coalesce(last(content ORDER BY content IS NOT NULL, seq)
                                      FILTER (type = 'message' AND nth > 1),
                                  string_agg(content, '' ORDER BY seq))
                    ELSE first(content ORDER BY seq) END AS content,
               CASE WHEN bool_or(nth = 1 AND status = 'streaming') THEN bool_or(sampled)
                    ELSE first(sampled ORDER BY seq) END AS sampled,
               CASE WHEN bool_or(nth = 1 AND status = 'streaming')
                    THEN last(status ORDER BY seq) FILTER (type <> 'stream_chunk')
                    ELSE first(status ORDER BY seq) END AS status,
               first("timestamp" ORDER BY seq) AS "timestamp"
        FROM (SELECT run, seq, type, coalesce(message_id, '#' || seq) AS id, step, agent,
                     coalesce(role, CASE WHEN type = 'stream_start' THEN 'assistant' END) AS role, parent_id,
                     coalesce(json_extract_string(data, '$.content'), json_extract_string(data, '$.parts'))
                         AS content,
                     coalesce(json_extract_string(data, '$.sampled') = 'true', false) AS sampled,
                     CASE WHEN type IN ('stream_start', 'stream_chunk') THEN 'streaming'
                          ELSE coalesce(json_extract_string(data, '$.status'), 'complete') END AS status,
                     "timestamp",
                     row_number() OVER (PARTITION BY run, coalesce(message_id, '#' || seq) ORDER BY seq)
                         AS nth
              FROM events
              WHERE type = 'message'
                    OR (type IN ('stream_start', 'stream_chunk', 'stream_end') AND message_id IS NOT NULL))
        GROUP BY run, id
        HAVING NOT bool_or(nth = 1 AND type = 'stream_end')""",
    "errors": """
        SELECT run, seq, step, agent, category, error_type AS type, text AS message,
               json_extract_string(data, '$.recoverable') = 'true' AS recoverable,
               json_extract_string(data, '$.suggested_action') AS suggested_action,
               json_extract_string(data, '$.context') AS context, "timestamp"
        FROM events WHERE type = 'error'""",
    "facts": """
        SELECT run, fact AS id, arg_max(text, seq) FILTER (WHERE text IS NOT NULL) AS text,
               arg_max(confidence, seq) FILTER (WHERE confidence IS NOT NULL) AS confidence,
               arg_max(json_extract_string(data, '$.source'), seq)
                   FILTER (WHERE json_extract_string(data, '$.source') IS NOT NULL) AS source,
               arg_min(agent, seq) AS agent, max(seq) AS seq, min(seq) AS added, arg_max(data, seq) AS data
        FROM events WHERE type IN ('fact_added', 'fact_modified') AND fact IS NOT NULL GROUP BY run, fact""",
    "runs": """
        SELECT e.run, any_value(e.parent_run) AS parent_run, any_value(e.parent_seq) AS parent_seq,
               min(e."timestamp") AS started, max(e."timestamp") AS ended, count(*) AS events,
               count(*) FILTER (WHERE e.type = 'step_start') AS steps,
               count(*) FILTER (WHERE e.type = 'step_start' AND e.kind = 'llm') AS model_calls,
               count(*) FILTER (WHERE e.type = 'tool_call') AS tool_calls,
               count(*) FILTER (WHERE e.type = 'error') AS errors,
               sum(e.input_tokens)::BIGINT AS input_tokens, sum(e.output_tokens)::BIGINT AS output_tokens
        FROM events e GROUP BY e.run""",
}
