"""A session of Claude Code as it comes to pass: what its file says, and what its hooks are told."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lctl.claudecode import settings
from tests.unit.importing.sources import result, task

Told = dict[str, Any]
SESSION = "5e551044-0000-4000-8000-00000000cafe"


@dataclass
class Session:
    """Rows are appended to the file at once; hooks are kept for `fire`, or fired at once where it is live."""

    project: Path
    id: str = SESSION
    live: bool = False
    hooks: list[Told] = field(default_factory=list)
    _second: int = 0

    @property
    def transcript(self) -> Path:
        return self.project / "projects" / f"{self.id}.jsonl"

    def row(self, id: str, parent: str | None, role: str, content: object, **more: Any) -> None:
        agent = more.get("agentId")
        path = self.transcript if agent is None else self._agents / f"agent-{agent}.jsonl"
        message: dict[str, Any] = {"role": role, "content": content}
        if role == "assistant":
            usage = {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 2}
            message |= {"id": f"msg_{id}", "model": "claude-sonnet-4-5", "usage": usage}
        self._second += 1
        now = datetime.now(UTC).isoformat() if self.live else f"2026-01-01T00:00:{self._second:02}.000Z"
        row = {
            "uuid": id, "parentUuid": parent, "sessionId": self.id, "type": role, "message": message,
            "isSidechain": agent is not None, "timestamp": now,
        }  # fmt: skip
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as file:
            file.write(json.dumps({**row, **more}) + "\n")

    @property
    def _agents(self) -> Path:
        return self.transcript.with_suffix("") / "subagents"

    def told(self, event: str, **more: Any) -> None:
        self.hooks.append(
            {
                "session_id": self.id,
                "transcript_path": str(self.transcript),
                "cwd": str(self.project),
                "hook_event_name": event,
                **more,
            }
        )
        if self.live:
            fire(self.hooks[-1:], self.project)

    def used(self, call: str, name: str, given: Told, response: object, **more: Any) -> None:
        about = {"tool_name": name, "tool_input": given, "tool_use_id": call, **more}
        self.told("PreToolUse", **about)
        self.told("PostToolUse", **about, tool_response=response, duration_ms=7)


def worked(project: Path, *, live: bool = False) -> Session:
    """A prompt, a file read, a sub-agent that calls an MCP tool, a file edited, the last word."""
    s = Session(project, live=live)
    s.told("SessionStart", source="startup", model="claude-sonnet-4-5")
    s.row("u1", None, "user", "fix the parser")
    s.told("UserPromptSubmit", prompt="fix the parser")
    read = {"file_path": "parser.py"}
    s.row("a1", "u1", "assistant", [{"type": "tool_use", "id": "t1", "name": "Read", "input": read}])
    s.row("r1", "a1", "user", [result("t1", "x = 1")], toolUseResult={"type": "text"})
    s.used("t1", "Read", read, {"type": "text", "file": {"content": "x = 1"}})
    s.row("a2", "r1", "assistant", [task("t2", "who calls it?")])
    ask = {"tool_name": "Task", "tool_input": task("t2", "who calls it?")["input"], "tool_use_id": "t2"}
    s.told("PreToolUse", **ask)
    s.told("SubagentStart", agent_id="b7", agent_type="Explore")
    inside: Told = {"agentId": "b7"}
    s.row("s1", None, "user", "who calls it?", **inside)
    find = {"symbol": "parse"}
    block = {"type": "tool_use", "id": "t3", "name": "mcp__code__find", "input": find}
    s.row("s2", "s1", "assistant", [block], **inside)
    s.row("s3", "s2", "user", [result("t3", "main.py")], **inside)
    said = [{"type": "text", "text": "main.py"}]
    s.used("t3", "mcp__code__find", find, said, agent_id="b7", agent_type="Explore")
    s.row("s4", "s3", "assistant", "main.py calls it", **inside)
    s.told("SubagentStop", agent_id="b7", agent_type="Explore", last_assistant_message="main.py calls it")
    s.row("r2", "a2", "user", [result("t2", "main.py calls it")], toolUseResult={"agentId": "b7"})
    s.told("PostToolUse", **ask, tool_response={"agentId": "b7", "content": said}, duration_ms=900)
    change = {"file_path": "parser.py", "old_string": "1", "new_string": "2"}
    s.row("a3", "r2", "assistant", [{"type": "tool_use", "id": "t4", "name": "Edit", "input": change}])
    s.told("PermissionRequest", tool_name="Edit", tool_input=change)
    patch = [{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-x = 1", "+x = 2"]}]
    done = {"filePath": "parser.py", "structuredPatch": patch}
    s.row("r3", "a3", "user", [result("t4", "edited")], toolUseResult=done)
    s.used("t4", "Edit", change, done)
    s.row("a4", "r3", "assistant", "Done.")
    s.told("Stop", last_assistant_message="Done.", stop_hook_active=False)
    s.told("SessionEnd", reason="exit")
    return s


def start(told: Told | bytes, project: Path) -> subprocess.Popen[bytes]:
    """The hook as Claude Code starts it: by a shell, what it is told on standard input."""
    process = subprocess.Popen(
        settings.command(), shell=True, cwd=project,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(told if isinstance(told, bytes) else json.dumps(told).encode())
    process.stdin.close()
    process.stdin = None
    return process


def fire(told: list[Told], project: Path) -> None:
    """One after the other; each says nothing and lets Claude Code go on."""
    for one in told:
        process = start(one, project)
        assert (*process.communicate(), process.returncode) == (b"", b"", 0)
