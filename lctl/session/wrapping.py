"""Wrapping a function of any kind so that each of its runs is followed, and it stays of that kind.

A wrapped coroutine function is one, a generator function is one; name, signature and docstring stay.
What the function returns, yields and raises passes through as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from lctl.guard import guard
from lctl.session import context

_COROUTINE, _GENERATOR, _ASYNC_GENERATOR = 0x80, 0x20, 0x200  # flags of code objects (see `inspect`)
Begin = Callable[[tuple[Any, ...], dict[str, Any]], "Run | None"]


class Served:
    """What a run gives instead of running: a value, or an exception to raise."""

    __slots__ = ("_error", "_value")

    def __init__(self, value: Any = None, error: BaseException | None = None) -> None:
        self._value = value
        self._error = error

    def get(self) -> Any:
        if self._error is not None:
            raise self._error
        return self._value


class Run:
    """One run of a wrapped function. `frame` is where its body is while it is suspended."""

    frame: context.Frame | None = None
    served: Served | None = None

    def yielded(self, value: Any) -> None:
        """An item of a generator."""

    def returned(self, value: Any) -> None:
        """The end of a run that did not raise."""

    def failed(self, error: BaseException) -> None:
        """The end of one that did; also by being cancelled or closed."""


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
        run = _begun(begin, args, kwargs)
        if run is None:
            return function(*args, **kwargs)
        try:
            value = function(*args, **kwargs) if run.served is None else run.served.get()
        except BaseException as error:
            _ended(run.failed, error)
            raise
        _ended(run.returned, value)
        return value

    return wrapper


def _coroutine(function: Any, begin: Begin) -> Any:
    @wraps(function)
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        run = _begun(begin, args, kwargs)
        if run is None:
            return await function(*args, **kwargs)
        try:
            value = await function(*args, **kwargs) if run.served is None else run.served.get()
        except BaseException as error:
            _ended(run.failed, error)
            raise
        _ended(run.returned, value)
        return value

    return wrapper


def _generator(function: Any, begin: Begin) -> Any:
    @wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        run = _begun_aside(begin, args, kwargs)
        if run is None:
            return (yield from function(*args, **kwargs))
        items = function(*args, **kwargs) if run.served is None else _again(run.served)
        resume, value = items.send, None
        while True:
            outer = context.raw()
            context.set_current(run.frame)
            try:
                item = resume(value)
            except StopIteration as stop:
                _ended(run.returned, stop.value)
                return stop.value
            except BaseException as error:
                _ended(run.failed, error)
                raise
            finally:
                run.frame = context.raw()
                context.set_current(outer)
            _ended(run.yielded, item)
            try:
                resume, value = items.send, (yield item)
            except GeneratorExit as error:
                try:
                    _inside(run, items.close)
                finally:
                    _ended(run.failed, error)
                raise
            except BaseException as error:
                resume, value = items.throw, error

    return wrapper


def _async_generator(function: Any, begin: Begin) -> Any:
    @wraps(function)
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        run = _begun_aside(begin, args, kwargs)
        if run is None:
            run = Run()
            run.frame = context.raw()
        items: Any = function(*args, **kwargs) if run.served is None else _again_async(run.served)
        resume, value = items.asend, None
        while True:
            outer = context.raw()
            context.set_current(run.frame)
            try:
                item = await resume(value)
            except StopAsyncIteration:
                _ended(run.returned, None)
                return
            except BaseException as error:
                _ended(run.failed, error)
                raise
            finally:
                run.frame = context.raw()
                context.set_current(outer)
            _ended(run.yielded, item)
            try:
                resume, value = items.asend, (yield item)
            except GeneratorExit as error:
                try:
                    await items.aclose()
                finally:
                    _ended(run.failed, error)
                raise
            except BaseException as error:
                resume, value = items.athrow, error

    return wrapper


def _begun(begin: Begin, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Run | None:
    with guard("the start of a traced function"):
        return begin(args, kwargs)
    return None


def _begun_aside(begin: Begin, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Run | None:
    """Begin, but leave the consumer's place as it is."""
    outer = context.raw()
    run = _begun(begin, args, kwargs)
    if run is not None:
        run.frame = context.raw()
    context.set_current(outer)
    return run


def _ended(tell: Callable[[Any], None], value: Any) -> None:
    with guard("the end of a traced function"):
        tell(value)


def _inside(run: Run, function: Callable[[], Any]) -> None:
    outer = context.raw()
    context.set_current(run.frame)
    try:
        function()
    finally:
        context.set_current(outer)


def _again(served: Served) -> Any:
    yield from served.get()


async def _again_async(served: Served) -> Any:
    for item in served.get():
        yield item
