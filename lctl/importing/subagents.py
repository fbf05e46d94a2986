"""Steps of sub-agents in an imported log: each begins with its first message and ends with its last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lctl.importing.draft import Agent, Draft, Said
from lctl.state.messages import tool_results_of
from lctl.state.moments import elapsed_ms


class AgentSteps:
    """Which step each message is in. One that has not ended, as far as the source tells, stays open."""

    def __init__(self, draft: Draft, said: Sequence[Said]) -> None:
        self._draft = draft
        self._agents = draft.agents
        self._steps: dict[str, int] = {}
        self._began: dict[str, str] = {}
        self._last: dict[str, Said] = {}
        self._results: dict[str, bool] = {}  # call id -> whether it failed
        if not draft.agents:
            return
        for one in said:
            name = conversation_of(one)
            if name in self._agents:
                self._last[name] = one
            for result in tool_results_of(one.message):
                self._results[str(result["call_id"])] = bool(result["is_error"])

    def begun(self, said: Said) -> dict[str, Any] | None:
        """Data of the `step_start` that comes before this message, if one does."""
        name = conversation_of(said)
        agent = self._agents.get(name)
        if agent is None or name in self._steps:
            return None
        return {"kind": "agent", "name": agent.name, "intent": agent.intent or agent.name}

    def open(self, said: Said, step: int) -> None:
        name = conversation_of(said)
        self._steps[name] = step
        self._began[name] = said.at

    def host(self, said: Said) -> int | None:
        """The step of the sub-agent whose tool call began this message's conversation."""
        id = said.place.get("nested_in", {}).get("message_id")
        return self.step(self._draft.message(id)) if id in self._draft else None

    def step(self, said: Said) -> int | None:
        return self._steps.get(conversation_of(said))

    def ended(self, said: Said) -> dict[str, Any] | None:
        """Data of the `step_end` that comes after this message, if one does."""
        name = conversation_of(said)
        if self._last.get(name) is not said or not self._is_over(self._agents[name]):
            return None
        data: dict[str, Any] = {
            "outcome": "error" if self._results.get(self._agents[name].call) else "success"
        }
        if self._began[name] and said.at:
            data["duration_ms"] = elapsed_ms(self._began[name], said.at)
        return data

    def _is_over(self, agent: Agent) -> bool:
        return agent.over or agent.call in self._results


def conversation_of(said: Said) -> str:
    return str(said.place.get("conversation_id", ""))
