"""gevent's greenlets stand in the step that started them, each in a lane of its own."""

from __future__ import annotations

import contextvars
from pathlib import Path
from typing import Any

import pytest

import lctl
from lctl.codec import open_log
from lctl.session.concurrency import lanes
from lctl.session.runs import context

gevent = pytest.importorskip("gevent", reason="needs: pip install gevent")
pool = pytest.importorskip("gevent.pool")


@lctl.tool
def look(n: int) -> tuple[int, str]:
    gevent.sleep(0)
    return n, lanes.current().path.partition("/")[0]


def test_their_calls_are_recorded(tmp_path: Path) -> None:
    path = tmp_path / "run.lctl.json"
    with lctl.LCTLSession(path=path) as session, session.step("a", "look") as step:
        spawned = [gevent.spawn(look, n) for n in range(2)]
        found = [one.get() for one in gevent.joinall(spawned)]
        found += pool.Pool(2).map(look, [2, 3])
        later = gevent.spawn_later(0, look, 4)
        later.join()
        found.append(later.value)
    assert [n for n, _ in found] == [0, 1, 2, 3, 4]
    assert len({lane for _, lane in found}) == 5
    calls = [event for event in open_log(path).events() if event.type == "tool_call"]
    assert [(event.data["input"]["n"], event.step) for event in calls] == [(n, step.seq) for n in range(5)]


def test_a_context_that_the_program_gave_stays(tmp_path: Path) -> None:
    seen: contextvars.ContextVar[str] = contextvars.ContextVar("seen", default="")

    def here() -> tuple[str, Any]:
        frame = context.current()
        return seen.get(), None if frame is None else frame.step

    with lctl.LCTLSession(path=tmp_path / "run.lctl.json") as session, session.step("a", "look") as step:
        token = seen.set("given")
        own, other = gevent.Greenlet(here), gevent.Greenlet(here)
        own.gr_context = contextvars.copy_context()
        seen.reset(token)
        for one in (own, other):
            one.start()
            one.join()
    assert (own.value, other.value) == (("given", step.seq), ("", step.seq))


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    with lctl.LCTLSession(path=tmp_path / "run.lctl.json"):
        pass
    one = gevent.Greenlet(int)
    one.start()
    assert one.gr_context is None
    one.join()
