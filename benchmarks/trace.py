"""A synthetic log of any length, of the shape recorded agents leave: the same seed gives the same bytes.

Six agents take turns, each turn a step with two model calls inside, messages, a tool call, facts stated
and revised; now and then an error or a checkpoint. A model call is recorded as always: its step, the
exchange behind it, the sampled message. Nine event types, about 311 bytes an event.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

AGENTS = ("planner", "code-analyzer", "security-reviewer", "fix-implementer", "tester", "writer")
MODELS = ("gpt-5-mini", "claude-sonnet-4-5", "gpt-5")
TOOLS = ("grep", "read_file", "run_tests", "web_search", "python")
_WORDS = re.findall(
    r"\w+",
    "the query reads user input before it is checked and so the handler must bind parameters "
    "line file test passes fails result review confirm patch apply token limit cache index",
)

Draft = tuple[str, str, int | None, dict[str, Any]]  # type, agent, step, data


class Trace:
    """Lines of the events of one chain. `prose` scales the length of messages (1.0: 311 bytes an event)."""

    def __init__(self, seed: int = 7, prose: float = 1.0) -> None:
        self._random = random.Random(seed)
        self._prose = prose
        self._text = " ".join(self._random.choice(_WORDS) for _ in range(20_000))
        self._seq = 0
        self._us = 0
        self._tips: dict[str, str | None] = dict.fromkeys(AGENTS)
        self._facts: list[str] = []

    def lines(self, events: int) -> Iterator[bytes]:
        """The first `events` lines, without commas and line ends."""
        made = 0
        while True:
            for line in self._turn():
                if made == events:
                    return
                yield line
                made += 1

    def _line(self, type: str, agent: str, step: int | None, data: dict[str, Any]) -> bytes:
        self._seq += 1
        self._us += self._random.randrange(200, 90_000)
        seconds, us = divmod(self._us, 1_000_000)
        minutes, second = divmod(seconds, 60)
        hours, minute = divmod(minutes, 60)
        day, hour = divmod(hours, 24)
        month, day = divmod(day, 28)
        stamp = f"2026-{month % 12 + 1:02d}-{day + 1:02d}T{hour:02d}:{minute:02d}:{second:02d}.{us:06d}Z"
        event: dict[str, Any] = {"seq": self._seq, "type": type, "timestamp": stamp, "agent": agent}
        if step is not None:
            event["step"] = step
        event["data"] = data
        return orjson.dumps(event)

    def _words(self, low: int, high: int) -> str:
        length = int(self._random.randint(low, high) * self._prose)
        at = self._random.randrange(len(self._text) - length)
        return self._text[at : at + length]

    def _message(self, agent: str, step: int | None, role: str, content: str, **more: Any) -> bytes:
        id = f"m{self._seq + 1}"
        data = {"message_id": id, "parent_id": self._tips[agent], "role": role, "content": content, **more}
        self._tips[agent] = id
        return self._line("message", agent, step, data)

    def _call(self, agent: str, turn: int, *, tool: str | None) -> Iterator[bytes]:
        """One model call. With `tool`, its answer is a call of that tool."""
        model = self._random.choice(MODELS)
        prompt = self._tips[agent]
        data = {"kind": "llm", "intent": "chat.completions", "model": model, "provider": "openai"}
        yield self._line(
            "step_start",
            agent,
            turn,
            {**data, "prompt": prompt, "params": {"temperature": 0.2}, "tools": "t1"},
        )
        step = self._seq
        asked = {"tool_calls": [{"id": f"call_{step}", "function": {"name": tool, "arguments": "{}"}}]}
        answer = self._words(60, 260)
        yield self._exchange(agent, step, answer)
        yield self._message(agent, step, "assistant", answer, sampled=True, **(asked if tool else {}))
        tokens = {"input": self._random.randrange(300, 9000), "output": self._random.randrange(20, 900)}
        ended = {"outcome": "success", "message": self._tips[agent], "model": model, "finish_reason": "stop"}
        yield self._line(
            "step_end",
            agent,
            step,
            {**ended, "tokens": tokens, "duration_ms": self._random.randrange(300, 9000)},
        )

    def _exchange(self, agent: str, step: int, answer: str) -> bytes:
        body = {"id": f"chatcmpl-{step}", "choices": [{"message": {"content": answer}}]}
        sent = {
            "hash": f"sha256:{self._random.getrandbits(256):064x}",
            "size": self._random.randrange(900, 90_000),
        }
        data = {
            "attempt": 1,
            "method": "POST",
            "url": "https://api.openai.com/v1/chat/completions",
            "http": "httpx",
            "request": sent,
            "status": 200,
            "headers": {"x-request-id": f"req_{step}"},
            "body": orjson.dumps(body).decode(),
            "complete": True,
            "duration_ms": self._random.randrange(300, 9000),
        }
        return self._line("exchange", agent, step, data)

    def _turn(self) -> Iterator[bytes]:
        draw = self._random
        agent = draw.choice(AGENTS)
        if self._tips[agent] is not None and draw.random() < 0.02:
            self._tips[agent] = None  # a new conversation
        yield self._line(
            "step_start",
            agent,
            None,
            {"kind": "agent", "intent": "review", "input_summary": self._words(20, 120)},
        )
        turn = self._seq
        yield self._message(agent, turn, "user", self._words(40, 220))
        tool = draw.choice(TOOLS)
        yield from self._call(agent, turn, tool=tool)
        output = self._words(40, 160)
        used = {
            "tool": tool,
            "input": {"pattern": self._words(10, 40)},
            "output": {"text": output, "matches": 3},
        }
        yield self._line("tool_call", agent, turn, {**used, "duration_ms": draw.randrange(5, 4000)})
        yield self._message(agent, turn, "tool", output, tool_call_id=f"call_{turn}")
        yield from self._call(agent, turn, tool=None)
        if draw.random() < 0.8:
            id = f"F{len(self._facts) + 1}"
            self._facts.append(id)
            said = {"id": id, "text": self._words(40, 140), "confidence": draw.randrange(40, 100) / 100}
            yield self._line("fact_added", agent, turn, {**said, "source": tool})
        if self._facts and draw.random() < 0.6:
            changed = {"id": draw.choice(self._facts), "confidence": draw.randrange(40, 100) / 100}
            yield self._line("fact_modified", agent, turn, {**changed, "reason": "verified_by_consensus"})
        if draw.random() < 0.15:
            failed = {"category": "execution_error", "type": "timeout", "message": self._words(40, 120)}
            yield self._line("error", agent, turn, {**failed, "recoverable": True})
        if draw.random() < 0.05:
            yield self._line(
                "checkpoint", "system", None, {"state_hash": f"sha256:{draw.getrandbits(256):064x}"}
            )
        ended = {"outcome": "success", "output_summary": self._words(20, 100)}
        yield self._line("step_end", agent, turn, {**ended, "duration_ms": draw.randrange(900, 30_000)})


def write_trace(path: Path, events: int, *, seed: int = 7, prose: float = 1.0) -> int:
    """A whole file of the format; its size in bytes."""
    from hashlib import sha256

    digest = sha256()
    with path.open("wb") as file:
        file.write(b'{"lctl":"4.0","chain":{"id":"trace"},"events":[')
        separator = b"\n"
        for line in Trace(seed, prose).lines(events):
            file.write(separator + line)
            digest.update(line + b"\n")
            separator = b",\n"
        tail = {"algorithm": "sha256", "events": digest.hexdigest(), "count": events}
        file.write(b'\n],"state":{},"summary":{"events":%d},"hash":' % events + orjson.dumps(tail) + b"}\n")
    return path.stat().st_size
