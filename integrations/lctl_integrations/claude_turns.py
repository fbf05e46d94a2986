"""The messages of one Claude process as events: turns, model calls, tool calls, sub-agents."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from lctl.instrument.structure import Runs
from lctl.session.runs.steps import StepScope
from lctl_integrations.claude_calls import MAIN, Calls
from lctl_integrations.claude_chains import Asked, Chain, blocks, mapping
from lctl_integrations.claude_counts import counted

AGENT = "claude"


class Turns:
    """What one process says and is told. Every method is called in the order of the messages."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._calls = Calls(runs, self._key)
        self._asked = self._calls.asked
        self._chains: dict[str, Chain] = {}
        self._answers: dict[str, dict[str, Any]] = {}
        self._turn_open = False

    # -- keys of runs ----------------------------------------------------------------------

    def _key(self, chain: str) -> Hashable:
        return id(self), chain

    def place_of(self, call_id: str | None) -> Hashable:
        asked = self._asked.get(call_id or "")
        return self._key(asked.chain if asked is not None else MAIN)

    # -- what the program says -------------------------------------------------------------

    def sent(self, message: dict[str, Any]) -> None:
        kind = message.get("type")
        if kind == "control_response":
            response = mapping(message.get("response"))
            self._answers[str(response.get("request_id"))] = response
        elif kind == "user" and (said := mapping(message.get("message"))):
            self._begin_turn(said)
            self._calls.message(self._chain(None), said)

    def answer_to(self, request: str) -> dict[str, Any]:
        """What the program answered to a question, once."""
        return self._answers.pop(request, {})

    def _begin_turn(self, said: dict[str, Any]) -> None:
        if self._turn_open:
            return
        self._turn_open = True
        content = said.get("content")
        text = content if isinstance(content, str) else ""
        self._runs.begin(
            self._key(MAIN), AGENT, kind="agent", intent="turn", input_summary=text[:200], here=False
        )

    # -- what comes from the process -------------------------------------------------------

    def received(self, message: dict[str, Any]) -> None:
        kind = message.get("type")
        if kind in ("assistant", "user") and (said := mapping(message.get("message"))):
            parent = message.get("parent_tool_use_id")
            chain = self._chain(parent if isinstance(parent, str) else None)
            if kind == "assistant":
                self._calls.answer(chain, said)
            else:
                self._results(chain, said, mapping(message.get("tool_use_result")))
        elif kind == "stream_event":
            parent = message.get("parent_tool_use_id")
            self._calls.piece(
                self._chain(parent if isinstance(parent, str) else None), mapping(message.get("event"))
            )
        elif kind == "result":
            self._result(message)
        elif kind == "system" and message.get("subtype") == "task_notification":
            self._end_agent(str(message.get("tool_use_id")), str(message.get("status")) == "failed")

    def ended(self, error: BaseException | None) -> None:
        """The process is gone, or its messages are not read any more."""
        for chain in list(self._chains.values()):
            self._calls.end(chain)
        for name in [name for name in self._chains if name]:
            self._end_agent(name, False, outcome="aborted")
        if self._turn_open:
            self._turn_open = False
            result = {} if error is not None else {"outcome": "aborted"}
            self._runs.end(self._key(MAIN), error, **result)

    def _chain(self, parent: str | None) -> Chain:
        """The chain that a message belongs to; a sub-agent's begins with its first message."""
        name = parent or MAIN
        chain = self._chains.get(name)
        if chain is not None:
            return chain
        chain = self._chains[name] = Chain(name, AGENT, at=self._calls.now())
        asked = self._asked.get(name)
        if asked is not None:
            self._use_begins(name)
        if parent is not None:
            given = mapping(asked.input) if asked is not None else {}
            chain.agent = str(given.get("subagent_type") or "sub-agent")
            chain.place = {"conversation_id": parent}
            if asked is not None:
                chain.place["nested_in"] = {"message_id": asked.message, "tool_call_id": parent}
            intent = str(given.get("description") or chain.agent)
            above = self._key(asked.chain if asked is not None else MAIN)
            self._runs.begin(
                self._key(name), chain.agent, kind="agent", intent=intent, parent=above, here=False
            )
            if isinstance(given.get("prompt"), str):
                self._calls.message(chain, {"role": "user", "content": given["prompt"]})
        return chain

    # -- tools and sub-agents --------------------------------------------------------------

    def own_tool(self, name: str, given: dict[str, Any], said: object) -> str | None:
        """The call id of a tool that the program runs itself, which is reported where it runs."""
        fitting = (
            id for id, one in self._asked.items()
            if one.name == name and one.input == given and not one.own
        )  # fmt: skip
        id = said if isinstance(said, str) and said in self._asked else next(fitting, None)
        if id is not None:
            self._asked[id].own = True
            self._use_begins(id)
        return id

    def _use_begins(self, call: str) -> None:
        """A tool begins to run: the answer that asked for it is whole."""
        chain = self._chains.get(self._asked[call].chain)
        if chain is not None:
            self._calls.end(chain)

    def _results(self, chain: Chain, said: dict[str, Any], told: dict[str, Any]) -> None:
        self._calls.end(chain)
        for block in blocks(said):
            if block.get("type") != "tool_result":
                continue
            call = str(block.get("tool_use_id"))
            background = told.get("isAsync") is True or told.get("status") == "async_launched"
            asked = self._asked.get(call) if background else self._asked.pop(call, None)
            if asked is None:
                continue
            if not background:  # else its messages come yet
                self._end_agent(call, bool(block.get("is_error")))
            if not asked.own:
                self._tool_call(chain, call, asked, block)
        self._calls.message(chain, said)

    def _tool_call(self, chain: Chain, call: str, asked: Asked, block: dict[str, Any]) -> None:
        data = {
            "tool": asked.name,
            "input": asked.input,
            "error" if block.get("is_error") else "output": block.get("content"),
            "duration_ms": round((self._calls.now() - asked.at) / 1e6, 3),
            "call_id": call,
            "derived": True,  # it ran in the process: nothing to be served
        }
        self._runs.emit(self._key(chain.name), "tool_call", data, agent=chain.agent)

    def _end_agent(self, call: str, failed: bool, outcome: str = "success") -> None:
        self._asked.pop(call, None)
        chain = self._chains.pop(call, None)
        if chain is not None and call:
            self._calls.end(chain)
            self._runs.end(self._key(call), outcome="error" if failed else outcome)

    # -- the end of a turn -----------------------------------------------------------------

    def _result(self, message: dict[str, Any]) -> None:
        main = self._chains.get(MAIN)
        for chain in self._chains.values():
            if chain is not main:
                self._calls.end(chain)
        usage, models = mapping(message.get("usage")), mapping(message.get("modelUsage"))
        under_way = counted(main) if main is not None and main.step is not None else {}
        rest = self._calls.told.rest(usage, models, under_way)
        if main is not None and main.step is not None:
            # Messages of an answer have no final count of its output; only the turn's end has.
            self._calls.end(main, rest)
            rest = None
        cost = message.get("total_cost_usd")
        data: dict[str, Any] = {
            "outcome": "error" if message.get("is_error") else "success",
            "output": message.get("result"),
            "structured_output": message.get("structured_output"),
            "duration_ms": message.get("duration_ms"),
            "api_ms": message.get("duration_api_ms"),
            "turns": message.get("num_turns"),
            # What model calls have not told: their own messages have no final counts of output.
            "usage": usage or None,
            "model_usage": models or None,
            "tokens": rest,
        }
        if isinstance(cost, int | float):
            data["cost"] = self._calls.told.cost_of(cost)
        if message.get("is_error"):
            self._failure(message)
        self._calls.told.end_turn()
        self._turn_open = False
        kept = {key: value for key, value in data.items() if value is not None}
        self._runs.end(self._key(MAIN), **kept)

    def _failure(self, message: dict[str, Any]) -> None:
        errors = message.get("errors")
        text = "; ".join(map(str, errors)) if isinstance(errors, list) and errors else message.get("result")
        error = {
            "category": "execution_error",
            "type": str(message.get("subtype")),
            "message": str(text or message.get("subtype")),
            "recoverable": False,
        }
        self._runs.emit(self._key(MAIN), "error", error, agent=AGENT)

    # -- questions to the program ----------------------------------------------------------

    def question(self, request: dict[str, Any]) -> StepScope | None:
        """The step of a hook or a permission question; None of anything else."""
        kind = request.get("subtype")
        if self._calls.session is None or kind not in ("hook_callback", "can_use_tool"):
            return None
        given = mapping(request.get("input"))
        call = request.get("tool_use_id")
        if kind == "can_use_tool":
            intent, shown = f"permission {request.get('tool_name')}", given
        else:
            intent = f"hook {given.get('hook_event_name') or 'callback'}"
            shown = {key: given[key] for key in ("tool_name", "tool_input", "prompt") if key in given}
        if call in self._asked:
            self._use_begins(str(call))
        with self._runs.within(self.place_of(call if isinstance(call, str) else None)) as frame:
            agent = frame.agent if frame is not None else AGENT
            return self._calls.session.step(agent, intent, kind="task", input=shown or None).begin()
