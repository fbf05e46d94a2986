"""Sessions of Codex, the Gemini CLI, OpenCode, Continue and Cline."""

from __future__ import annotations

from typing import Any

from tests.unit.importing.sources import imported, imported_lines, lost, tree


def events(found: Any, *types: str) -> list[dict[str, Any]]:
    return [dict(event.data) for event in found.log.events() if event.type in types]


def row(kind: str, second: int, **payload: Any) -> dict[str, Any]:
    return {"timestamp": f"2026-01-01T00:00:{second:02}.000Z", "type": kind, "payload": payload}


def item(second: int, kind: str, **more: Any) -> dict[str, Any]:
    return row("response_item", second, type=kind, **more)


def counted(second: int, **counts: int) -> dict[str, Any]:
    info = {"last_token_usage": counts, "total_token_usage": {"total_tokens": 999}}
    return row("event_msg", second, type="token_count", info=info)


CODEX = [
    row("session_meta", 0, id="s1", cwd="/w", cli_version="0.77.0", model_provider="openai"),
    item(0, "message", role="user", content=[{"type": "input_text", "text": "List them"}]),
    row("event_msg", 0, type="user_message", message="List them"),
    row("turn_context", 0, model="gpt-5-codex", effort="high"),
    item(1, "reasoning", summary=[{"type": "summary_text", "text": "Look"}], encrypted_content="x"),
    item(2, "function_call", name="shell", arguments='{"command":["ls"]}', call_id="c1"),
    counted(2, input_tokens=10, cached_input_tokens=4, output_tokens=5, reasoning_output_tokens=2),
    item(3, "function_call_output", call_id="c1", output="a.txt"),
    item(4, "message", role="assistant", content=[{"type": "output_text", "text": "One file."}]),
    counted(4, input_tokens=20, cached_input_tokens=0, output_tokens=3, reasoning_output_tokens=0),
    counted(5, input_tokens=20, cached_input_tokens=0, output_tokens=3, reasoning_output_tokens=0),
    row("event_msg", 5, type="turn_aborted", reason="interrupted"),
    row("compacted", 6, message="They listed files."),
    item(7, "message", role="user", content=[{"type": "input_text", "text": "Go on"}]),
]


def test_codex() -> None:
    """Items of one answer are one message and one call; its tokens are those told after it."""
    found = imported_lines(CODEX)
    assert found.form == "codex"
    conversation = tree(found)
    path = conversation["m4"].path
    assert [node.role for node in path] == ["user", "assistant", "tool", "assistant"]
    assert [node.text for node in path if node.text] == ["List them", "a.txt", "One file."]
    calls = [(s["model"], s["provider"]) for s in events(found, "step_start")]
    assert calls == [("gpt-5-codex", "openai")] * 2
    used = [end["tokens"] for end in events(found, "step_end")]
    assert used[0] == {"input": 10, "output": 5, "cache_read": 4, "reasoning": 2}
    assert used[1]["input"] == 20
    (tool,) = events(found, "tool_call")
    assert (tool["tool"], tool["input"], tool["output"]) == ("shell", {"command": ["ls"]}, "a.txt")
    assert [node.text for node in conversation["m6"].path] == ["They listed files.", "Go on"]
    assert lost(found) == {"turn_aborted event: no message": 1}
    assert found.log.chain["imported"]["session"]["cwd"] == "/w"


def test_codex_compacted_with_what_was_kept() -> None:
    """The items that a compaction keeps begin the new conversation; none of them is another call. A tool's
    result is there once, as the Responses API's are recorded."""
    kept = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "List them"}]},
        {"type": "compaction", "encrypted_content": "gAAA"},
    ]
    rows = [
        {**row, "payload": {"message": "", "replacement_history": kept}}
        if row["type"] == "compacted"
        else row
        for row in CODEX
    ]
    found = imported_lines(rows)
    conversation = tree(found)
    path = conversation["m7"].path
    assert [(node.role, node.text) for node in path] == [
        ("user", "List them"),
        ("assistant", ""),
        ("user", "Go on"),
    ]
    assert path[1].message["content"] == kept[1:]
    assert len(events(found, "step_end")) == 2
    from lctl.state.messages import tool_results_of

    assert [one["output"] for one in tool_results_of(conversation["m3"].data)] == ["a.txt"]


