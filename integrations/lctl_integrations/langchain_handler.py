"""LangChain's callbacks as steps. Imports langchain-core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from lctl.instrument.structure import guarded
from lctl.session import LCTLSession, default
from lctl_integrations import langchain_values as values
from lctl_integrations.langchain_models import ModelCallbacks, calls
from lctl_integrations.langchain_runs import is_left_open, locate, runs

__all__ = ["LCTLCallbackHandler", "everywhere", "forget", "locate", "runs"]

#: What is no work of the program's own: its inputs and outputs are in the model calls around it.
_PLUMBING = frozenset({"prompt", "parser"})
_HIDDEN = "langsmith:hidden"
_RETRY = "retry:attempt:"
#: What a stream's run is told to begin with, whatever it is given.
_NO_INPUT = {"input": ""}
#: By run: what stopped it, or one inside it, for a human; and to whom one inside it gave the work.
_waiting: dict[UUID, list[Any]] = {}
_handed: dict[UUID, set[str]] = {}
#: The runs that are streamed.
_streamed: set[UUID] = set()


class LCTLCallbackHandler(ModelCallbacks):
    """Records chains, graphs, agents, tools and retrievers of the runs it is given to, and of all they start.

        chain.invoke(input, config={"callbacks": [LCTLCallbackHandler()]})

    Model calls are recorded at the wire. Under `auto_instrument()` it is everywhere, and needs not be given.

    Args:
        session: what to record into; by default the one the running code is in, else the program's own,
            which is opened at the first event.
    """

    run_inline = True  # in the running code's own task, in order
    raise_error = False

    def __init__(self, session: LCTLSession | None = None) -> None:
        from lctl.instrument import ensure_installed

        self._session = session
        ensure_installed()
        if session is None and default.get_session() is None:
            default.enable()

    # -- chains, graphs and nodes ----------------------------------------------------------

    @guarded("LangChain's on_chain_start")
    def on_chain_start(
        self,
        serialized: dict[str, Any] | None,
        inputs: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **more: Any,
    ) -> None:
        if runs.knows(run_id):
            return
        name = str(more.get("name") or "chain")
        meta = metadata or {}
        tags = tags or []
        if _HIDDEN in tags or more.get("run_type") in _PLUMBING:
            runs.skip(run_id, parent_run_id)
            return
        node = meta.get("langgraph_node")
        agent = meta.get("lc_agent_name")
        data: dict[str, Any] = {}
        if inputs == _NO_INPUT:
            _streamed.add(run_id)
        if parent_run_id is None or not runs.knows(parent_run_id):
            kind = "agent" if agent is not None else "chain"
            data = _given(inputs)
            who = agent or (None if name.startswith("Runnable") else name)
        elif name == agent:  # an agent in another's tool, or in a node that may have its name
            kind, who, data["input"] = "agent", name, values.shown_state(inputs)
        elif node is not None and name == node:
            kind, who = "node", agent or name
        else:
            kind, who = "chain", agent or node
        attempt = next((tag.removeprefix(_RETRY) for tag in tags if tag.startswith(_RETRY)), None)
        if attempt is not None:
            data["attempt"] = int(attempt)
        runs.begin(
            run_id,
            who,
            kind=kind,
            intent=name,
            parent=parent_run_id,
            here=False,
            session=self._session,
            **data,
        )

    @guarded("LangChain's on_chain_end")
    def on_chain_end(
        self, outputs: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **more: Any
    ) -> None:
        waits = _waiting.pop(run_id, []) or values.interrupts_in(outputs)
        _handed.pop(run_id, None)
        is_left = run_id in _streamed and (runs.goes_on(run_id) or is_left_open(run_id))
        _streamed.discard(run_id)
        if runs.is_skipped(run_id):
            if waits and parent_run_id is not None:
                _waiting.setdefault(parent_run_id, []).extend(waits)
            runs.end(run_id)
        elif is_left:
            runs.end(run_id, GeneratorExit())
        elif runs.knows(run_id):
            for command in values.commands_in(outputs):
                for name in values.destinations(command):
                    runs.handoff(run_id, name)
            paused: dict[str, Any] = {"outcome": "paused", "interrupts": waits} if waits else {}
            runs.end(run_id, **paused, output=values.shown_state(outputs))

    @guarded("LangChain's on_chain_error")
    def on_chain_error(
        self, error: BaseException, *, run_id: UUID, parent_run_id: UUID | None = None, **more: Any
    ) -> None:
        _waiting.pop(run_id, None)
        _streamed.discard(run_id)
        handed = _handed.pop(run_id, set())
        if not runs.knows(run_id):
            return
        waits = values.interrupts_in(error)
        if waits:
            if parent_run_id is not None:  # the graph stops there, and is told to end
                _waiting.setdefault(parent_run_id, []).extend(waits)
            runs.end(run_id, outcome="paused", interrupts=waits)
        elif values.is_bubble(error):
            self._hand_up(error, run_id, parent_run_id, handed)
            runs.end(run_id)
        else:
            runs.end(run_id, error)

    def _hand_up(
        self, error: BaseException, run_id: UUID, parent_run_id: UUID | None, handed: set[str]
    ) -> None:
        """A command for the graph around this one passes through every run between: told by the first."""
        to = {name for command in values.commands_in(error) for name in values.destinations(command)}
        for name in sorted(to - handed):
            runs.handoff(run_id, name)
        if parent_run_id is not None and to:
            _handed.setdefault(parent_run_id, set()).update(to)

    # -- tools: the call itself is recorded where it is made ---------------------------------

    @guarded("LangChain's on_tool_start")
    def on_tool_start(
        self,
        serialized: dict[str, Any] | None,
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **more: Any,
    ) -> None:
        if not runs.knows(run_id):
            runs.skip(run_id, parent_run_id)

    @guarded("LangChain's on_tool_end")
    def on_tool_end(self, output: Any, *, run_id: UUID, **more: Any) -> None:
        runs.end(run_id)

    @guarded("LangChain's on_tool_error")
    def on_tool_error(self, error: BaseException, *, run_id: UUID, **more: Any) -> None:
        runs.end(run_id)

    # -- retrievers ------------------------------------------------------------------------

    @guarded("LangChain's on_retriever_start")
    def on_retriever_start(
        self,
        serialized: dict[str, Any] | None,
        query: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **more: Any,
    ) -> None:
        if not runs.knows(run_id):
            name = str(more.get("name") or "retriever")
            runs.begin(
                run_id,
                kind="retriever",
                intent=name,
                parent=parent_run_id,
                session=self._session,
                input=query,
            )

    @guarded("LangChain's on_retriever_end")
    def on_retriever_end(self, documents: Sequence[Any], *, run_id: UUID, **more: Any) -> None:
        runs.end(
            run_id,
            output=[{"content": one.page_content, "metadata": dict(one.metadata)} for one in documents],
        )

    @guarded("LangChain's on_retriever_error")
    def on_retriever_error(self, error: BaseException, *, run_id: UUID, **more: Any) -> None:
        runs.end(run_id, error)

    def __repr__(self) -> str:
        return "LCTLCallbackHandler()"


def _given(inputs: Any) -> dict[str, Any]:
    """What an outermost run begins with."""
    if values.is_command(inputs):
        return {"resume": values.shown(inputs.resume)}
    return {} if inputs == _NO_INPUT else {"input": values.shown(inputs)}


class _Everywhere(LCTLCallbackHandler):
    """The one that instrumentation puts into every callback manager."""

    def __init__(self) -> None:
        self._session = None


def everywhere() -> LCTLCallbackHandler:
    return _Everywhere()


def forget() -> None:
    runs.locate(None)
    runs.clear()
    for open_ones in (calls, _waiting, _handed, _streamed):
        open_ones.clear()
