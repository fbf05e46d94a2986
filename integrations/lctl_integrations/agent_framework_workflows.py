"""agent-framework's workflows: each run a step that its executors work in, and what its events tell."""

from __future__ import annotations

import re
from typing import Any

from lctl.guard import guard
from lctl.instrument.structure import Step
from lctl.session import jsonable
from lctl.session.default import get_session
from lctl.session.runs import context, wrappedruns, wrapping
from lctl.session.session import LCTLSession

_WORKFLOW = "a workflow of Agent Framework"
#: What names have that nobody gave: another one in every run.
_MADE_UP = re.compile(r"-?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def _name(given: object, otherwise: str) -> str:
    return _MADE_UP.sub("", str(given)) or otherwise


def executor(one: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Step:
    """`execute(message, ...)`"""
    kind = type(one).__name__
    return Step(_name(one.id, kind), "node", kind)


def run_workflow(wrapped: Any, workflow: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """An asynchronous generator of events, for whole runs and streams alike."""

    def begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> wrappedruns.Run | None:
        session = get_session()
        if session is not None:
            with guard(_WORKFLOW):
                guard.rehearse(_WORKFLOW)
                return _WorkflowRun(session, workflow)
        return None

    return wrapping.wrap(wrapped, begin)(*args, **kwargs)


class _WorkflowRun(wrappedruns.Run):
    """One run, by its events."""

    def __init__(self, session: LCTLSession, workflow: Any) -> None:
        nodes = sorted(_name(one.id, type(one).__name__) for one in workflow.executors.values())
        scope = session.step(_name(workflow.name, "workflow"), "workflow", kind="chain", nodes=nodes)
        self._session = session
        self._scope = scope.begin()
        self._requests: list[dict[str, Any]] = []

    def yielded(self, value: Any) -> None:
        kind = getattr(value, "type", None)
        if kind == "handoff_sent":
            target, source = _name(value.data.target, "agent"), _name(value.data.source, "agent")
            if self.frame is not None:
                with context.pinned(self.frame):
                    self._session.handoff(target, from_=source)
        elif kind == "request_info":
            asked = {"name": _name(value.source_executor_id, "executor"), "reason": _reason(value.data)}
            self._requests.append(asked)

    def returned(self, value: Any) -> None:
        if self._requests:
            self._scope.update(outcome="paused", interrupts=self._requests)
        self._scope.end()

    def failed(self, error: BaseException) -> None:
        self._scope.end(error)


def _reason(data: Any) -> Any:
    """What is asked; of an agent that waits for the user's words, its own."""
    said = getattr(getattr(data, "agent_response", None), "text", None)
    return jsonable.plain(data) if said is None else said
