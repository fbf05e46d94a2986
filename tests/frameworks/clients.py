"""Programs of model clients: run as they are, recorded, and run again with the server gone."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lctl.testing import Fault, ModelServer, Reply
from lctl.testing.request import Request
from tests.rerun.harness import LCTL, Result, run

PROGRAMS = Path(__file__).parent / "programs"


@dataclass
class Told:
    """What a log says."""

    events: list[dict[str, Any]]

    def of(self, *types: str) -> list[dict[str, Any]]:
        return [event["data"] for event in self.events if event["type"] in types]

    def steps(self, kind: str = "llm") -> list[dict[str, Any]]:
        """Begin and end of each step of a kind, as one."""
        ends = {e["step"]: e["data"] for e in self.events if e["type"] == "step_end"}
        starts = [e for e in self.events if e["type"] == "step_start" and e["data"]["kind"] == kind]
        return [{**start["data"], **ends[start["seq"]]} for start in starts]

    def outline(self) -> list[str]:
        """Each event in a few words; pieces of one call on lines of their own."""
        return [line for event in self.events if (line := _line(event["type"], event["data"]))]


@dataclass
class Played:
    """What the runs of one program left; `requests` is how many the server got of the recorded one."""

    plain: Result
    first: Result
    again: Result
    requests: int

    def check(self) -> None:
        """lctl changes nothing, each request is recorded once, and the recording runs again offline."""
        codes = self.plain.code, self.first.code, self.again.code
        assert codes == (0, 0, 0), (self.plain.err, self.first.err, self.again.err)
        assert self.first.out == self.plain.out == self.again.out
        assert "could not record" not in self.first.err
        assert "rerun exact" in self.again.err
        assert self.again.events == self.first.events
        assert self.requests == len(Told(self.first.events).of("exchange"))


def play(program: str, folder: Path) -> Played:
    path, log, again = PROGRAMS / program, folder / "first.lctl.json", folder / "again.lctl.json"
    environ: dict[str, str] = {}
    runs: list[Result] = []
    # A server each: what it makes up depends on how often the same was asked before.
    for command in ([sys.executable, str(path)], [*LCTL, "run", "--output", str(log), str(path)]):
        with ModelServer(seed=3) as server:
            server.reply(answer, times=None)
            quiet = {"HAYSTACK_TELEMETRY_ENABLED": "False"}
            environ = {**server.environ, **quiet, "LCTL_DIR": str(folder / "runs"), "LCTL_STRICT": "1"}
            runs.append(run(command, folder, environ, log))
            requests = server.count
    plain, first = runs
    command = [*LCTL, "rerun", str(log), "-o", str(again)]
    return Played(plain, first, run(command, folder, environ, again), requests)


def answer(request: Request) -> Reply | Fault | str:
    """Weather is asked of a tool, twice; stories are thought about; overloads stay."""
    text, done = request.last_text, request.tool_results
    if "eather" in text and not done:
        calls = [("weather", {"city": "Rome"}), ("weather", {"city": "Atlantis"})]
        return Reply("", tool_calls=calls, reasoning="They want weather.")
    if "Overload" in text:
        return Fault(503)
    if "story" in text:
        return Reply("Once upon a time there was one.", reasoning="A story then.")
    return f"Answer to {text} ({len(done)})"


def _line(kind: str, data: dict[str, Any]) -> str:
    match kind:
        case "step_start":
            return f"{data['kind']} {data['operation']}{' streamed' if data.get('stream') else ''}"
        case "step_end":
            counts = [
                f"{name} {count}" for name, count in (data.get("tokens") or {}).items() if name != "total"
            ]
            return " ".join(["/", data["outcome"], *filter(None, [data.get("finish_reason")]), *counts])
        case "message":
            return f"  {data['role']}: {_words(data)}"
        case "tool_call":
            return f"tool {data['tool']} {data['input']} = {data.get('output', 'failed')}"
        case "exchange":
            return f"  {data['http']} {data['status']}"
        case "error":
            return f"  error {data['type']}"
    return ""


def _words(data: dict[str, Any]) -> str:
    said = []
    for part in data["parts"]:
        calls = part.get("functionCall") or part.get("functionResponse")
        thought = "thought: " if part.get("thought") else ""
        said.append(f"[{calls['name']}]" if calls else thought + part["text"])
    return " | ".join(said)