def test_codex_that_was_killed() -> None:
    """An answer whose tokens were never told, at the end of the file."""
    found = imported_lines(CODEX[:6])
    assert "tokens" not in events(found, "step_end")[0]
    assert len(tree(found)) == 2


GEMINI = {
    "sessionId": "g1",
    "projectHash": "79b6",
    "startTime": "2026-01-01T00:00:00.000Z",
    "messages": [
        {"id": "u1", "timestamp": "2026-01-01T00:00:00.000Z", "type": "user", "content": "List them"},
        {
            "id": "a1",
            "timestamp": "2026-01-01T00:00:02.000Z",
            "type": "gemini",
            "content": "",
            "thoughts": [{"subject": "Plan", "description": "List first."}],
            "tokens": {"input": 9, "output": 3, "cached": 2, "thoughts": 4, "tool": 0, "total": 16},
            "model": "gemini-2.5-pro",
            "toolCalls": [
                {
                    "id": "ls-1",
                    "name": "ls",
                    "args": {"path": "."},
                    "status": "success",
                    "timestamp": "2026-01-01T00:00:03.000Z",
                    "result": [{"functionResponse": {"name": "ls", "response": {"output": "a.txt"}}}],
                },
                {"id": "rm-2", "name": "rm", "args": {}, "status": "error", "error": "no", "result": []},
            ],
        },
        {"id": "i1", "type": "info", "content": "Request cancelled."},
        {"id": "a2", "type": "gemini", "content": "One file.", "model": "gemini-2.5-pro"},
    ],
}


def test_gemini_cli() -> None:
    """Thoughts, calls and results as Google's API has them; what was thought is output."""
    found = imported(GEMINI)
    assert found.form == "gemini-cli"
    conversation = tree(found)
    assert [node.role for node in conversation["a2"].path] == ["user", "model", "user", "model"]
    assert conversation["a1"].data["parts"][0] == {"text": "Plan\nList first.", "thought": True}
    ends = events(found, "step_end")
    assert ends[0]["tokens"] == {"input": 9, "output": 7, "cache_read": 2, "reasoning": 4}
    tools = [(t["tool"], t["call_id"], t.get("output"), t.get("error")) for t in events(found, "tool_call")]
    assert tools == [("ls", "ls-1", {"output": "a.txt"}, None), ("rm", "rm-2", None, {"error": "no"})]
    assert lost(found) == {"info message of the program itself": 1}


def part(kind: str, **more: Any) -> dict[str, Any]:
    return {"id": "p", "sessionID": "ses_1", "messageID": "m", "type": kind, **more}


def used(**counts: int) -> dict[str, Any]:
    return {"input": 5, "output": 2, "reasoning": 0, "cache": {"read": 3, "write": 1}, **counts}


OPENCODE = {
    "info": {"id": "ses_1", "title": "Fix", "directory": "/w"},
    "messages": [
        {
            "info": {"id": "m1", "sessionID": "ses_1", "role": "user", "time": {"created": 1767225600000}},
            "parts": [part("text", text="Fix it")],
        },
        {
            "info": {
                "id": "m2", "sessionID": "ses_1", "role": "assistant", "modelID": "claude-sonnet-4-5",
                "providerID": "anthropic", "agent": "build",
                "time": {"created": 1767225601000, "completed": 1767225609000},
            },
            "parts": [
                part("step-start"),
                part("reasoning", text="Hm"),
                part(
                    "tool", callID="c1", tool="edit",
                    state={
                        "status": "completed", "input": {"filePath": "a.py"}, "output": "done",
                        "time": {"start": 1767225602000, "end": 1767225602007},
                        "metadata": {"filediff": {"file": "a.py", "additions": 2, "deletions": 1}},
                    },
                ),
                part("tool", callID="c2", tool="bash", state={"status": "error", "input": {}, "error": "no"}),
                part("step-finish", reason="tool-calls", tokens=used()),
                part("patch", hash="h", files=["a.py"]),
                part("step-start"),
                part("text", text="Fixed."),
                part("step-finish", reason="stop", tokens=used(output=9)),
            ],
        },
    ],
}  # fmt: skip


