"""What integrations of frameworks stand on: steps, tool calls and told model calls."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lctl.guard import guard
from lctl.instrument.patches import PatchSet
from lctl.instrument.registry import Registry
from lctl.instrument.structure import Failure, ModelCall, Runs, Step, Tool, around_step, around_tool
from lctl.session import LCTLSession, tool
from lctl.session.runs import told
from tests.unit.session.toolplayer import serving


class Agent:
    """Of no framework in particular."""

    def run(self, question: str) -> str:
        return str(self.look_up(question)["found"])

    async def run_later(self, question: str) -> str:
        await asyncio.sleep(0)
        return str(self.look_up(question)["found"])

    async def stream(self, question: str) -> AsyncIterator[str]:
        for word in question.split():
            yield self.look_up(word)["found"]

    def look_up(self, word: str, call_id: str | None = None) -> Any:
        ran.append(word)
        if word == "pause":
            raise Paused("a human")
        return {"found": word.upper()}


class Paused(Exception):
    pass


ran: list[str] = []


@pytest.fixture(autouse=True)
def strict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "policy", "raise")
    monkeypatch.setattr(guard, "failures", {})
    ran.clear()


@pytest.fixture
def framework() -> Iterator[Any]:
    """`Agent` in a module, instrumented."""
    module: Any = ModuleType("framework")
    module.Agent = type("Agent", (), dict(vars(Agent)))
    patches = PatchSet()
    for name in ("run", "run_later", "stream"):
        patches.wrap(module, f"Agent.{name}", around_step("a run", _step))
    patches.wrap(module, "Agent.look_up", around_tool("a tool", _tool))
    yield module
    patches.undo()


def _step(agent: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Step:
    return Step("bob", intent=args[0], result=lambda value: {} if value is None else {"output": value})


def _tool(agent: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tool:
    def shown(value: Any) -> Any:
        return Failure("NotFound", "nothing") if value["found"] == "NOTHING" else value["found"]

    def paused(error: BaseException) -> Any:
        return str(error) if isinstance(error, Paused) else None

    return Tool("look_up", {"word": args[0]}, kwargs.get("call_id"), shown, paused)


def session_at(folder: Path) -> LCTLSession:
    return LCTLSession("test", folder / "run.lctl.json")


def told_by(session: LCTLSession) -> list[tuple[Any, ...]]:
    """(seq, step, type, agent) of each event."""
    return [(e["seq"], e.get("step"), e["type"], e["agent"]) for e in map(json.loads, session.lines())]


def test_functions_of_every_kind_become_steps_with_their_tools(framework: Any, tmp_path: Path) -> None:
    """A plain function, coroutines side by side and a stream that others interrupt nest each for itself."""
    agent = framework.Agent()

    async def main() -> list[str]:
        async for word in agent.stream("one two"):
            session.add_fact(word, "between the items")
        return list(await asyncio.gather(agent.run_later("b"), agent.run_later("c")))

    with session_at(tmp_path) as session:
        assert agent.run("a") == "A"
        assert asyncio.run(main()) == ["B", "C"]
    lines = told_by(session)
    by_step: dict[int | None, list[str]] = {}
    for seq, step, kind, _ in lines:
        by_step.setdefault(seq if kind == "step_start" else step, []).append(kind)
    assert by_step.pop(None) == ["fact_added", "fact_added"]
    assert sorted(map(len, by_step.values())) == [3, 3, 3, 4]
    assert all(kinds[0] == "step_start" and kinds[-1] == "step_end" for kinds in by_step.values())
    tools = [e["data"] for e in map(json.loads, session.lines()) if e["type"] == "tool_call"]
    assert [(t["input"]["word"], t["output"]) for t in tools][:1] == [("a", "A")]


def test_a_tool_is_served_in_a_rerun_as_the_framework_gave_it(framework: Any, tmp_path: Path) -> None:
    """The value behind the shown one, a failure that is told by a value, and a pause: nothing runs again."""
    agent = framework.Agent()

    def program() -> list[Any]:
        found = [agent.look_up("rome", call_id="c1"), agent.look_up("nothing")]
        with pytest.raises(Paused, match="a human"):
            agent.look_up("pause")
        return found

    def open_session(name: str) -> LCTLSession:
        return LCTLSession(name, tmp_path / f"{name}.lctl.json")

    first = open_session("first")
    with first:
        result = program()
    events = [json.loads(line) for line in first.lines()]
    calls = [event["data"] for event in events]
    assert (calls[0]["output"], calls[0]["call_id"]) == ("ROME", "c1")
    assert calls[1]["error"] == {"type": "NotFound", "message": "nothing"}
    assert calls[2]["paused"] == "a human" and "error" not in calls[2]
    assert len(ran) == 3
    with serving(events), open_session("second") as second:
        assert program() == result
    assert len(ran) == 3
    again = [json.loads(line)["data"] for line in second.lines()]
    assert [{**c, "duration_ms": 0} for c in again] == [{**c, "duration_ms": 0} for c in calls]


def test_one_call_seen_by_two_layers_is_one_event(framework: Any, tmp_path: Path) -> None:
    """A decorated function beneath a framework's tool is that tool; with another input, one of its own."""

    @tool(name="look_up")
    def below(word: str, limit: int = 3) -> str:
        return word

    class Layered(framework.Agent):  # type: ignore[misc]
        pass

    module: Any = ModuleType("layered")
    module.Layered = Layered
    Layered.look_up = lambda self, word, other="": [below(word), below(other) if other else None]
    patches = PatchSet()
    patches.wrap(
        module, "Layered.look_up", around_tool("a tool", lambda i, a, k: Tool("look_up", {"word": a[0]}))
    )
    with session_at(tmp_path) as session:
        Layered().look_up("a")
        Layered().look_up("a", "b")
    patches.undo()
    inputs = [e["data"]["input"] for e in map(json.loads, session.lines())]
    assert inputs == [{"word": "a"}, {"word": "b", "limit": 3}, {"word": "a"}]


