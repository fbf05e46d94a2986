"""`@lctl.traced(agent, intent)`: each run of a function is a step."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar, overload

from lctl.errors import UsageError
from lctl.session.default import get_session
from lctl.session.runs import wrappedruns, wrapping
from lctl.session.runs.steps import StepScope
from lctl.session.session import LCTLSession

F = TypeVar("F", bound=Callable[..., Any])


@overload
def traced_step(
    session: LCTLSession, agent: str | None = None, intent: str | None = None, **data: Any
) -> StepScope: ...
@overload
def traced_step(
    session: str, agent: str | None = None, **data: Any
) -> AbstractContextManager[StepScope | None]: ...


def traced_step(
    session: LCTLSession | str, agent: str | None = None, intent: str | None = None, **data: Any
) -> AbstractContextManager[StepScope | None]:
    """`with traced_step(session, "reviewer", "assess"):` is `session.step("reviewer", "assess")`.

    `traced_step("reviewer", "assess")` is a step of the session the running code records into; outside
    any, the block just runs.
    """
    if not isinstance(session, str):
        if hasattr(session, "step"):
            return session.step(agent, intent, **data)
        raise UsageError(f"traced_step({session!r:.80}): it takes a session, or the name of an agent")
    here = get_session()
    return nullcontext() if here is None else here.step(session, agent, **data)


@overload
def traced(agent: F, /) -> F: ...
@overload
def traced(agent: str | None = None, intent: str | None = None, **data: Any) -> Callable[[F], F]: ...


def traced(agent: Any = None, intent: str | None = None, **data: Any) -> Any:
    """Make each run of a function a step of the session it runs in.

    For functions, coroutines, generators and async generators, methods, static and class methods, with
    and without arguments. A generator's step lasts until it is exhausted or closed; between items its
    consumer is not in it. Outside any session the function just runs.

    Args:
        agent: whose step it is; the enclosing step's agent when None.
        intent: what it is for; the function's name when None.
    """
    if intent is None and not data and (callable(agent) or isinstance(agent, staticmethod | classmethod)):
        return _wrapped(agent, None, None, {})
    return lambda function: _wrapped(function, agent, intent, data)


def _wrapped(function: Any, agent: str | None, intent: str | None, data: dict[str, Any]) -> Any:
    name = intent or wrapping.name_of(function)

    def begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Run | None:
        session = get_session()
        return None if session is None else _Run(session.step(agent, name, **data))

    return wrapping.wrap(function, begin)


class _Run(wrappedruns.Run):
    """One run as a step."""

    def __init__(self, scope: StepScope) -> None:
        self._scope = scope.begin()
        self._told = False

    def failed(self, error: BaseException) -> None:
        self._scope.end(error)
        self._told = True

    def returned(self, value: Any) -> None:
        self._scope.end()
        self._told = True

    def raised(self, error: BaseException) -> None:
        if not self._told:
            self._scope.end(error)
