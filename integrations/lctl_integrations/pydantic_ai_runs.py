"""The capability that makes each run of a Pydantic AI agent a step. Imports pydantic-ai."""

from __future__ import annotations

from typing import Any

from pydantic_ai.capabilities import AbstractCapability  # pyright: ignore[reportMissingImports]

from lctl.guard import guard
from lctl.session.default import get_session
from lctl.session.runs.steps import StepScope

_PLACE = "a Pydantic AI run"
_END = "the end of a Pydantic AI run"


class RecordedRun(AbstractCapability[Any]):
    """Wraps runs, and nothing else.

    Args:
        resume: what the run goes on with, after one that waited.
    """

    def __init__(self, resume: list[dict[str, Any]] | None) -> None:
        self._resume = resume

    async def wrap_run(self, ctx: Any, *, handler: Any) -> Any:
        scope = _begin(ctx, self._resume)
        try:
            result = await handler()
        except BaseException as error:
            _end(scope, None, error)
            raise
        _end(scope, result, None)
        return result


def _begin(ctx: Any, resume: list[dict[str, Any]] | None) -> StepScope | None:
    with guard(_PLACE):
        guard.rehearse(_PLACE)
        session = get_session()
        if session is not None:
            agent = ctx.agent.name or "agent"
            data = {} if ctx.prompt is None else {"input": ctx.prompt}
            if resume is not None:
                data["resume"] = resume
            return session.step(agent, "run", kind="agent", **data).begin()
    return None


def _end(scope: StepScope | None, result: Any, error: BaseException | None) -> None:
    if scope is None:
        return
    with guard(_END):
        guard.rehearse(_END)
        if result is not None:
            waits = _waits(result.output)
            scope.update(**({"outcome": "paused", "interrupts": waits} if waits else {}))
            if not waits:
                scope.update(output=result.output)
    with guard(_END):
        scope.end(error)


def _waits(output: Any) -> list[dict[str, Any]]:
    """The tool calls that a run stopped at, to be gone on with once somebody has decided."""
    if type(output).__name__ != "DeferredToolRequests":
        return []
    return [
        {"for": what, "tool": call.tool_name, "input": call.args_as_dict(), "call_id": call.tool_call_id}
        for what, calls in (("approval", output.approvals), ("a result from outside", output.calls))
        for call in calls
    ]