def test_runs_nest_by_parent_whoever_ends_first(tmp_path: Path) -> None:
    """Callbacks tell of begin and end by id, in any order and thread, and what runs within finds its step."""
    runs, here = Runs(), ContextVar[str | None]("here", default=None)
    runs.locate(here.get)
    try:
        with session_at(tmp_path) as session:
            runs.begin("graph", "team", kind="chain", here=False)
            runs.begin("a", "alice", kind="node", parent="graph", here=False)
            runs.begin("b", "bob", kind="node", parent="graph", here=False)
            runs.skip("plumbing", "b")
            assert session.frame().step is None
            here.set("plumbing")
            session.add_fact("F1", "in b")
            with runs.within("a"):
                session.add_fact("F2", "in a")
            runs.handoff("a", "carol")
            ending = threading.Thread(target=runs.end, args=("a", ValueError("lost")))
            ending.start()
            ending.join()
            runs.end("plumbing")
            runs.end("graph")
            runs.end("b", outcome="paused", interrupts=["?"])
            here.set(None)
            assert runs.end("unknown") == 0 and runs.frame("unknown") is None
            assert session.frame().step is None
    finally:
        runs.locate(None)
    assert told_by(session) == [
        (1, None, "step_start", "team"),
        (2, 1, "step_start", "alice"),
        (3, 1, "step_start", "bob"),
        (4, 3, "fact_added", "bob"),
        (5, 2, "fact_added", "alice"),
        (6, 2, "handoff", "alice"),
        (7, 2, "error", "alice"),
        (8, 2, "step_end", "alice"),
        (9, 1, "step_end", "team"),
        (10, 3, "step_end", "bob"),
    ]


