"""The messages of one Claude process and the model calls that they are of."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from lctl.instrument.structure import Runs
from lctl.session.default import get_session
from lctl_integrations.claude_chains import Asked, Chain, blocks, mapping
from lctl_integrations.claude_counts import Told, counted

#: The name of the chain that is no sub-agent's.
MAIN = ""


class Calls:
    """Model calls of one process. Every method is called in the order of the messages.

    Attributes:
        session: what they are recorded into; None where nothing is.
        asked: what answers asked for of tools, by the calls' ids, until it is there.
        told: what has been counted of them.
    """

    def __init__(self, runs: Runs, key: Callable[[str], Hashable]) -> None:
        """
        Args:
            key: of the run of a chain, by its name.
        """
        self._runs = runs
        self._key = key
        self.session = get_session()
        self.asked: dict[str, Asked] = {}
        self.told = Told()

    def message(self, chain: Chain, said: dict[str, Any], step: int | None = None, **more: Any) -> str:
        """A message below the chain's last one; in the model call `step`, or in the agent's step."""
        session = self.session
        if session is None:
            return ""
        kept = {"role": str(said.get("role") or "user"), "content": said.get("content")}
        parent, place = chain.leaf, chain.place
        with self._runs.within(self._key(chain.name)) as frame:
            at = step if step is not None else None if frame is None else frame.step

            def build(first: int) -> list[Any]:
                data = {"message_id": f"m{first}", "parent_id": parent, **kept, **place, **more}
                return [("message", chain.agent, data, at)]

            id = f"m{session.emit_many(build)}"
        chain.leaf = id
        chain.at = self.now()
        return id

    def answer(self, chain: Chain, said: dict[str, Any]) -> None:
        """One message of the process is one block of the model's answer, or more."""
        response = str(said.get("id") or "")
        if chain.step is not None and (response != chain.response or not response):
            self.end(chain)
        if said.get("model") == "<synthetic>":  # said in the model's place
            self.message(chain, said)
            return
        late = chain.told if chain.step is None and response and response == chain.response else None
        if chain.step is None and late is None:
            self._begin(chain, said, response)
        began = chain.at
        id = self.message(chain, said, late or chain.step, sampled=True)
        chain.at = began
        chain.last = id
        if not chain.final:
            chain.usage = {**chain.usage, **mapping(said.get("usage"))}
            chain.final = said.get("stop_reason") is not None
        chain.reason = said.get("stop_reason") or chain.reason
        for block in blocks(said):
            if block.get("type") in ("tool_use", "server_tool_use", "mcp_tool_use"):
                call = str(block.get("id"))
                self.asked[call] = Asked(
                    chain.name, str(block.get("name")), block.get("input"), id, self.now()
                )

    def _begin(self, chain: Chain, said: dict[str, Any], response: str) -> None:
        if self.session is None:
            return
        chain.response, chain.model = response, said.get("model")
        data = {
            "kind": "llm", "intent": "messages", "model": chain.model, "provider": "anthropic",
            "operation": "messages", "prompt": chain.leaf,
        }  # fmt: skip
        kept = {key: value for key, value in data.items() if value is not None}
        with self._runs.within(self._key(chain.name)):
            chain.step = self.session.emit("step_start", kept, agent=chain.agent)

    def end(self, chain: Chain, rest: dict[str, int] | None = None) -> None:
        """The answer is whole: something else follows it. `rest`: tokens of the turn that no call told."""
        if chain.step is None or self.session is None:
            return
        tokens = counted(chain)
        data: dict[str, Any] = {
            "outcome": "success", "message": chain.last, "model": chain.model, "response_id": chain.response,
            "finish_reason": chain.reason, "tokens": tokens or None,
            "duration_ms": round((self.now() - chain.at) / 1e6, 3),
        }  # fmt: skip
        if rest:
            data["tokens"] = {name: tokens.get(name, 0) + rest.get(name, 0) for name in {**tokens, **rest}}
            data["counts"] = "turn"
        kept = {key: value for key, value in data.items() if value not in (None, "")}
        self.session.emit("step_end", kept, agent=chain.agent, step=chain.step)
        self.told.add(tokens, main=chain.name == MAIN)
        chain.told = chain.step
        chain.step, chain.usage, chain.reason, chain.final = None, {}, None, False
        chain.at = self.now()

    def piece(self, chain: Chain, event: dict[str, Any]) -> None:
        """Of a partial message only what the whole ones do not tell: usage and finish reason."""
        if event.get("type") == "message_start":
            self.end(chain)
            chain.usage, chain.final = dict(mapping(mapping(event.get("message")).get("usage"))), False
        elif event.get("type") == "message_delta":
            known = {k: v for k, v in mapping(event.get("usage")).items() if v is not None}
            chain.usage, chain.final = {**chain.usage, **known}, True
            chain.reason = mapping(event.get("delta")).get("stop_reason") or chain.reason

    def now(self) -> int:
        return 0 if self.session is None else self.session.clock.monotonic_ns()
