"""What a signal handler of the program raises while our code runs is the program's own."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import lctl
from lctl.codec import open_log, validate
from lctl.guard import guard

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs interval timers")


class OutOfTime(Exception):
    """As a time limit by `signal.setitimer` raises it."""


def _by_function(number: int, frame: object) -> None:
    raise OutOfTime


def _by_any(*given: object) -> None:
    raise OutOfTime


def _after_it_dropped_the_frame(number: int, frame: object) -> None:
    del frame
    _by_helper()


def _by_helper() -> None:
    raise OutOfTime


class _Limit:
    def __call__(self, number: int, frame: object) -> None:
        raise OutOfTime

    def reached(self, number: int, frame: object) -> None:
        raise OutOfTime


class _Value:
    """Nothing JSON has."""

    def __repr__(self) -> str:
        return "value " * 20


@lctl.tool
def look_up(key: Any) -> Any:
    return key


@lctl.traced
def think(key: Any) -> Any:
    return key


def _step(key: Any) -> None:
    session = lctl.get_session()
    assert session is not None
    with session.step("agent", str(key)):
        pass


def _handle(number: int, handler: Any) -> None:
    signal.signal(number, handler)


#: What came in a destructor, out of which Python lets nothing.
unraised: list[Any] = []


def _limited(kind: type[BaseException], work: Callable[[], object]) -> None:
    """Work until the alarm comes, which is soon."""
    before = len(unraised)
    try:
        _work_on(work, before)
    except kind:
        return
    assert len(unraised) > before, "the alarm was swallowed"


def _work_on(work: Callable[[], object], before: int) -> None:
    """A function of its own: Python 3.13 may hear a signal at the head of a loop as if outside its `try`."""
    end = time.monotonic() + 5
    signal.setitimer(signal.ITIMER_REAL, 0.002)
    while time.monotonic() < end and len(unraised) == before:
        work()


@pytest.fixture
def alarm(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Any], None]]:
    """Sets the handler; failures are reported, as they are for users."""
    monkeypatch.setattr(guard, "policy", "report")
    monkeypatch.setattr(sys, "unraisablehook", unraised.append)
    before = signal.getsignal(signal.SIGALRM)
    yield partial(_handle, signal.SIGALRM)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)
    unraised.clear()


@pytest.mark.parametrize("work", [look_up, think, _step], ids=["tool", "traced", "step"])
@pytest.mark.parametrize(
    "handler",
    [_by_function, _by_any, _after_it_dropped_the_frame, _Limit(), _Limit().reached, partial(_by_function)],
    ids=["function", "any", "dropped", "object", "method", "partial"],
)
def test_a_time_limit_is_kept_wherever_it_comes(
    tmp_path: Path, alarm: Callable[[Any], None], work: Callable[[Any], Any], handler: Any
) -> None:
    failures = dict(guard.failures)
    alarm(handler)
    with lctl.LCTLSession("limits", tmp_path / "run.lctl.json"):
        for _ in range(20):
            _limited(OutOfTime, lambda: work(_Value()))
    assert guard.failures == failures
    assert not validate(open_log(tmp_path / "run.lctl.json"))


def _by_system_error(number: int, frame: object) -> None:
    raise TimeoutError


@pytest.mark.parametrize("durability", ["process", "buffered", "power"])
def test_a_time_limit_is_no_trouble_of_the_disk(
    tmp_path: Path, alarm: Callable[[Any], None], durability: Any
) -> None:
    """`TimeoutError` is what most handlers raise, and an OSError."""
    failures = dict(guard.failures)
    alarm(_by_system_error)
    with lctl.LCTLSession("limits", tmp_path / "run.lctl.json", durability=durability):
        for _ in range(150):
            _limited(TimeoutError, lambda: _step("word"))
    assert guard.failures == failures
    assert not validate(open_log(tmp_path / "run.lctl.json"))


@pytest.mark.parametrize("elsewhere", [False, True])
def test_one_that_comes_as_a_thread_of_ours_begins(
    tmp_path: Path, alarm: Callable[[Any], None], monkeypatch: pytest.MonkeyPatch, elsewhere: bool
) -> None:
    """`threading` puts the thread out of a list, from which the thread has gone by then itself. `elsewhere`:
    the system gives the signal to another thread of the program's."""
    starts = "_start_joinable_thread" if sys.version_info >= (3, 13) else "_start_new_thread"
    begin = vars(threading)[starts]

    def begin_and_ring(*given: Any, **more: Any) -> None:
        begin(*given, **more)
        time.sleep(0.05)
        if elsewhere:
            os.kill(os.getpid(), signal.SIGALRM)
            time.sleep(0.05)
        else:
            signal.raise_signal(signal.SIGALRM)

    alarm(_by_system_error)
    over = threading.Event()
    threading.Thread(target=over.wait, daemon=True).start()
    with lctl.LCTLSession("limits", tmp_path / "run.lctl.json", durability="buffered"):
        monkeypatch.setattr(threading, starts, begin_and_ring)
        with pytest.raises(TimeoutError):
            _step("word")
        monkeypatch.undo()
        _step("other")
    over.set()
    log = open_log(tmp_path / "run.lctl.json")
    assert not validate(log)
    assert '"other"' in (tmp_path / "run.lctl.json").read_text()


