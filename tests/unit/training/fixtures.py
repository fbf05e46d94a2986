"""Conversations as raw events, each with the break that it is named for."""

from __future__ import annotations

from typing import Any

from lctl.training import Sample, samples
from tests.unit.conversation.events import Log

#: The call behind every answer that says nothing else.
CALL: dict[str, Any] = {"model": "m", "finish_reason": "stop", "usage": {"input": 10, "output": 4}}


class Talk(Log):
    """A log whose answers are sampled: `a` is an answer of the model, `tell` any other message."""

    def a(
        self, id: str, parent: str | None, *, model: str = "m", tools: str | None = None, **data: Any
    ) -> Talk:
        call = {**CALL, "model": model, **({"tools": tools} if tools else {}), **data.pop("call", {})}
        self.say(id, parent, role="assistant", sampled=True, call=call, **data)
        return self

    def tell(self, id: str, parent: str | None, **data: Any) -> Talk:
        self.say(id, parent, **data)
        return self

    def rows(self, **options: Any) -> list[Sample]:
        return list(samples(self.tree, **options))


def start() -> Talk:
    """s1 u1 a1 u2 a2."""
    return Talk().tell("s1", None).tell("u1", "s1").a("a1", "u1").tell("u2", "a1").a("a2", "u2")


def tokens(prompt: list[int], completion: list[int], **more: Any) -> dict[str, Any]:
    """Token ids as a call reports them, each with logprob -id/10."""
    logprobs = [-token / 10 for token in completion]
    return {"prompt_token_ids": prompt, "token_ids": completion, "logprobs": logprobs, **more}


def shape(rows: list[Sample]) -> list[tuple[str, str, str | None]]:
    """(ids, weights, break reason) of each row."""
    return [(" ".join(row.message_ids), "".join(map(str, row.weights)), row.break_reason) for row in rows]


def edit() -> Talk:
    return start().tell("u2x", "a1", fork_of="u2", carry=["a2", "a2"]).tell("u3", "u2x+1").a("a3", "u3")


def insert() -> Talk:
    return start().tell("ux", "s1", carry=["u1", "a2"]).tell("u3", "ux+4").a("a3", "u3")


def delete() -> Talk:
    talk = start()
    talk.add("message", message_id="x", parent_id="s1", role="assistant", copy_of="a1", carry=["u2", "a2"])
    return talk.tell("u3", "x+2").a("a3", "u3")


def compaction() -> Talk:
    talk = start().tell("u3", "a2").a("a3", "u3")
    return talk.tell("ux", "s1", fork_of="u1", carry=["u3", "a3"]).tell("u4", "ux+2").a("a4", "u4")


def regenerate() -> Talk:
    return start().a("a2x", "u2", fork_of="a2")


def fork() -> Talk:
    return start().tell("u2x", "a1").a("a2x", "u2x")


def tool_retry() -> Talk:
    asked = [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    talk = Talk().tell("u1", None).a("a1", "u1", tool_calls=asked)
    talk.tell("t1", "a1", tool_call_id="c1").a("a2", "t1")
    return talk.tell("t2", "a1", tool_call_id="c1").a("a3", "t2")


def tools_changed() -> Talk:
    return start().tell("u3", "a2").a("a3", "u3", tools="sha256:1")


def model_changed() -> Talk:
    return start().tell("u3", "a2").a("a3", "u3", model="n")


def reasoning_stripped() -> Talk:
    talk = Talk().tell("u1", None).a("a1", "u1", content="4", reasoning_content="2 and 2 ...")
    talk.tell("a1x", "u1", role="assistant", content="4").tell("u2", "a1x")
    return talk.a("a2", "u2", content="8")


def retokenized() -> Talk:
    talk = Talk().tell("u1", None).a("a1", "u1", call=tokens([1, 2], [3, 4]))
    return talk.tell("u2", "a1").a("a2", "u2", call=tokens([1, 2, 34, 5], [6]))


def tokens_missing() -> Talk:
    talk = Talk().tell("u1", None).a("a1", "u1", call=tokens([1, 2], [3, 4]))
    return talk.tell("u2", "a1").a("a2", "u2")


def subagent() -> Talk:
    asked = [{"id": "c1", "type": "function", "function": {"name": "ask", "arguments": "{}"}}]
    talk = Talk().tell("u1", None).a("a1", "u1", tool_calls=asked)
    nested = {"message_id": "a1", "tool_call_id": "c1"}
    talk.tell("sx", None, conversation_id="sub", nested_in=nested).tell("ux", "sx", conversation_id="sub")
    talk.a("ax", "ux", conversation_id="sub")
    return talk.tell("t1", "a1", tool_call_id="c1").a("a2", "t1")


#: Break reason -> a log that has it.
BREAKS = {
    made.__name__: made
    for made in (
        *(edit, insert, delete, compaction, regenerate, fork, tool_retry, tools_changed, model_changed),
        *(reasoning_stripped, retokenized, tokens_missing, subagent),
    )
}


def said(id: str, parent: str) -> dict[str, object]:
    data = {"message_id": id, "parent_id": parent, "role": "assistant", "content": id, "sampled": True}
    return {"type": "message", "timestamp": "2026-01-01T00:00:00Z", "agent": "a", "data": data}
