"""What agno's runs and delegations tell: who runs, how it ended, what a member answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

from lctl.instrument.structure import Step
from lctl.session import jsonable
from lctl.session.runs import wrappedruns
from lctl.session.tooling.served import Rewritten
from lctl_integrations import agno_ids

#: How a run ended, by the state of its output and by the end of its last event's name.
_OUTCOMES = {
    "completed": "success",
    "paused": "paused",
    "cancelled": "cancelled",
    "error": "error",
}
#: Events of a stream that end it, without the "Team" of teams.
_LAST = {f"{kind}{name.capitalize()}": name for kind in ("Run", "Workflow") for name in _OUTCOMES}


def run_of(instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Step:
    """`_run(agent, ...)`, a function of the module."""
    return _described(args, kwargs, "run")


def continued_run_of(instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Step:
    """`_continue_run(agent, ...)`."""
    return _described(args, kwargs, "continue")


def _described(args: tuple[Any, ...], kwargs: dict[str, Any], verb: str) -> Step:
    runner = args[0] if args else kwargs.get("agent", kwargs.get("team"))
    is_team = _kind(runner) == "team"
    name = getattr(runner, "name", None) or ("team" if is_team else "agent")
    intent = "team" if is_team and verb == "run" else verb
    return Step(str(name), "agent", intent, result=_end_of(runner), told_by_items=True)


def workflow_of(workflow: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Step:
    name, kind = str(workflow.name or "workflow"), type(workflow).__name__
    return Step(name, "chain", kind, result=_end_of(workflow), told_by_items=True)


def node_of(step: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Step:
    """A step of a workflow: an agent's, a loop, steps side by side, ..."""
    kind = type(step).__name__
    return Step(
        str(getattr(step, "name", None) or kind), "node", kind, result=_node_ended, told_by_items=True
    )


def _kind(runner: Any) -> str:
    """What it is, also of a class derived from agno's."""
    names = [one.__name__ for one in type(runner).__mro__]
    return next((name.lower() for name in ("Agent", "Team", "Workflow") if name in names), "")


def _end_of(runner: Any) -> Callable[[Any], Mapping[str, Any]]:
    """What the end of its run says. A stream has the events of the runs in it, too: of members, and of a
    workflow's agents, which have the workflow's id as well."""
    kind = _kind(runner)

    def ended(last: Any) -> Mapping[str, Any]:
        event = getattr(last, "event", None)
        if kind == "workflow" and event is not None and not str(event).startswith("Workflow"):
            return {}
        return _ended(last) if getattr(last, f"{kind}_id", None) == runner.id else {}

    return ended


def _ended(last: Any) -> Mapping[str, Any]:
    """agno gives failures and pauses as the state of the output, or as the last event of a stream."""
    event = getattr(last, "event", None)
    state = getattr(last, "status", None)
    told = getattr(state, "value", state) if event is None else _LAST.get(str(event).removeprefix("Team"))
    outcome = _OUTCOMES.get(str(told).lower())
    if outcome is None:
        return {}
    made: dict[str, Any] = {"outcome": outcome}
    if outcome == "error":
        made |= _said(getattr(last, "content", None))
    if outcome == "paused":
        steps = getattr(last, "step_requirements", None) or ()
        made["interrupts"] = [
            *(_asked(one.tool_execution) for one in _waits(last)),
            *(asked for one in steps if not one.is_resolved for asked in _asked_of_step(one)),
        ]
    return made


def _waits(last: Any) -> list[Any]:
    found = getattr(last, "active_requirements", None) or getattr(last, "requirements", None)
    return list(found or ())


def _asked(call: Any) -> dict[str, Any]:
    """A call that waits for somebody: which, and for what."""
    made = {"tool": call.tool_name, "input": jsonable.plain(call.tool_args), "waits_for": _waits_for(call)}
    return {**made, "call_id": agno_ids.of(call.tool_call_id)} if call.tool_call_id else made


def _asked_of_step(step: Any) -> list[dict[str, Any]]:
    """A step of a workflow that waits: for what the calls of its agent wait for, or by itself."""
    calls = [one["tool_execution"] for one in step.executor_requirements or () if isinstance(one, dict)]
    if calls:
        none = dict.fromkeys(("tool_args", "tool_call_id", "requires_confirmation", "requires_user_input"))
        return [_asked(SimpleNamespace(**{**none, **call})) for call in calls]
    said = step.confirmation_message or step.user_input_message or step.output_review_message
    return [{"name": step.step_name, "reason": said, "waits_for": _waits_for(step)}]


def _waits_for(asked: Any) -> str:
    for kind in ("confirmation", "user_input", "route_selection", "output_review"):
        if getattr(asked, f"requires_{kind}", False):
            return kind
    return "external_execution"


def _node_ended(last: Any) -> Mapping[str, Any]:
    """The output of a node is its last item. One that failed and may be skipped raises nothing."""
    if type(last).__name__ != "StepOutput":
        return {}
    if last.is_paused or last.success:
        return {"outcome": "paused" if last.is_paused else "success"}
    return {"outcome": "error", **_said(last.error or last.content)}


def _said(why: Any) -> dict[str, Any]:
    """What a run or step that failed gave, in place of an exception: why, where it had not answered yet."""
    return {"output": jsonable.plain(why)} if why is not None else {}


def is_given(run: wrappedruns.Run) -> bool:
    """Whether a fork gives what the agent is not asked for."""
    return run.served is not None and not isinstance(run.served, Rewritten)


class Delegation(wrappedruns.Run):
    """A call by which a member gets a task; its output is what the member said, as the leader's model is
    told, where agno gives events of the member's run, too."""

    follows = True

    def __init__(self, run: wrappedruns.Run) -> None:
        self._run = run
        self._said: list[str] | None = None
        self.served = run.served

    def rewritten(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._run.rewritten(args, kwargs)
        self.served, self.arguments = self._run.served, self._run.arguments

    def yielded(self, value: Any) -> None:
        self._said = self._said or []
        said: Any = value if isinstance(value, str) else None
        if getattr(value, "event", None) in ("RunContent", "TeamRunContent"):
            said = getattr(value, "content", None)
        if said is not None:
            self._said.append(said if isinstance(said, str) else jsonable.text(str(said)))

    def returned(self, value: Any) -> None:
        self._run.returned(value if self._said is None else "".join(self._said))

    def failed(self, error: BaseException) -> None:
        self._run.failed(error)
