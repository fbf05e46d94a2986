"""Hook lines as rows of a session, as Claude Code itself writes them: for a session whose own file is not
there. What no hook is told is missing: the text between tool calls, and what the model calls used."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from lctl.claudecode.spool import HookLine, Spool
from lctl.importing.source import Row
from lctl.importing.values import as_json, mapping, text

#: Names that the tool which starts a sub-agent goes by.
AGENT_TOOLS = ("Agent", "Task")


def rows_of(spool: Spool) -> list[Row]:
    """The rows: every prompt, tool call, result, last word and sub-agent that a hook told of."""
    making = _Rows(spool.session)
    for line in spool.lines:
        making.take(line)
    return making.rows


def moment(at: int) -> str:
    """Nanoseconds since the epoch, as Claude Code writes a time."""
    return datetime.fromtimestamp(at / 1e9, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


class _Rows:
    def __init__(self, session: str) -> None:
        self.rows: list[Row] = []
        self._session = session
        self._leaf: dict[str, str] = {}  # sub-agent ("" of none) -> its newest row
        self._calls: set[str] = set()
        self._waiting: list[tuple[str, dict[str, Any]]] = []  # calls that may start a sub-agent, with input
        self._agents: dict[str, str] = {}  # sub-agent -> the call that started it

    def take(self, line: HookLine) -> None:
        match line.event:
            case "UserPromptSubmit":
                self._say(line, "user", line.text("prompt"))
            case "PreToolUse":
                self._call(line)
            case "PostToolUse" | "PostToolUseFailure":
                self._result(line)
            case "SubagentStart":
                self._begin(line)
            case "SubagentStop" | "Stop":
                words = line.text("last_assistant_message")
                if words:
                    self._say(line, "assistant", words)

    def _call(self, line: HookLine) -> None:
        id, name, given = line.text("tool_use_id"), line.text("tool_name"), line.hook.get("tool_input")
        if not id or id in self._calls:
            return
        self._calls.add(id)
        if name in AGENT_TOOLS:
            self._waiting.append((id, mapping(given)))
        self._say(line, "assistant", [{"type": "tool_use", "id": id, "name": name, "input": given}])

    def _result(self, line: HookLine) -> None:
        self._call(line)  # where the hooks came in while the tool ran
        failed = line.event == "PostToolUseFailure"
        response = line.text("error") if failed else line.hook.get("tool_response")
        block: dict[str, Any] = {
            "type": "tool_result",
            "tool_use_id": line.text("tool_use_id"),
            "content": words_of(response),
        }
        if failed:
            block["is_error"] = True
        self._say(line, "user", [block], toolUseResult=response)

    def _begin(self, line: HookLine) -> None:
        """The sub-agent's prompt is that of the oldest call that asked for one of its kind."""
        agent, kind = line.text("agent_id"), line.text("agent_type")
        if not agent or agent in self._agents:
            return
        fitting = [one for one in self._waiting if text(one[1].get("subagent_type")) in (kind, "")]
        call, given = fitting[0] if fitting else ("", {})
        if fitting:
            self._waiting.remove(fitting[0])
        self._agents[agent] = call
        meta = {"type": "meta", "agentId": agent, "agentType": kind, "toolUseId": call}
        self.rows.append(Row(f"agent-{agent}.meta.json", meta))
        prompt = text(given.get("prompt"))
        if prompt:
            self._say(line, "user", prompt)

    def _say(self, line: HookLine, role: str, content: object, **more: object) -> None:
        agent = line.text("agent_id")
        id = f"hook:{line.line}" if role == "user" else f"hook:{line.line}a"
        row: dict[str, Any] = {
            "uuid": id,
            "parentUuid": self._leaf.get(agent),
            "sessionId": self._session,
            "timestamp": moment(line.at),
            "cwd": line.text("cwd") or None,
            "type": role,
            "message": {"role": role, "content": content},
            **more,
        }
        if agent:
            row |= {"isSidechain": True, "agentId": agent}
        self._leaf[agent] = id
        self.rows.append(Row(f"hook {line.line}", row))


def words_of(response: object) -> str:
    """A tool's response as the text that the model reads, as near as hooks tell it."""
    if isinstance(response, dict):
        for key in ("stdout", "content", "result", "text"):
            if isinstance(response.get(key), str) and response[key]:
                return str(response[key])
        parts = response.get("content")
        if isinstance(parts, list):
            return words_of(parts)
    if isinstance(response, list) and all(isinstance(part, dict) and "text" in part for part in response):
        return "".join(text(part.get("text")) for part in response)
    return as_json(response)
