"""Sessions of coding agents in which turns were taken back, summed up, or failed: what a model read stays its
path, the rest is a branch."""

from __future__ import annotations

from typing import Any

from lctl.training import samples
from tests.unit.importing.sources import claude_row, imported, imported_lines, lost, said, tree

Rows = list[dict[str, Any]]


def codex(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-01-01T00:00:00.000Z", "type": kind, "payload": payload}


def turn(question: str, answer: str) -> Rows:
    def message(role: str, kind: str, words: str) -> dict[str, Any]:
        return codex("response_item", type="message", role=role, content=[{"type": kind, "text": words}])

    return [
        message("user", "input_text", question),
        codex("event_msg", type="user_message", message=question),
        message("assistant", "output_text", answer),
    ]


def texts(found: Any) -> list[list[str]]:
    conversation = tree(found)
    return [[node.text for node in conversation.path(leaf.id)] for leaf in conversation.leaves]


def test_codex_turns_that_were_rolled_back_are_a_branch() -> None:
    """What the program says as the user (its environment) begins no turn."""
    environment = turn("<environment_context>", "")[:1]
    back = codex("event_msg", type="thread_rolled_back", num_turns=2)
    rows = [codex("session_meta", id="s"), *environment, *turn("q1", "a1"), *turn("q2", "a2")]
    rows += [*turn("q3", "a3"), back, *turn("q2b", "a2b")]
    found = imported_lines(rows)
    assert texts(found) == [
        ["<environment_context>", "q1", "a1", "q2", "a2", "q3", "a3"],
        ["<environment_context>", "q1", "a1", "q2b", "a2b"],
    ]
    assert found.lost == []
    found = imported_lines(
        [*rows, codex("event_msg", type="thread_rolled_back", num_turns=9), *turn("x", "y")]
    )
    assert lost(found) == {"rollback of turns that are not in the file": 1}
    assert texts(found)[-1][-3:] == ["a2b", "x", "y"]


def test_codex_rows_of_a_newer_kind_do_not_hide_the_form() -> None:
    found = imported_lines([codex("session_meta", id="s"), codex("world_state", x=1), *turn("q", "a")])
    assert found.form == "codex"
    assert lost(found) == {"world_state row: no message": 1}


HEAD = {"sessionId": "g", "projectHash": "h", "startTime": "2026-01-01T00:00:00.000Z", "kind": "main"}


def gemini(id: str, kind: str, words: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "timestamp": "2026-01-01T00:00:00.000Z", "type": kind, "content": words, **more}


def test_gemini_cli_writes_lines() -> None:
    """A message is written anew with each change of it; what was rewound is a branch."""
    tool = {
        "id": "t1", "name": "ls", "args": {}, "status": "success",
        "result": [{"functionResponse": {"id": "t1", "name": "ls", "response": {"output": "x"}}}],
    }  # fmt: skip
    counts = {"input": 9, "output": 3, "cached": 0, "thoughts": 0, "tool": 0, "total": 12}
    rows = [
        HEAD,
        gemini("1", "user", "q1"),
        gemini("2", "gemini", "", model="gemini-3-pro"),
        gemini("2", "gemini", "a1", model="gemini-3-pro", toolCalls=[tool], tokens=counts),
        {"$set": {"lastUpdated": "2026-01-01T00:00:01.000Z"}},
        gemini("3", "user", "q2"),
        gemini("4", "gemini", "a2", model="gemini-3-pro"),
        {"$rewindTo": "3"},
        gemini("5", "user", "q2b"),
        gemini("6", "gemini", "a2b", model="gemini-3-pro"),
        {"$set": {"summary": "All of it"}},
    ]
    found = imported_lines(rows)
    assert (found.form, found.lost) == ("gemini-cli", [])
    conversation = tree(found)
    assert [[node.id for node in conversation.path(leaf.id)] for leaf in conversation.leaves] == [
        ["1", "2", "2:results", "3", "4"],
        ["1", "2", "2:results", "5", "6"],
    ]
    used = [end.data.get("tokens") for end in found.log.events() if end.type == "step_end"]
    assert used[0] == {"input": 9, "output": 3, "cache_read": 0, "reasoning": 0}
    assert found.log.chain["imported"]["session"]["summary"] == "All of it"
    found = imported_lines([*rows, {"$rewindTo": "6"}])
    assert lost(found) == {"that the last messages were taken back": 1}


def test_gemini_cli_writes_its_history_anew() -> None:
    """What was changed by it is said to be lost; what comes after goes on from its end."""
    short = [gemini("1", "user", "q1"), gemini("2", "gemini", "(left out)", model="gemini-3-pro")]
    rows = [
        HEAD,
        gemini("1", "user", "q1"),
        gemini("2", "gemini", "long", model="gemini-3-pro"),
        gemini("3", "user", "q2"),
        {"$set": {"messages": short}},
        gemini("4", "user", "q3"),
    ]
    found = imported_lines(rows)
    assert texts(found) == [["q1", "(left out)", "q2"], ["q1", "(left out)", "q3"]]
    assert lost(found) == {"message as it was before the program rewrote it": 1}


def test_claude_code_shows_errors_that_no_model_reads() -> None:
    """A call that failed is one; the error is no part of what the next call read."""
    error = claude_row(
        "e1", "u1", "assistant", [{"type": "text", "text": "API Error: 529"}], isApiErrorMessage=True,
        message={"model": "<synthetic>"},
    )  # fmt: skip
    rows = [claude_row("u1", None), error, claude_row("u2", "e1"), claude_row("a1", "u2", "assistant")]
    found = imported_lines(rows)
    conversation = tree(found)
    assert said(conversation, "a1") == [("user", "u1"), ("user", "u2"), ("assistant", "a1")]
    (failed,) = [event for event in found.log.events() if event.type == "error"]
    assert failed.data["message"] == "API Error: 529"
    (row,) = samples(conversation)
    assert row.weights == [0, 0, 1]


def opencode(id: int, role: str, *parts: dict[str, Any], **info: Any) -> dict[str, Any]:
    told = {
        "id": f"m{id}",
        "role": role,
        "sessionID": "s",
        "time": {"created": 1_760_000_000_000 + id},
        **info,
    }
    if role == "assistant":
        told |= {"modelID": "claude-sonnet-4-5", "providerID": "anthropic", "finish": "stop"}
    return {"info": told, "parts": list(parts)}


def test_opencode_reads_a_summary_in_place_of_what_was_before() -> None:
    def words(said: str) -> dict[str, Any]:
        return {"type": "text", "text": said}

    messages = [
        opencode(1, "user", words("q1")),
        opencode(2, "assistant", words("a1")),
        opencode(3, "user", {"type": "compaction", "auto": True}),
        opencode(4, "assistant", words("In short"), summary=True),
        opencode(5, "user", words("q2")),
        opencode(6, "assistant", words("a2")),
    ]
    found = imported({"info": {"id": "s"}, "messages": messages})
    asked = "What did we do so far?"
    assert texts(found) == [["q1", "a1", asked, "In short"], [asked, "In short", "q2", "a2"]]
    assert found.lost == []
    assert [row.weights for row in samples(tree(found))] == [[0, 1, 0, 1], [0, 0, 0, 1]]
    found = imported({"info": {"id": "s", "revert": {"messageID": "m5"}}, "messages": messages})
    assert lost(found) == {"that the messages from here on were taken back": 1}