def test_a_told_model_call_stands_only_where_no_exchange_was_seen(tmp_path: Path) -> None:
    """One whose wire is read says nothing; a fake, and one that failed, are steps with prompt and answer."""
    with session_at(tmp_path) as session:
        wired = ModelCall.begin("gpt", "hello")
        told.seen()
        assert wired.end("answer") == 0
        ModelCall.begin("fake", lambda: "hello").end(lambda: "answer", usage={"input": 1, "output": 2})
        ModelCall.begin("fake", "again").end(error=TimeoutError("slow"))
    kinds = [(e["type"], e["data"].get("outcome")) for e in map(json.loads, session.lines())]
    assert kinds == [
        ("message", None),
        ("step_start", None),
        ("message", None),
        ("step_end", "success"),
        ("error", None),
        ("message", None),
        ("step_start", None),
        ("step_end", "error"),
    ]


def test_a_call_that_is_made_in_a_thread_is_the_told_one(tmp_path: Path) -> None:
    """Of a pool or not: asyncio's executors do not copy context variables."""
    with session_at(tmp_path) as session, ThreadPoolExecutor(1) as pool:
        calls = []
        for in_pool in (True, False):
            calls.append(ModelCall.begin("gpt", "hello"))
            pool.submit(told.seen).result() if in_pool else _in_thread(told.seen)
            assert calls[-1].end("answer") == 0
        outside = ModelCall.begin("fake", "hello")
        outside.end("answer")
        pool.submit(told.seen).result()
        assert [call.seen for call in (*calls, outside)] == [True, True, False]
    assert [e["data"]["model"] for e in map(json.loads, session.lines()) if e["type"] == "step_start"] == [
        "fake"
    ]


def _in_thread(function: Callable[[], None]) -> None:
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


def test_what_fails_in_a_hook_is_counted_and_the_function_runs(
    framework: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A test raises in the hooks through `guard.trial`."""
    monkeypatch.setattr(guard, "policy", "report")
    monkeypatch.setattr(guard, "_report", lambda place: None)
    monkeypatch.setattr(guard, "trial", _raise)
    with session_at(tmp_path):
        assert framework.Agent().run("a") == "A"
    assert guard.failures == {"a run": 1, "a tool": 1}


def _raise(place: str) -> None:
    raise RuntimeError(place)


class Halved:
    """An integration of which this version of the library has only one hook."""

    name, supported, modules = "pytest", "<2", ("framework_halved",)

    def patch(self, module: ModuleType, patches: Any) -> None:
        patches.wrap(module, "Agent.gone", around_step("gone", _step))
        patches.wrap(module, "Agent.run", around_step("a run", _step))


def test_another_version_is_instrumented_as_far_as_its_hooks_are_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is missing is said, the rest is patched and undone."""
    import sys

    module: Any = ModuleType("framework_halved")
    module.Agent = type("Agent", (), dict(vars(Agent)))
    before = dict(vars(module.Agent))
    monkeypatch.setitem(sys.modules, "framework_halved", module)
    registry = Registry({"framework_halved": f"{__name__}:Halved"})
    registry.install()
    [entry] = registry.status()
    assert (entry.state, entry.is_supported) == ("patched", False)
    assert (entry.points, entry.missing) == (["framework_halved:Agent.run"], ["framework_halved:Agent.gone"])
    registry.uninstall()
    assert dict(vars(module.Agent)) == before


def test_what_another_package_brings_is_there_again_after_an_undo(monkeypatch: pytest.MonkeyPatch) -> None:
    """Entry points are read once."""
    monkeypatch.setattr(
        "importlib.metadata.entry_points",
        lambda group: [EntryPoint("framework_brought", f"{__name__}:Halved", group)],
    )
    registry = Registry()
    try:
        for _ in range(2):
            registry.install()
            assert "framework_brought" in [entry.key for entry in registry.status()]
            registry.uninstall()
    finally:
        registry.uninstall()


def test_the_table_of_integrations_is_the_one_in_the_readme() -> None:
    """Written by `python -m lctl_integrations`."""
    from lctl_integrations.__main__ import FILES, ROOT, written

    for name in FILES:
        text = (ROOT / name).read_text()
        assert written(text) == text, f"{name}: run python -m lctl_integrations"
