"""Wrapping a function of any kind so that each of its runs is followed, and it stays of that kind.

A wrapped coroutine function is one, a generator function is one; name, signature and docstring stay.
What the function returns, yields and raises passes through as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import Any

from lctl.session.concurrency import lanes, turns
from lctl.session.runs import context, untouched
from lctl.session.runs.wrappedruns import (
    Begin,
    Run,
    begun,
    begun_aside,
    ended,
    inside,
    inside_async,
    step_aside,
    take_back,
)
from lctl.session.tooling.served import items_of, items_of_async

_COROUTINE, _GENERATOR, _ASYNC_GENERATOR = 0x80, 0x20, 0x200  # flags of code objects (see `inspect`)
_raw = context.raw


def name_of(function: Any) -> str:
    inner = getattr(function, "__func__", function)
    return str(getattr(inner, "__name__", None) or type(inner).__name__)


def wrap(function: Any, begin: Begin) -> Any:
    """`function`, each run of which is reported to what `begin(args, kwargs)` gives (None: not followed)."""
    if isinstance(function, staticmethod | classmethod):
        return type(function)(wrap(function.__func__, begin))
    flags = _flags(function)
    if flags & _ASYNC_GENERATOR:
        return _async_generator(function, begin)
    if flags & _GENERATOR:
        return _generator(function, begin)
    if flags & _COROUTINE:
        return _coroutine(function, begin)
    return _plain(function, begin)


def _flags(function: Any) -> int:
    while hasattr(function, "func"):  # functools.partial
        function = function.func
    code = getattr(function, "__code__", None)
    if code is None:
        code = getattr(getattr(type(function), "__call__", None), "__code__", None)  # noqa: B004
    flags = int(code.co_flags) if code is not None else 0
    if not flags & _COROUTINE and getattr(function, "_is_coroutine_mark", None) is not None:
        flags |= _COROUTINE  # inspect.markcoroutinefunction
    return flags


def _plain(function: Any, begin: Begin) -> Any:
    @wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        outer = _raw()
        run = begun(begin, args, kwargs)
        if run is None:
            try:
                return function(*args, **kwargs)
            except BaseException as error:
                step_aside(error)
                raise
        if run.arguments is not None:
            args, kwargs = run.arguments
        try:
            try:
                if run.served is not None:
                    run.gives = run.served.outcome.gives
                    if run.gives in _FOLLOWED:
                        return _followed(run, None)
                    run.served.wait()
                    value = run.served.get()
                elif run.lane is None:
                    value = function(*args, **kwargs)
                else:
                    token = lanes.enter(run.lane)
                    try:
                        value = function(*args, **kwargs)
                    finally:
                        lanes.leave(token)
            except BaseException as error:
                step_aside(error)
                ended(run.failed, error)
                raise
        except BaseException as error:
            run.raised(error)
            raise
        run.gives = _GIVEN.get(type(value)) if run.follows else None
        if run.gives is not None:
            return _followed(run, value)
        try:
            ended(run.returned, value)
        except BaseException as error:
            take_back(outer, error)
            raise
        return value

    return wrapper


def _followed(run: Run, value: Any) -> Any:
    """A plain function gave it to be iterated or awaited, as decorators do: the run goes on in it."""
    kind = str(run.gives)
    frame = context.raw() if run.frame is None else run.frame

    def begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Run:
        untouched.begin(run)
        run.arguments = None  # the function was called with them
        if kind != "coroutine":
            context.set_current(frame)
        return run

    given = _FOLLOWED[kind](lambda: value, begin)()
    untouched.keep(run, given)
    return given


def _coroutine(function: Any, begin: Begin) -> Any:
    @wraps(function)
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        run = begun(begin, args, kwargs)
        if run is None:
            try:
                return await function(*args, **kwargs)
            except BaseException as error:
                step_aside(error)
                raise
        if run.arguments is not None:
            args, kwargs = run.arguments
        try:
            try:
                if run.served is not None:
                    await run.served.wait_async()
                    value = run.served.get()
                elif run.lane is None:
                    value = await function(*args, **kwargs)
                else:
                    token = lanes.enter(run.lane)
                    try:
                        value = await function(*args, **kwargs)
                    finally:
                        lanes.leave(token)
            except BaseException as error:
                step_aside(error)
                ended(run.failed, error)
                raise
            ended(run.returned, value)
        except BaseException as error:
            run.raised(error)
            raise
        return value

    return wrapper


def _generator(function: Any, begin: Begin) -> Any:
    @wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        run = begun_aside(begin, args, kwargs)
        if run is None:
            try:
                return (yield from function(*args, **kwargs))
            except BaseException as error:
                step_aside(error)
                raise
        if run.arguments is not None:
            args, kwargs = run.arguments
        try:
            try:
                items = function(*args, **kwargs) if run.served is None else items_of(run.served)
            except BaseException as error:  # nothing of it has run: its arguments are wrong
                step_aside(error)
                ended(run.failed, error)
                raise
            run.iterates()
            resume, value = items.send, None
            while True:
                # Written out here and in `_async_generator`: a `with` block costs a fifth more per item.
                outer = context.raw()
                context.set_current(run.frame)
                lane = None if run.lane is None else lanes.enter(run.lane)
                try:
                    item = resume(value)
                except StopIteration as stop:
                    ended(run.returned, stop.value)
                    return stop.value
                except BaseException as error:
                    step_aside(error)
                    ended(run.failed, error)
                    raise
                finally:
                    run.frame = context.raw()
                    context.set_current(outer)
                    if lane is not None:
                        lanes.leave(lane)
                ended(run.yielded, item)
                left: GeneratorExit | None = None
                try:
                    resume, value = items.send, (yield item)
                except GeneratorExit as error:
                    left = error
                except BaseException as error:
                    resume, value = items.throw, error
                if left is not None:  # out here: it is no context of what closing raises
                    try:
                        inside(run, items.close)
                        raise left
                    finally:
                        ended(run.failed, left)
                        left = None  # its traceback holds this frame
        except BaseException as error:
            run.raised(error)
            raise

    return wrapper


def _async_generator(function: Any, begin: Begin) -> Any:
    @wraps(function)
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        run = begun_aside(begin, args, kwargs)
        if run is None:
            run = Run()
            run.frame = context.raw()
        if run.arguments is not None:
            args, kwargs = run.arguments
        try:
            try:
                items: Any = function(*args, **kwargs) if run.served is None else items_of_async(run.served)
            except BaseException as error:  # nothing of it has run: its arguments are wrong
                step_aside(error)
                ended(run.failed, error)
                raise
            run.iterates()
            resume, value = items.asend, None
            while True:
                outer = context.raw()
                context.set_current(run.frame)
                lane = None if run.lane is None else lanes.enter(run.lane)
                run.asked = turns.now() if turns.counting else None
                try:
                    item = await resume(value)
                except StopAsyncIteration:
                    ended(run.returned, None)
                    return
                except BaseException as error:
                    step_aside(error)
                    ended(run.failed, error)
                    raise
                finally:
                    run.frame = context.raw()
                    context.set_current(outer)
                    if lane is not None:
                        lanes.leave(lane)
                ended(run.yielded, item)
                left: GeneratorExit | None = None
                try:
                    resume, value = items.asend, (yield item)
                except GeneratorExit as error:
                    left = error
                except BaseException as error:
                    resume, value = items.athrow, error
                if left is not None:  # out here: it is no context of what closing raises
                    run.asked = turns.now() if turns.counting else None
                    try:
                        await inside_async(run, items.aclose)
                        raise left
                    finally:
                        ended(run.failed, left)
                        left = None  # its traceback holds this frame
        except BaseException as error:
            run.raised(error)
            raise

    return wrapper


#: What a plain function may give -> its name; and by name, what follows it.
_GIVEN: dict[type, str] = {
    GeneratorType: "generator",
    CoroutineType: "coroutine",
    AsyncGeneratorType: "async generator",
}
_FOLLOWED: dict[str | None, Callable[[Any, Begin], Any]] = {
    "generator": _generator,
    "coroutine": _coroutine,
    "async generator": _async_generator,
}