def test_what_fails_in_the_value_itself_is_no_signal(tmp_path: Path) -> None:
    class Broken:
        def __repr__(self) -> str:
            raise OutOfTime

    with lctl.LCTLSession("limits", tmp_path / "run.lctl.json"):
        look_up(Broken())
    assert b"<repr raised" in (tmp_path / "run.lctl.json").read_bytes()


def test_ctrl_c_comes_through_while_a_value_is_looked_at(
    tmp_path: Path, alarm: Callable[[Any], None]
) -> None:
    """orjson makes an error of its own of what comes while it asks for a value."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    alarm(interrupt)
    with lctl.LCTLSession("limits", tmp_path / "run.lctl.json"):
        for _ in range(100):
            _limited(KeyboardInterrupt, lambda: look_up(_Value()))


@pytest.mark.parametrize(
    ("work", "is_in_step"),
    [(look_up, True), (think, True), (_step, True), (look_up, False), (think, False)],
    ids=["tool", "traced", "step", "tool at the top", "traced at the top"],
)
def test_ctrl_c_leaves_no_step_behind(
    tmp_path: Path, alarm: Callable[[Any], None], work: Callable[[Any], Any], is_in_step: bool
) -> None:
    """What comes after it is where the program is, also where it came as a step was beginning."""
    alarm(signal.default_int_handler)
    session = lctl.LCTLSession("interrupted", tmp_path / "run.lctl.json")
    with session:
        for n in range(60):
            if is_in_step:
                with suppress(KeyboardInterrupt), session.step("turn", str(n)):
                    _interrupted(work)
            else:
                with suppress(KeyboardInterrupt):
                    _interrupted(work)
            session.add_fact(f"F{n}", "after it")
    facts = [event for event in open_log(session.path).events() if event.type == "fact_added"]
    assert len(facts) == 60
    assert {(fact.agent, fact.step) for fact in facts} == {("main", None)}


def _interrupted(work: Callable[[Any], Any]) -> None:
    end = time.monotonic() + 5
    signal.setitimer(signal.ITIMER_REAL, 0.001)
    while time.monotonic() < end and not unraised:
        work(1)
    unraised.clear()


class _Exits:
    """Whatever it is asked, it wants to end the program."""

    def __init__(self, stop: Callable[[], None]) -> None:
        self.stop = stop

    def __repr__(self) -> str:
        self.stop()
        return ""

    def model_dump(self, **given: Any) -> Any:
        self.stop()


class _ExitsAsError(Exception):
    def __str__(self) -> str:
        sys.exit(3)


def test_an_object_that_exits_as_it_is_looked_at(tmp_path: Path) -> None:
    """It is the look of ours that asked for it; the program would have gone on."""
    with lctl.LCTLSession("test", tmp_path / "log.lctl.json") as session:
        value = _Exits(lambda: sys.exit(3))
        assert look_up(value) is value
        assert look_up({value: [value]})
        session.tool_call("say", {"x": value}, value)
        session.error("odd", "any", _ExitsAsError())
    text = (tmp_path / "log.lctl.json").read_text()
    assert text.count("<repr raised SystemExit>") >= 4


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_exit_by_a_signal_goes_through(number: signal.Signals, tmp_path: Path) -> None:
    """Ctrl-C, and a handler that exits, at the moment that a value is looked at."""

    def leave(number: int, frame: object) -> None:
        sys.exit(4)

    before = signal.signal(number, leave if number == signal.SIGTERM else signal.default_int_handler)
    try:
        with (
            lctl.LCTLSession("test", tmp_path / "log.lctl.json"),
            pytest.raises(SystemExit if number == signal.SIGTERM else KeyboardInterrupt),
        ):
            look_up(_Exits(lambda: signal.raise_signal(number)))
    finally:
        signal.signal(number, before)
