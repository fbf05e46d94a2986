"""Calls that are stopped from outside: by a signal handler that raises while lctl's own code runs in one
(wherever, its step ends), and by the end of their session."""

from __future__ import annotations

import signal
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import lctl
from lctl.codec import open_log
from lctl.testing import ModelServer
from tests.integrations.aiming import Aim

openai = pytest.importorskip("openai", reason="needs: pip install 'lctl[test]'")

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="a signal of POSIX")
_ASKED: Any = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi."}]}


def _ask(client: Any, path: Path, n: int) -> tuple[BaseException | None, int]:
    """Two calls, the first with a signal in it: what that raised, and how many places there were for it."""
    raised: BaseException | None = None
    aim, before = Aim(n), sys.gettrace()
    with lctl.LCTLSession(path=path):
        sys.settrace(aim)
        try:
            client.chat.completions.create(**_ASKED)
        except (KeyboardInterrupt, RuntimeError) as error:
            raised = error
        except openai.APIConnectionError as error:
            raised = error.__cause__  # what the transport failed with
        finally:
            sys.settrace(before)
        client.chat.completions.create(**_ASKED)
        events = [event.to_dict() for event in open_log(path).events()]
    begun = [event["seq"] for event in events if event["type"] == "step_start"]
    ends = [event for event in events if event["type"] == "step_end"]
    assert begun == sorted(event["step"] for event in ends), f"the {n}th"
    assert ends[-1]["data"]["outcome"] == "success"
    return raised, aim.seen


# What other exceptions meet is the same, but for a place here and there.
@pytest.mark.parametrize(
    ("kind", "stride"),
    [pytest.param(KeyboardInterrupt, 1, marks=pytest.mark.slow), (KeyboardInterrupt, 6), (RuntimeError, 7)],
)
def test_a_call_that_is_interrupted_anywhere_has_ended(
    kind: type[BaseException], stride: int, tmp_path: Path
) -> None:
    def stop(number: int, frame: object) -> None:
        raise kind("stop")

    handled = signal.signal(signal.SIGUSR1, stop)
    try:
        with (
            ModelServer() as server,
            openai.OpenAI(base_url=server.openai_url, api_key="k", max_retries=0) as client,
        ):
            _ask(client, tmp_path / "first.lctl.json", 0)
            raised, places = _ask(client, tmp_path / "0.lctl.json", 0)
            assert raised is None
            assert places > 100
            for n in range(1, places + 1, stride):
                raised, _ = _ask(client, tmp_path / f"{n}.lctl.json", n)
                assert type(raised) is kind, f"the {n}th"
    finally:
        signal.signal(signal.SIGUSR1, handled)


def test_a_session_that_ends_while_a_call_is_under_way_says_no_more_of_it(tmp_path: Path) -> None:
    path = tmp_path / "run.lctl.json"
    raised: list[BaseException] = []

    def ask() -> None:
        try:
            client.chat.completions.create(**_ASKED, extra_headers={"x-lctl-fault": "hang=0.5"})
        except Exception as error:
            raised.append(error)

    with (
        ModelServer() as server,
        openai.OpenAI(base_url=server.openai_url, api_key="k", max_retries=0) as client,
    ):
        session = lctl.LCTLSession(path=path)
        with session:
            asking = threading.Thread(target=ask)
            asking.start()
            while not server.requests:  # it has been sent, and all that is to be written before that is
                asking.join(0.01)
        asking.join()
    assert [type(error).__name__ for error in raised] == ["APIConnectionError"]
    log = open_log(path)
    assert not log.open
    assert [event.type for event in log.events()] == ["message", "step_start"]
