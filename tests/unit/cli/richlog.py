"""A small log with an event of every type, and nearly every key that the protocol names."""

from __future__ import annotations

from typing import Any

_TOOL = {
    "type": "function",
    "function": {"name": "grep", "description": "d", "parameters": {"type": "object", "properties": {}}},
}
_TAPE = {"lane": "main", "at": 1, "turn": 1, "behind": 0}

#: Its header's chain, and the summary in its tail.
CHAIN: dict[str, Any] = {
    "id": "c",
    "name": "n",
    "parent": {"id": "p", "seq": 0, "lane": "main"},
    "fork": {"at": 1, "edits": ["x=1"]},
    "rerun": {"of": "p"},
    "with": {"id": "p", "n": 2},
    "confidence": {"decay_rate": 0.9, "sources": {"grep": 0.8}, "facts": {"F1": 0.7}, "tolerance": 0.1,
                   "thresholds": {"proceed": 0.8, "warn": 0.6, "verify": 0.4}},
    "program": {"argv": ["a.py"], "cwd": "/w", "python": "3.12", "executable": "python", "hashseed": "0",
                "git": {"commit": "c", "dirty": False}, "packages": {"x": "1"}, "stdin": "stream",
                "env": {"A": "b"}, "keys": ["K"], "tools": ["t"]},
}  # fmt: skip
SUMMARY: dict[str, Any] = {
    "events": 42,
    "duration_ms": 10,
    "llm_calls": 2,
    "errors": 1,
    "outcome": "error",
    "tokens": {"input": 1, "output": 2},
    "models": {"gpt-4.1": {"calls": 1, "tokens": {"input": 1, "output": 2}}},
    "agents": ["a"],
    "first_timestamp": "2026-01-01T00:00:01.000000Z",
    "last_timestamp": "2026-01-01T00:00:42.000000Z",
}