def test_opencode() -> None:
    """Each step a call; tools with their own durations and errors; an edited file is a fact."""
    found = imported(OPENCODE)
    assert found.form == "opencode"
    (leaf,) = tree(found).leaves
    assert [node.role for node in leaf.path] == ["user", "assistant", "tool", "tool", "assistant"]
    ends = events(found, "step_end")
    assert [end["finish_reason"] for end in ends] == ["tool-calls", "stop"]
    assert ends[0]["tokens"]["input"] == 9 and ends[1]["tokens"]["output"] == 9
    edit, bash = events(found, "tool_call")
    assert (edit["tool"], edit["input"], edit["duration_ms"]) == ("edit", {"filePath": "a.py"}, 7)
    assert bash["error"] == "no"
    (fact,) = events(found, "fact_added")
    assert (fact["id"], fact["text"]) == ("file:a.py", "edited by edit (+2 -1)")
    assert lost(found) == {"patch part: no content": 1}


def test_continue() -> None:
    """Thoughts before an answer are its reasoning; calls and results are OpenAI's."""
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    answer = {"role": "assistant", "content": "", "toolCalls": [call], "id": "2"}
    history: list[dict[str, Any]] = [
        {"message": {"role": "user", "content": "Read it", "id": "1"}, "contextItems": []},
        {"message": {"role": "thinking", "content": "A file", "id": "t"}, "contextItems": []},
        {"message": answer, "promptLogs": [{"modelTitle": "gpt-5", "prompt": "p", "completion": ""}]},
        {"message": {"role": "tool", "content": "text", "toolCallId": "c1", "id": "3"}, "contextItems": []},
        {"message": {"role": "assistant", "content": "Done", "id": "4"}, "contextItems": []},
    ]
    found = imported({"sessionId": "s", "title": "t", "workspaceDirectory": "/w", "history": history})
    assert (found.form, found.lost) == ("continue", [])
    assert tree(found).transcript("m5")[1:3] == [
        {"role": "assistant", "content": "", "tool_calls": [call], "reasoning_content": "A file"},
        {"role": "tool", "content": "text", "tool_call_id": "c1"},
    ]
    assert [step.get("model") for step in events(found, "step_start")] == ["gpt-5", None]
    (tool,) = events(found, "tool_call")
    assert (tool["tool"], tool["output"]) == ("read", "text")


def test_cline() -> None:
    """A list of Anthropic's messages, in which answers have their model and what they took beside them."""
    about = {"modelInfo": {"modelId": "claude-sonnet-4-5", "providerId": "anthropic", "mode": "act"}}
    measured = {"metrics": {"tokens": {"prompt": 10, "completion": 4, "cached": 90}, "cost": 0.01}}
    said = [{"type": "text", "text": "Done"}]
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "<task>"}], "ts": 1_767_225_600_000},
        {"role": "assistant", "content": said, **about, **measured, "ts": 1_767_225_601_000},
    ]
    found = imported(messages)
    assert tree(found).transcript("m2")[1] == {"role": "assistant", "content": said}
    (end,) = events(found, "step_end")
    assert end["tokens"] == {"input": 100, "output": 4}
    assert [event.timestamp for event in found.log.events()][-1] == "2026-01-01T00:00:01.000000Z"
    assert len(lost(found)) == 1
