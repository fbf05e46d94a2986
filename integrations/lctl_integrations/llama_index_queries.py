"""Queries of llama-index: the step of one whose answer is streamed lasts until that has been read.

The model is asked when the first piece is asked for, which is after the query has returned.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from types import AsyncGeneratorType, GeneratorType
from typing import Any
from weakref import finalize

from lctl.guard import guard
from lctl.instrument.patches import Wrapper
from lctl.instrument.structure import Step
from lctl.session.default import get_session
from lctl.session.runs import context, wrappedruns, wrapping
from lctl.session.runs.steps import StepScope

QUERY = "a query of LlamaIndex"


def query(kind: str) -> Callable[[Any, tuple[Any, ...], dict[str, Any]], Step]:
    """Describes the step of one."""

    def describe(instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Step:
        asked = args[0] if args else next(iter(kwargs.values()), None)
        text = getattr(asked, "query_str", asked)
        return Step(None, kind, type(instance).__name__, {"query": text} if isinstance(text, str) else {})

    return describe


def around_query(kind: str) -> Wrapper:
    """A wrapper of a query engine's methods, which give a response or one that streams."""
    describe = query(kind)

    def wrapper(wrapped: Any, engine: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        def begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> wrappedruns.Run | None:
            session = get_session()
            if session is None:
                return None
            with guard(QUERY):
                guard.rehearse(QUERY)
                step = describe(engine, args, kwargs)
                before = context.raw()
                scope = session.step(step.agent, step.intent, kind=step.kind, **step.data)
                return _Query(scope.begin(), before)
            return None

        return wrapping.wrap(wrapped, begin)(*args, **kwargs)

    return wrapper


class _Query(wrappedruns.Run):
    """One query, until its answer is there."""

    def __init__(self, scope: StepScope, before: context.Frame | None) -> None:
        self._scope = scope
        self._before = before
        self._place = context.raw()

    def failed(self, error: BaseException) -> None:
        self._scope.end(error)

    def returned(self, value: Any) -> None:
        stream = getattr(value, "response_gen", None)
        if isinstance(stream, GeneratorType | AsyncGeneratorType):
            value.response_gen = self._followed(stream)
            context.set_current(self._before)
        else:
            self._scope.end()

    def _followed(self, stream: Any) -> Any:
        def begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> wrappedruns.Run:
            unread.detach()  # it would be called before what is open in there is closed
            return _Reading(scope, place)

        passed = _passed if isinstance(stream, GeneratorType) else _passed_async
        scope, place = self._scope, self._place
        made = wrapping.wrap(passed, begin)(stream)
        # One that nobody begins to read runs none of its code when it is thrown away.
        unread = finalize(made, scope.end, GeneratorExit())
        return made


class _Reading(wrappedruns.Run):
    """The reading of what a query streams; it begins within the query's step, wherever it is read."""

    def __init__(self, scope: StepScope, place: context.Frame | None) -> None:
        self._scope = scope
        context.set_current(place)

    def failed(self, error: BaseException) -> None:
        self._scope.end(error)

    def returned(self, value: Any) -> None:
        self._scope.end()


def _passed(stream: Iterator[Any]) -> Iterator[Any]:
    yield from stream


async def _passed_async(stream: Any) -> AsyncIterator[Any]:
    try:
        async for item in stream:
            yield item
    finally:
        await stream.aclose()