#: type, agent, step and data of each event; the first is event 1.
_ROWS: list[tuple[str, str, int | None, dict[str, Any]]] = [
    (
        "session_start", "a", None,
        {"session_id": "s1", "conversation_id": "main", "trigger": {"type": "user", "id": "u"},
         "model": {"id": "gpt-4.1", "context_window": 1000}, "policy": {"p": 1}, "tool_names": ["grep"],
         "tools": {"grep": _TOOL}, "state": {"n": 1}, "state_version": 1,
         "seed_messages": [{"role": "system", "content": "be", "is_new": True, "message_id": "s0"}]},
    ),
    (
        "step_start", "a", None,
        {"intent": "work", "input_summary": "in", "kind": "agent", "name": "n", "input": {"x": 1},
         "agent_profile": {"type": "reviewer", "capabilities": ["file_access"], "typical_tools": ["grep"],
                           "outputs": ["o"], "model": "gpt-4.1", "reliability_score": 0.5}},
    ),
    (
        "message", "a", 2,
        {"message_id": "m1", "parent_id": None, "role": "user", "conversation_id": "main",
         "content": [{"type": "text", "text": "q"},
                     {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}],
         "session_id": "s1", "message_number": 1, "turn_id": "t1", "serial": 1, "name": "u"},
    ),
    (
        "step_start", "a", 2,
        {"kind": "llm", "intent": "call", "model": {"id": "gpt-4.1", "role": "main"}, "provider": "openai",
         "operation": "chat.completions", "prompt": "m1", "tools": "h", "tool_definitions": [_TOOL],
         "params": {"temperature": 0.5}, "stream": False},
    ),
    (
        "exchange", "a", 4,
        {"attempt": 1, "method": "POST", "url": "http://x/v1", "http": "httpx", "status": 200,
         "request": {"hash": "h", "size": 3, "headers": {"a": "b"}, "body": "{}"},
         "headers": {"content-type": "application/json"},
         "body": ['{"a":"', {"$content": "m2", "at": ["content"], "as": "utf8"}, '"}'],
         "duration_ms": 3, "complete": True, **_TAPE},
    ),
    (
        "message", "a", 4,
        {"message_id": "m2", "parent_id": "m1", "role": "assistant", "content": "calling",
         "tool_calls": [{"id": "c1", "type": "function",
                         "function": {"name": "grep", "arguments": '{"q":"x"}'}}],
         "sampled": True, "status": "complete", "session_id": "s1", "message_number": 2,
         "call": {"model": "gpt-4.1", "params": {"temperature": 0.5}, "tools": "h",
                  "finish_reason": "tool_calls", "usage": {"prompt_tokens": 10}, "duration_ms": 3,
                  "prompt_token_ids": [1, 2], "token_ids": [3], "logprobs": [-0.5]}},
    ),
    (
        "step_end", "a", 4,
        {"outcome": "success", "message": "m2", "messages": ["m2"], "model": "gpt-4.1", "response_id": "r",
         "finish_reason": "tool_calls", "first_chunk_ms": 1, "duration_ms": 3, "cost": 0.1,
         "tokens": {"input": 10, "output": 5, "cache_read": 2, "cache_write": 1, "reasoning": 1, "total": 15},
         "embedding": {"count": 1, "dimensions": 2}},
    ),
    (
        "tool_call", "a", 2,
        {"tool": "grep", "input": {"q": "x"}, "output": {"hits": [1]}, "duration_ms": 2, "call_id": "c1",
         "message_id": "m2", "nested": ["n1"], "tape": {"inside": [8, 8]}, **_TAPE},
    ),
    ("message", "a", 2, {"message_id": "m3", "parent_id": "m2", "role": "tool", "tool_call_id": "c1",
                         "content": "hit"}),
    ("message", "b", 2, {"message_id": "n1", "parent_id": None, "role": "user", "content": "sub",
                         "conversation_id": "sub", "nested_in": {"message_id": "m2", "tool_call_id": "c1"}}),
    (
        "step_start", "a", 2,
        {"kind": "llm", "model": "claude-3", "provider": "anthropic", "operation": "messages",
         "prompt": "m3", "tools": "h", "params": {"max_tokens": 5}},
    ),
    ("stream_start", "a", 11, {"expected_chunks": 2, "message_id": "m4", "parent_id": "m3",
                               "role": "assistant", "stream_id": "st"}),
    ("stream_chunk", "a", 11, {"index": 0, "content": "an", "tokens": 1, "message_id": "m4",
                               "stream_id": "st"}),
    ("stream_end", "a", 11, {"total_chunks": 1, "total_tokens": 1, "duration_ms": 2, "status": "complete",
                             "message_id": "m4", "stream_id": "st", "tokens": {"output": 1}}),
    (
        "message", "a", 11,
        {"message_id": "m4", "parent_id": "m3", "role": "assistant", "sampled": True,
         "content": [{"type": "thinking", "thinking": "hm", "signature": "s"},
                     {"type": "text", "text": "answer"},
                     {"type": "tool_use", "id": "c2", "name": "grep", "input": {"q": 1}}]},
    ),
    ("step_end", "a", 11, {"outcome": "success", "message": "m4", "tokens": {"input": 20, "output": 4},
                           "duration_ms": 5}),
    (
        "message", "a", 2,
        {"message_id": "m5", "parent_id": "m4", "role": "user",
         "content": [{"type": "tool_result", "tool_use_id": "c2", "is_error": False,
                      "content": [{"type": "text", "text": "r"}]}]},
    ),
    ("message", "a", 2, {"message_id": "m6", "parent_id": "m1", "role": "assistant", "content": "other",
                         "fork_of": "m2", "sampled": True}),
    ("message", "a", 2, {"message_id": "m7", "parent_id": "m6", "role": "user", "content": "sum",
                         "replaces": ["m1", "m6"], "carry": ["m2", "m3"]}),
    ("message", "a", 2, {"message_id": "m8", "parent_id": "m7", "copy_of": "m3"}),
    ("message_alias", "a", 2, {"alias": "x1", "message_id": "m3"}),
    ("view_select", "a", 2, {"message_id": "m3", "view": "v"}),
    ("fact_added", "a", 2, {"id": "F1", "text": "t", "confidence": 0.9, "source": "grep", "about": "m2",
                            "value": 1}),
    ("fact_modified", "a", 2, {"id": "F1", "text": "t2", "confidence": 0.5, "reason": "r", "source": "s",
                               "consensus": {"assessors": ["a"], "agreement": 1}}),
    ("assessment", "b", 2, {"id": "F1", "confidence": 0.4, "reason": "r", "reliability": 0.5}),
    ("gate", "b", 2, {"id": "F1", "decision": "warn", "confidence": 0.4, "stated": 0.5, "hops": 1,
                      "at_least": 0.3, "passed": True}),
    (
        "handoff", "a", 2,
        {"from": "a", "to": "b", "reason": "r", "facts": ["F1"], "critical_facts": ["F1"],
         "context_facts": ["F1"], "warnings": ["w"], "instruction": "do",
         "fact_store": {"F1": {"text": "t", "confidence": 0.5}}, "suggested_queries": ["q"]},
    ),
    ("fact_read", "b", 2, {"facts": ["F1"], "query": "SELECT 1", "hops": 1, "from": "a", "fact_store": "fs",
                           "rows": 1}),
    (
        "model_routing", "b", 2,
        {"decision": "d", "reason": "r", "alternatives_considered": [{"model": "x", "reason": "y"}],
         "confidence": 0.5, "model": "gpt-4.1", "role": "r", "fact": "F1", "by_gate": {"warn": "x"}},
    ),
    (
        "contract_validation", "b", 2,
        {"contract": "c", "direction": "output", "status": "failed", "warnings": ["w"], "checked": 1,
         "errors": [{"seq": 8, "agent": "a", "item": "i", "field": "f", "value": 1, "expected": "e"}],
         "definition": {"outputs": {"x": "text"}, "agents": ["a"]}},
    ),
    (
        "error", "b", 2,
        {"category": "execution_error", "type": "timeout", "message": "late", "recoverable": True,
         "suggested_action": "retry",
         "context": {"status": 500, "attempt": 1, "exception": "X", "traceback": ["a.py:1 in f"]}},
    ),
    ("step_start", "b", None, {"intent": "second", "kind": "task"}),
    ("tool_call", "b", 32, {"tool": "grep", "input": {"q": "y"}, "error": {"type": "E", "message": "m"},
                            "duration_ms": 2}),
    ("step_end", "b", 32, {"outcome": "error", "output_summary": "bad", "duration_ms": 4, "output": {"z": 1},
                           "session_id": "s1", "to_message_number": 2, "updates": [{"k": 1}]}),
    ("ambient", "a", 2, {"source": "clock", "key": "time.time", "value": 1.5, "place": "a.py:1",
                         "duration_ms": 1, **_TAPE}),
    ("ambient", "a", 2, {"reads": [["random", "random", "a.py:2"], ["clock", "time", "a.py:3"]],
                         "order": [0, 1, 0], "values": [0.5, 1.5, 0.25]}),
    ("ambient", "a", 2, {"reads": [["clock", "time_ns", "a.py:4"]], "steps": [5, 1]}),
    ("output", "a", 2, {"stream": "stdout", "hash": "sha256:x", "size": 3, "text": "hi",
                        "lanes": [["main", ["hi"], 2]]}),
    ("blob", "a", 2, {"hash": "sha256:x", "content": "AA==", "encoding": "base64", "media_type": "image/png",
                      "size": 1}),
    (
        "checkpoint", "a", 2,
        {"state_hash": "h", "facts_snapshot": {"F1": {"text": "t", "confidence": 0.5}}, "session_id": "s1",
         "state": {"n": 2}, "state_version": 1, "events_hash": "e"},
    ),
    ("step_end", "a", 2, {"outcome": "success", "output_summary": "done", "duration_ms": 50,
                          "tokens": {"input": 30, "output": 9}}),
    ("session_end", "a", None, {"session_id": "s1", "status": "completed", "error": None}),
]  # fmt: skip


def rich() -> list[dict[str, Any]]:
    """Its events, as they stand in the file."""
    return [
        {
            "seq": seq,
            "type": type,
            "timestamp": f"2026-01-01T00:00:{seq:02d}.000000Z",
            "agent": agent,
            **({} if step is None else {"step": step}),
            "data": data,
        }
        for seq, (type, agent, step, data) in enumerate(_ROWS, 1)
    ]
