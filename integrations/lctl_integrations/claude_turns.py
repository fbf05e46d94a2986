"""The messages of one Claude process as events: turns, model calls, tool calls, sub-agents."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from lctl.instrument.structure import Runs
from lctl.session import LCTLSession
from lctl.session.default import get_session
from lctl.session.steps import StepScope
from lctl_integrations.claude_chains import Asked, Chain, blocks, mapping
from lctl_integrations.claude_counts import Told, counted

AGENT = "claude"
_MAIN = ""


class Turns:
    """What one process says and is told. Every method is called in the order of the messages."""

    def __init__(self, runs: Runs, transport: Any) -> None:
        self._runs = runs
        self._session: LCTLSession | None = get_session()
        self._chains: dict[str, Chain] = {}
        self._asked: dict[str, Asked] = {}
        self._answers: dict[str, dict[str, Any]] = {}
        self._told = Told()
        self._turn_open = False

    # -- keys of runs ----------------------------------------------------------------------

    def _key(self, chain: str) -> Hashable:
        return id(self), chain

    def place_of(self, call_id: str | None) -> Hashable:
        asked = self._asked.get(call_id or "")
        return self._key(asked.chain if asked is not None else _MAIN)

    # -- what the program says -------------------------------------------------------------

    def sent(self, message: dict[str, Any]) -> None:
        kind = message.get("type")
        if kind == "control_response":
            response = mapping(message.get("response"))
            self._answers[str(response.get("request_id"))] = response
        elif kind == "user" and (said := mapping(message.get("message"))):
            self._begin_turn(said)
            self._message(self._chain(None), said)

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
            self._key(_MAIN), AGENT, kind="agent", intent="turn", input_summary=text[:200], here=False
        )

    # -- what comes from the process -------------------------------------------------------

    def received(self, message: dict[str, Any]) -> None:
        kind = message.get("type")
        if kind in ("assistant", "user") and (said := mapping(message.get("message"))):
            parent = message.get("parent_tool_use_id")
            chain = self._chain(parent if isinstance(parent, str) else None)
            if kind == "assistant":
                self._answer(chain, said)
            else:
                self._results(chain, said, mapping(message.get("tool_use_result")))
        elif kind == "stream_event":
            parent = message.get("parent_tool_use_id")
            self._piece(
                self._chain(parent if isinstance(parent, str) else None), mapping(message.get("event"))
            )
        elif kind == "result":
            self._result(message)
        elif kind == "system" and message.get("subtype") == "task_notification":
            self._end_agent(str(message.get("tool_use_id")), str(message.get("status")) == "failed")

    def ended(self, error: BaseException | None) -> None:
        """The process is gone, or its messages are not read any more."""
        for chain in list(self._chains.values()):
            self._end_call(chain)
        for name in [name for name in self._chains if name]:
            self._end_agent(name, False, outcome="aborted")
        if self._turn_open:
            self._turn_open = False
            result = {} if error is not None else {"outcome": "aborted"}
            self._runs.end(self._key(_MAIN), error, **result)

    def _chain(self, parent: str | None) -> Chain:
        """The chain that a message belongs to; a sub-agent's begins with its first message."""
        name = parent or _MAIN
        chain = self._chains.get(name)
        if chain is not None:
            return chain
        chain = self._chains[name] = Chain(name, AGENT, at=self._now())
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
            above = self._key(asked.chain if asked is not None else _MAIN)
            self._runs.begin(
                self._key(name), chain.agent, kind="agent", intent=intent, parent=above, here=False
            )
            if isinstance(given.get("prompt"), str):
                self._message(chain, {"role": "user", "content": given["prompt"]})
        return chain

    # -- messages and model calls ----------------------------------------------------------

    def _message(self, chain: Chain, said: dict[str, Any], step: int | None = None, **more: Any) -> str:
        """A message below the chain's last one; in the model call `step`, or in the agent's step."""
        session = self._session
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
        chain.at = self._now()
        return id

    def _answer(self, chain: Chain, said: dict[str, Any]) -> None:
        """One message of the process is one block of the model's answer, or more."""
        response = str(said.get("id") or "")
        if chain.step is not None and (response != chain.response or not response):
            self._end_call(chain)
        if said.get("model") == "<synthetic>":  # said in the model's place
            self._message(chain, said)
            return
        late = chain.told if chain.step is None and response and response == chain.response else None
        if chain.step is None and late is None:
            self._begin_call(chain, said, response)
        began = chain.at
        id = self._message(chain, said, late or chain.step, sampled=True)
        chain.at = began
        chain.last = id
        if not chain.final:
            chain.usage = {**chain.usage, **mapping(said.get("usage"))}
            chain.final = said.get("stop_reason") is not None
        chain.reason = said.get("stop_reason") or chain.reason
        for block in blocks(said):
            if block.get("type") in ("tool_use", "server_tool_use", "mcp_tool_use"):
                call = str(block.get("id"))
                self._asked[call] = Asked(
                    chain.name, str(block.get("name")), block.get("input"), id, self._now()
                )

    def _begin_call(self, chain: Chain, said: dict[str, Any], response: str) -> None:
        if self._session is None:
            return
        chain.response, chain.model = response, said.get("model")
        data = {
            "kind": "llm", "intent": "messages", "model": chain.model, "provider": "anthropic",
            "operation": "messages", "prompt": chain.leaf,
        }  # fmt: skip
        kept = {key: value for key, value in data.items() if value is not None}
        with self._runs.within(self._key(chain.name)):
            chain.step = self._session.emit("step_start", kept, agent=chain.agent)

    def _end_call(self, chain: Chain, rest: dict[str, int] | None = None) -> None:
        """The answer is whole: something else follows it. `rest`: tokens of the turn that no call told."""
        if chain.step is None or self._session is None:
            return
        tokens = counted(chain)
        data: dict[str, Any] = {
            "outcome": "success", "message": chain.last, "model": chain.model, "response_id": chain.response,
            "finish_reason": chain.reason, "tokens": tokens or None,
            "duration_ms": round((self._now() - chain.at) / 1e6, 3),
        }  # fmt: skip
        if rest:
            data["tokens"] = {name: tokens.get(name, 0) + rest.get(name, 0) for name in {**tokens, **rest}}
            data["counts"] = "turn"
        kept = {key: value for key, value in data.items() if value not in (None, "")}
        self._session.emit("step_end", kept, agent=chain.agent, step=chain.step)
        self._told.add(tokens, main=chain.name == _MAIN)
        chain.told = chain.step
        chain.step, chain.usage, chain.reason, chain.final = None, {}, None, False
        chain.at = self._now()

    def _piece(self, chain: Chain, event: dict[str, Any]) -> None:
        """Of a partial message only what the whole ones do not tell: usage and finish reason."""
        if event.get("type") == "message_start":
            self._end_call(chain)
            chain.usage, chain.final = dict(mapping(mapping(event.get("message")).get("usage"))), False
        elif event.get("type") == "message_delta":
            known = {k: v for k, v in mapping(event.get("usage")).items() if v is not None}
            chain.usage, chain.final = {**chain.usage, **known}, True
            chain.reason = mapping(event.get("delta")).get("stop_reason") or chain.reason

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
            self._end_call(chain)

    def _results(self, chain: Chain, said: dict[str, Any], told: dict[str, Any]) -> None:
        self._end_call(chain)
        for block in blocks(said):
            if block.get("type") != "tool_result":
                continue
            call = str(block.get("tool_use_id"))
            asked = self._asked.pop(call, None)
            if asked is None:
                continue
            background = told.get("isAsync") is True or told.get("status") == "async_launched"
            if not background:
                self._end_agent(call, bool(block.get("is_error")))
            if not asked.own:
                self._tool_call(chain, call, asked, block)
        self._message(chain, said)

    def _tool_call(self, chain: Chain, call: str, asked: Asked, block: dict[str, Any]) -> None:
        data = {
            "tool": asked.name,
            "input": asked.input,
            "error" if block.get("is_error") else "output": block.get("content"),
            "duration_ms": round((self._now() - asked.at) / 1e6, 3),
            "call_id": call,
            "derived": True,  # it ran in the process: nothing to be served
        }
        self._runs.emit(self._key(chain.name), "tool_call", data, agent=chain.agent)

    def _end_agent(self, call: str, failed: bool, outcome: str = "success") -> None:
        chain = self._chains.pop(call, None)
        if chain is not None and call:
            self._end_call(chain)
            self._runs.end(self._key(call), outcome="error" if failed else outcome)

    # -- the end of a turn -----------------------------------------------------------------

    def _result(self, message: dict[str, Any]) -> None:
        main = self._chains.get(_MAIN)
        for chain in self._chains.values():
            if chain is not main:
                self._end_call(chain)
        usage, models = mapping(message.get("usage")), mapping(message.get("modelUsage"))
        under_way = counted(main) if main is not None and main.step is not None else {}
        rest = self._told.rest(usage, models, under_way)
        if main is not None and main.step is not None:
            # Messages of an answer have no final count of its output; only the turn's end has.
            self._end_call(main, rest)
            rest = None
        cost = message.get("total_cost_usd")
        data: dict[str, Any] = {
            "outcome": "error" if message.get("is_error") else "success",
            "output": message.get("result"),
            "duration_ms": message.get("duration_ms"),
            "api_ms": message.get("duration_api_ms"),
            "turns": message.get("num_turns"),
            # What model calls have not told: their own messages have no final counts of output.
            "usage": usage or None,
            "model_usage": models or None,
            "tokens": rest,
        }
        if isinstance(cost, int | float):
            data["cost"] = self._told.cost_of(cost)
        if message.get("is_error"):
            self._failure(message)
        self._told.end_turn()
        self._turn_open = False
        kept = {key: value for key, value in data.items() if value is not None}
        self._runs.end(self._key(_MAIN), **kept)

    def _failure(self, message: dict[str, Any]) -> None:
        errors = message.get("errors")
        text = "; ".join(map(str, errors)) if isinstance(errors, list) and errors else message.get("result")
        error = {
            "category": "execution_error",
            "type": str(message.get("subtype")),
            "message": str(text or message.get("subtype")),
            "recoverable": False,
        }
        self._runs.emit(self._key(_MAIN), "error", error, agent=AGENT)

    # -- questions to the program ----------------------------------------------------------

    def question(self, request: dict[str, Any]) -> StepScope | None:
        """The step of a hook or a permission question; None of anything else."""
        kind = request.get("subtype")
        if self._session is None or kind not in ("hook_callback", "can_use_tool"):
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
            return self._session.step(agent, intent, kind="task", input=shown or None).begin()

    def _now(self) -> int:
        return 0 if self._session is None else self._session.clock.monotonic_ns()
