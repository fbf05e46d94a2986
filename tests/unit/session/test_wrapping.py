"""Wrapped functions stay of their kind, and pass everything through: methods, coroutines, generators."""

from __future__ import annotations

import asyncio
import functools
import gc
import inspect
import weakref
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from typing import Any

import pytest

from lctl.session import LCTLSession, get_session, tool, traced
from lctl.session.runs import wrappedruns, wrapping
from tests.unit.session.conftest import Brief, Events


class Kinds:
    """One traced and one tool function of every kind."""

    @traced("m", "method")
    def method(self, x: int) -> int:
        """Doc."""
        return x

    @classmethod
    @traced("m")
    def class_method(cls, x: int) -> int:
        return x

    @traced("m")
    @staticmethod
    def static_method(x: int) -> int:
        return x

    @tool
    def tool_method(self, x: int, y: int = 2) -> int:
        return x + y

    @tool
    @classmethod
    def tool_class_method(cls, x: int) -> int:
        return x

    @staticmethod
    @tool(name="static")
    def tool_static(x: int) -> int:
        return x


def test_methods_of_every_kind(session: LCTLSession, events: Events) -> None:
    """`self` and `cls` are not input; names, docs and results stay."""
    with session.step("top"):
        kinds = Kinds()
        assert [kinds.method(1), Kinds.class_method(2), Kinds.static_method(3)] == [1, 2, 3]
        assert [kinds.tool_method(1), kinds.tool_class_method(2), Kinds.tool_static(x=3)] == [3, 2, 3]
    assert Kinds.method.__doc__ == "Doc." and Kinds.method.__name__ == "method"
    recorded = events(session)
    assert [e["data"].get("intent") for e in recorded if e["type"] == "step_start"][1:] == [
        "method",
        "class_method",
        "static_method",
    ]
    calls = [
        (e["data"]["tool"], e["data"]["input"], e["data"]["output"])
        for e in recorded
        if e["type"] == "tool_call"
    ]
    assert calls == [
        ("tool_method", {"x": 1, "y": 2}, 3),
        ("tool_class_method", {"x": 2}, 2),
        ("static", {"x": 3}, 3),
    ]


def _kinds() -> list[Any]:
    def plain(a: int, *rest: int, b: int = 1, **more: int) -> int:
        return a

    async def coroutine(a: int) -> int:
        return a

    def generator(a: int) -> Iterator[int]:
        yield a

    async def async_generator(a: int) -> AsyncIterator[int]:
        yield a

    return [plain, coroutine, generator, async_generator]


@pytest.mark.parametrize("function", _kinds(), ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    "decorate", [traced, tool, traced("a", "i"), tool("name"), tool(name="name"), traced()]
)
def test_a_wrapped_function_stays_of_its_kind(function: Any, decorate: Any) -> None:
    """inspect cannot tell, but for `__wrapped__`."""
    wrapped = decorate(function)
    for question in (
        inspect.iscoroutinefunction,
        inspect.isgeneratorfunction,
        inspect.isasyncgenfunction,
        inspect.isfunction,
    ):
        assert question(wrapped) == question(function)
    assert inspect.signature(wrapped) == inspect.signature(function)
    assert wrapped.__name__ == function.__name__ and wrapped.__qualname__ == function.__qualname__


def test_outside_any_session_functions_just_run() -> None:
    """Nothing is opened, nothing is recorded."""

    @traced
    def step(x: int) -> int:
        return x

    @tool
    async def fetch(x: int) -> int:
        return x

    @tool
    def items(n: int) -> Iterator[int]:
        yield from range(n)

    @traced
    async def agenerator(n: int) -> AsyncIterator[int]:
        for i in range(n):
            yield i

    async def main() -> list[int]:
        return [i async for i in agenerator(3)]

    assert step(1) == 1
    assert asyncio.run(fetch(2)) == 2
    assert list(items(3)) == [0, 1, 2]
    assert asyncio.run(main()) == [0, 1, 2]
    assert get_session() is None


