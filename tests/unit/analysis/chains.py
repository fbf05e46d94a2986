"""Logs written for tests: what a recorder would write, with every number chosen."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from lctl.analysis.diff import Diff, diff
from lctl.codec import Log, open_log

START = datetime(2026, 1, 1, tzinfo=UTC)


def log_of(events: list[dict[str, Any]], chain_id: str = "test", **chain: Any) -> Log:
    """The log a journal of these events is; with what else its header says."""
    head = b'{"lctl":"4.0","chain":' + orjson.dumps({"id": chain_id, **chain}) + b',"events":[\n'
    return open_log(head + b",\n".join(orjson.dumps(event) for event in events) + b"\n]}\n")


class Script:
    """Writes events; `at` is the time in milliseconds."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.at = 0.0

    def add(self, type: str, agent: str = "main", step: int | None = None, /, **data: Any) -> int:
        seq = len(self.events) + 1
        stamp = (START + timedelta(milliseconds=self.at)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        event: dict[str, Any] = {"seq": seq, "type": type, "timestamp": stamp, "agent": agent}
        if step is not None:
            event["step"] = step
        event["data"] = data
        self.events.append(event)
        return seq

    def after(self, ms: float) -> Script:
        self.at += ms
        return self

    def log(self, chain_id: str = "test") -> Log:
        return log_of(self.events, chain_id)

    def start(self, agent: str = "main", parent: int | None = None, **data: Any) -> int:
        return self.add("step_start", agent, parent, **data)

    def end(self, step: int, agent: str = "main", **data: Any) -> int:
        return self.add("step_end", agent, step, **{"outcome": "success", **data})

    def message(
        self,
        role: str,
        content: Any,
        parent: str | None,
        agent: str = "main",
        step: int | None = None,
        **data: Any,
    ) -> str:
        id = f"m{len(self.events) + 1}"
        self.add("message", agent, step, message_id=id, parent_id=parent, role=role, content=content, **data)
        return id

    def call(
        self,
        prompt: str,
        answer: Any,
        agent: str = "main",
        step: int | None = None,
        *,
        ms: float = 100.0,
        model: str = "gpt-4o",
        tokens: dict[str, int] | None = None,
        salt: str = "x",
        **data: Any,
    ) -> str:
        """A model call as it is captured; the id of the answer. `salt` makes up what a provider makes up."""
        llm = self.start(
            agent, step, kind="llm", intent="chat.completions", model=model, provider="openai", prompt=prompt
        )
        self.after(ms)
        self.add(
            "exchange", agent, llm, attempt=1, method="POST", url="https://api.openai.com/v1/chat/completions",
            request={"hash": f"sha256:{salt}", "size": 10}, status=200,
            headers={"x-request-id": f"req_{salt}"}, body=salt, complete=True, duration_ms=ms,
        )  # fmt: skip
        id = self.message("assistant", answer, prompt, agent, llm, sampled=True, status="complete")
        self.end(
            llm, agent, message=id, model=model, response_id=f"chatcmpl-{salt}", finish_reason="stop",
            tokens=tokens or {"input": 10, "output": 5}, duration_ms=ms, **data,
        )  # fmt: skip
        return id


def renumbered(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same events with seqs 1, 2, 3 ... and everything that names a seq following."""
    seqs = {event["seq"]: n for n, event in enumerate(events, 1)}
    ids = {f"m{old}": f"m{new}" for old, new in seqs.items()}
    result = []
    for n, event in enumerate(events, 1):
        data = {
            key: ids.get(value, value)
            if key in ("message_id", "parent_id", "prompt", "message") and value
            else value
            for key, value in event["data"].items()
        }
        event = {**event, "seq": n, "data": data}
        if "step" in event:
            event["step"] = seqs.get(event["step"], event["step"])
        result.append(event)
    return result


def spec_example() -> Script:
    """The protocol's own stats and bottleneck example: three agents, 45.2 s."""
    script = Script()
    work = [
        ("code-analyzer", "analyze", 15_000, {"input": 500, "output": 200}),
        ("security-reviewer", "assess", 22_500, {"input": 600, "output": 340}),
        ("fix-implementer", "fix", 7_700, {"input": 400, "output": 300}),
    ]
    for agent, intent, ms, tokens in work:
        script.add("step_start", agent, intent=intent, input_summary=f"for {agent}")
        if agent == "code-analyzer":
            script.add(
                "fact_added", agent, id="F1", text="SQL query from user input", confidence=0.85, source="s"
            )
            script.add("fact_added", agent, id="F2", text="Another", confidence=0.90, source="s")
            script.add(
                "tool_call", agent, tool="grep", input={"pattern": "x"}, output={"matches": 3}, duration_ms=50
            )
        if agent == "security-reviewer":
            script.add("fact_modified", agent, id="F1", text="CONFIRMED", confidence=0.84, reason="r")
            script.add("fact_read", agent, facts=["F1"])
            script.add(
                "error", agent, category="execution_error", type="timeout", message="slow", recoverable=True
            )
        script.after(ms)
        script.add("step_end", agent, outcome="success", output_summary="done", duration_ms=ms, tokens=tokens)
    return script


def diff_of(left: list[dict[str, Any]], right: list[dict[str, Any]]) -> Diff:
    return diff(log_of(left), log_of(right))