def test_a_traced_generator_passes_everything_through(
    session: LCTLSession, brief: Brief, events: Events
) -> None:
    """send, throw, return value, close; the step lasts to the end."""

    @traced("g", "run")
    def conversation() -> Any:
        said = yield "hello"
        try:
            said = yield said.upper()
        except KeyError:
            said = yield "caught"
        session.add_fact("F", said)
        return "bye"

    talk = conversation()
    assert brief(session) == []  # not begun: a generator function runs at the first next
    with session.step("top"):
        assert next(talk) == "hello"
        assert talk.send("x") == "X"
        assert talk.throw(KeyError("k")) == "caught"
        with pytest.raises(StopIteration) as stop:
            talk.send("last")
    assert stop.value.value == "bye"
    assert brief(session) == [
        "1 step_start top",
        "2 step_start g @1",
        "3 fact_added g @2",
        "4 step_end g @2",
        "5 step_end top @1",
    ]

    left = conversation()
    next(left)
    del left
    gc.collect()
    assert events(session)[-1]["data"]["outcome"] == "aborted"


def test_a_traced_async_generator(session: LCTLSession, events: Events) -> None:
    """Its body in the step, its consumer not; left early it is aborted, failing it is an error."""

    @traced("g")
    async def items(fail: bool) -> AsyncGenerator[int, None]:
        for n in range(3):
            await asyncio.sleep(0)
            session.add_fact("in", str(n))
            yield n
        if fail:
            raise ValueError("end")

    async def main() -> None:
        async for _ in items(False):
            session.add_fact("out", "x")
        stream = items(False)
        await anext(stream)
        await stream.aclose()
        with pytest.raises(ValueError, match="end"):
            async for _ in items(True):
                pass

    asyncio.run(main())
    recorded = events(session)
    assert all(
        e["agent"] == ("g" if e["data"]["id"] == "in" else "main")
        for e in recorded
        if e["type"] == "fact_added"
    )
    assert [e["data"]["outcome"] for e in recorded if e["type"] == "step_end"] == [
        "success",
        "aborted",
        "error",
    ]


def test_tools_record_input_output_error_and_call_id(session: LCTLSession, events: Events) -> None:
    """Arguments by name as they were before the call; the exception passes unchanged."""
    failure = RuntimeError("boom")

    @tool
    def search(query: str, *more: str, limit: int = 3, **options: Any) -> list[str]:
        options.clear()
        return [query]

    @tool("break")
    async def breaking(items: list[int]) -> None:
        items.append(1)
        raise failure

    @tool
    def count(n: int) -> Iterator[int]:
        yield from range(n)

    @tool
    def with_id(x: int, tool_call_id: str) -> int:
        return x

    @tool
    def strict(x: int) -> int:
        return x

    search("a", "b", "c", safe=True)
    with pytest.raises(RuntimeError) as raised:
        asyncio.run(breaking([]))
    assert raised.value is failure
    assert list(count(2)) == [0, 1]
    with_id(1, tool_call_id="call_1")
    assert strict(2, call_id="call_2") == 2  # type: ignore[call-arg]
    partial = functools.partial(search, "p")
    partial()
    with pytest.raises(TypeError):
        strict()  # type: ignore[call-arg]
    calls = [e["data"] for e in events(session)]
    for call in calls:
        assert isinstance(call.pop("duration_ms"), float)
        call.pop("lane", None)
        call.pop("at", None)
    assert calls[:6] == [
        {
            "tool": "search",
            "input": {"query": "a", "more": ["b", "c"], "safe": True, "limit": 3},
            "output": ["a"],
        },
        {
            "tool": "break",
            "input": {"items": []},
            "error": {"type": "RuntimeError", "message": "boom"},
            "tape": {"given": 1, "after": [[0, {"items": [1]}]]},
        },
        {"tool": "count", "input": {"n": 2}, "output": [0, 1]},
        {"tool": "with_id", "input": {"x": 1, "tool_call_id": "call_1"}, "output": 1, "call_id": "call_1"},
        {"tool": "strict", "input": {"x": 2}, "output": 2, "call_id": "call_2"},
        {"tool": "search", "input": {"query": "p", "limit": 3}, "output": ["p"]},
    ]
    assert calls[6]["error"]["type"] == "TypeError"


@pytest.mark.parametrize("kind", ["plain", "recorded"])
def test_what_closing_a_generator_raises_has_no_context_of_ours(kind: str) -> None:
    """An exception of its cleaning up says what it would without us."""

    def untidy() -> Iterator[int]:
        try:
            yield 1
        finally:
            raise ValueError("untidy")

    async def untidy_async() -> AsyncIterator[int]:
        try:
            yield 1
        finally:
            raise ValueError("untidy")

    async def left() -> list[str]:
        items = followed(untidy_async)()
        await anext(items)
        with pytest.raises(ValueError, match="untidy") as raised:
            await items.aclose()
        return chain(raised.value)

    def followed(function: Any) -> Any:
        return (
            function if kind == "plain" else wrapping.wrap(function, lambda args, kwargs: wrappedruns.Run())
        )

    def chain(error: BaseException | None) -> list[str]:
        return [] if error is None else [type(error).__name__, *chain(error.__context__)]

    items = followed(untidy)()
    next(items)
    with pytest.raises(ValueError, match="untidy") as raised:
        items.close()
    assert chain(raised.value) == ["ValueError", "GeneratorExit"] == asyncio.run(left())


def test_a_generator_that_is_left_is_gone_at_once() -> None:
    """Nothing of it waits for the garbage collector."""

    class Item:
        pass

    def items() -> Iterator[Item]:
        yield Item()
        yield Item()

    gc.disable()
    try:
        made = wrapping.wrap(items, lambda args, kwargs: wrappedruns.Run())()
        seen = weakref.ref(next(made))
        made.close()
        del made
        assert seen() is None
    finally:
        gc.enable()


def _reach(kind: str) -> tuple[Any, Any]:
    """A function of that kind, and what calls it without its argument."""

    def plain(x: int) -> int:
        return x

    def items(x: int) -> Iterator[int]:
        yield x

    async def coroutine(x: int) -> int:
        return x

    async def stream(x: int) -> AsyncIterator[int]:
        yield x

    async def drain(function: Any) -> None:
        async for _ in function():
            pass

    kinds: dict[str, tuple[Any, Any]] = {
        "plain": (plain, lambda function: function()),
        "items": (items, lambda function: list(function())),
        "coroutine": (coroutine, lambda function: asyncio.run(function())),
        "stream": (stream, lambda function: asyncio.run(drain(function))),
    }
    return kinds[kind]


@pytest.mark.parametrize("kind", ["plain", "items", "coroutine", "stream"])
def test_wrong_arguments_are_a_failure(kind: str, session: LCTLSession, events: Events) -> None:
    """Of the tool's call; of the step, which ends with it; said once, at the place of the call."""
    function, call = _reach(kind)
    with pytest.raises(TypeError, match="missing 1 required"), session.step("outer"):
        call(tool(function))
    with pytest.raises(TypeError, match="missing 1 required"), session.step("outer"):
        call(traced("a", "work")(function))
    session.add_fact("F1", "after")
    recorded = events(session)
    assert [event["type"] for event in recorded] == [
        *("step_start", "tool_call", "error", "step_end"),
        *("step_start", "step_start", "error", "step_end", "step_end", "fact_added"),
    ]
    failed = recorded[1]["data"]
    assert (failed["tool"], failed["input"], failed["error"]["type"]) == (kind, {}, "TypeError")
    assert recorded[6]["step"] == recorded[5]["seq"] and "step" not in recorded[-1]
    assert {recorded[n]["data"]["outcome"] for n in (3, 7, 8)} == {"error"}
    for n in (2, 6):
        assert any("test_wrapping.py" in place for place in recorded[n]["data"]["context"]["traceback"])
