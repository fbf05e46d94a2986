"""What a signal handler raises while lctl's own code runs, in each way of recording: it reaches the program,
what began has an end, and what comes after it is recorded as if nothing had been."""

from __future__ import annotations

import asyncio
import gc
import importlib
import json
import signal
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import lctl
from lctl.codec import open_log
from lctl.testing import ModelServer
from tests.integrations.aiming import Aim
from tests.seeds import some

pytestmark = [
    pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="a signal of POSIX"),
    # What the library had open in that moment is closed by nobody.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

_CHAT: Any = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi."}]}
_CLAUDE: Any = {**_CHAT, "model": "claude-opus-4-8", "max_tokens": 100}
#: A block has been left when this is called, and nothing of ours is called behind it.
_SPARED = ("StepScope.__exit__",)

Doing = Callable[[], Any]


def a_step(server: ModelServer) -> Doing:
    def do() -> None:
        session = lctl.get_session()
        assert session is not None
        with session.step("writer", "draft"):
            pass

    return do


def a_traced_function(server: ModelServer) -> Doing:
    @lctl.traced("writer", "draft")
    def draft() -> None:
        pass

    return draft


def a_traced_generator(server: ModelServer) -> Doing:
    @lctl.traced("writer", "draft")
    def drafts() -> Iterator[int]:
        yield 1
        yield 2

    return lambda: list(drafts())


def a_traced_coroutine(server: ModelServer) -> Doing:
    @lctl.traced("writer", "draft")
    async def draft() -> None:
        await asyncio.sleep(0)

    return lambda: asyncio.run(draft())


def a_tool(server: ModelServer) -> Doing:
    @lctl.tool
    def add(a: int, b: int) -> int:
        return a + b

    return lambda: add(1, 2)


def _url(server: ModelServer) -> str:
    return f"{server.openai_url}/chat/completions"


def by_urllib(server: ModelServer) -> Doing:
    body, headers = json.dumps(_CHAT).encode(), {"content-type": "application/json"}

    def ask() -> None:
        with urllib.request.urlopen(urllib.request.Request(_url(server), body, headers)) as answer:
            answer.read()

    return ask


def by_urllib3(server: ModelServer) -> Doing:
    pool = pytest.importorskip("urllib3", reason="needs: pip install 'lctl[test]'").PoolManager()
    return lambda: pool.request("POST", _url(server), json=_CHAT, retries=False).json()


def by_requests(server: ModelServer) -> Doing:
    session = pytest.importorskip("requests", reason="needs: pip install 'lctl[test]'").Session()
    return lambda: session.post(_url(server), json=_CHAT).json()


def by_httpx(server: ModelServer) -> Doing:
    client = pytest.importorskip("httpx", reason="needs: pip install 'lctl[test]'").Client()
    return lambda: client.post(_url(server), json=_CHAT).json()


def by_anthropic(server: ModelServer) -> Doing:
    sdk = pytest.importorskip("anthropic", reason="needs: pip install 'lctl[test]'")
    client = sdk.Anthropic(base_url=server.anthropic_url, api_key="k", max_retries=0)
    return lambda: client.messages.create(**_CLAUDE)


def a_stream(server: ModelServer) -> Doing:
    sdk = pytest.importorskip("anthropic", reason="needs: pip install 'lctl[test]'")
    client = sdk.Anthropic(base_url=server.anthropic_url, api_key="k", max_retries=0)

    def ask() -> None:
        with client.messages.stream(**_CLAUDE) as stream:
            stream.get_final_text()

    return ask


def by_aiohttp(server: ModelServer) -> Doing:
    aiohttp = pytest.importorskip("aiohttp", reason="needs: pip install 'lctl[test]'")

    async def ask() -> None:
        async with aiohttp.ClientSession() as session, session.post(_url(server), json=_CHAT) as answer:
            await answer.json()

    return lambda: asyncio.run(ask())


def by_openai_async(server: ModelServer) -> Doing:
    sdk = pytest.importorskip("openai", reason="needs: pip install 'lctl[test]'")

    async def ask() -> None:
        async with sdk.AsyncOpenAI(base_url=server.openai_url, api_key="k", max_retries=0) as client:
            await client.chat.completions.create(**_CHAT)

    return lambda: asyncio.run(ask())


#: How far it is from one place to the next in the default run, where there are hundreds.
_PLAIN: dict[Callable[[ModelServer], Doing], int] = {
    a_step: 1,
    a_traced_function: 1,
    a_traced_generator: 1,
    a_tool: 1,
    by_urllib: 7,
    by_urllib3: 7,
    by_requests: 7,
    by_httpx: 7,
    by_anthropic: 11,
    a_stream: 37,
}
_LOOPS: dict[Callable[[ModelServer], Doing], int] = {
    a_traced_coroutine: 5,
    by_aiohttp: 19,
    by_openai_async: 37,
}


class Sweep:
    """Does the same thing again and again, with a signal in another place each time."""

    def __init__(self, do: Doing, folder: Path, kind: type[BaseException]) -> None:
        self._do = do
        self._folder = folder
        self._kind = kind
        self._expected = self._twice(0)[1]
        self.places = self._seen

    def strike(self, n: int) -> None:
        raised, then = self._twice(n)
        if raised is None and self._seen < n:
            return  # one of the last ones, which are not in each run
        assert any(type(error) is self._kind for error in _chain(raised)), f"the {n}th: {raised!r}"
        assert then == self._expected, f"the {n}th"

    def _twice(self, n: int) -> tuple[BaseException | None, list[Any]]:
        """Twice, the first time with a signal in the `n`th place: what that raised; the second's steps and
        tools, each with whether it is inside a step, and how it ended."""
        path, aim = self._folder / f"{n}.lctl.json", Aim(n, _SPARED)
        raised: BaseException | None = None
        before = sys.gettrace()
        with lctl.LCTLSession(path=path):
            sys.settrace(aim)
            try:
                self._do()
            except BaseException as error:
                raised = error.with_traceback(None)
            finally:
                sys.settrace(before)
            self._seen = aim.seen
            count = sum(1 for _ in open_log(path).events())
            self._do()
        log = open_log(path)
        events = [event.to_dict() for event in log.events()]
        path.unlink()
        assert not log.open, f"the {n}th"
        begun = sorted(event["seq"] for event in events if event["type"] == "step_start")
        ended = sorted(event.get("step", 0) for event in events if event["type"] == "step_end")
        assert begun == ended, f"the {n}th"
        return raised, _told(events[count:])


def _told(events: list[dict[str, Any]]) -> list[Any]:
    began = [event["seq"] for event in events if event["type"] == "step_start"]
    return [
        (event["type"], event["data"].get("outcome"), event["type"] != "step_end" and "step" in event)
        for event in events
        if event["seq"] in began or event["type"] == "tool_call" or event.get("step") in began
        if event["type"] != "message"  # the question is new where the first call did not get to it
    ]


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The exception and what it was raised of: an SDK wraps what its transport fails with."""
    if error is None:
        return
    yield error
    yield from _chain(error.__cause__ or error.__context__)
    for one in error.exceptions if isinstance(error, BaseExceptionGroup) else ():
        yield from _chain(one)


@pytest.fixture(params=[KeyboardInterrupt, RuntimeError])
def kind(request: pytest.FixtureRequest) -> Iterator[type[BaseException]]:
    def stop(number: int, frame: object) -> None:
        raise request.param("stop")

    handled = signal.signal(signal.SIGUSR1, stop)
    yield request.param
    signal.signal(signal.SIGUSR1, handled)


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """What nobody has closed is not to be found in another test."""
    yield
    gc.collect()


def _strike(
    way: Callable[[ModelServer], Doing], folder: Path, kind: type[BaseException], stride: int
) -> None:
    with ModelServer() as server:
        do = way(server)
        with lctl.LCTLSession(path=folder / "first.lctl.json"):
            do()  # what is made once
        sweep = Sweep(do, folder, kind)
        assert sweep.places > 20
        for n in some(range(1, sweep.places + 1, stride), "LCTL_PLACES"):
            sweep.strike(n)


@pytest.mark.slow
@pytest.mark.parametrize("way", _PLAIN, ids=lambda way: way.__name__)
def test_some_places(way: Callable[[ModelServer], Doing], kind: type[BaseException], tmp_path: Path) -> None:
    _strike(way, tmp_path, kind, 2 * _PLAIN[way])


@pytest.mark.slow
@pytest.mark.parametrize("way", _PLAIN, ids=lambda way: way.__name__)
def test_all_places(way: Callable[[ModelServer], Doing], kind: type[BaseException], tmp_path: Path) -> None:
    _strike(way, tmp_path, kind, 1)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")
@pytest.mark.parametrize("kind", [KeyboardInterrupt], indirect=True)
@pytest.mark.parametrize("way", _LOOPS, ids=lambda way: way.__name__)
def test_places_in_event_loops(
    way: Callable[[ModelServer], Doing], kind: type[BaseException], tmp_path: Path
) -> None:
    """What else a handler raises in a loop's callback, asyncio tells its exception handler, and goes on."""
    _strike(way, tmp_path, kind, _LOOPS[way])


def test_a_session_that_is_left(kind: type[BaseException], tmp_path: Path) -> None:
    """Its log is whole, but where the signal comes before the first line of what leaves it."""
    before = sys.gettrace()

    def leave(path: Path, n: int) -> tuple[BaseException | None, int]:
        raised, aim = None, Aim(n)
        try:
            with lctl.LCTLSession(path=path) as session:
                with session.step("writer", "draft"):
                    pass
                sys.settrace(aim)
        except (KeyboardInterrupt, RuntimeError) as error:
            raised = error
        finally:
            sys.settrace(before)
        return raised, aim.seen

    leave(tmp_path / "first.lctl.json", 0)
    _, places = leave(tmp_path / "second.lctl.json", 0)
    assert places > 100
    for n in range(6, places, 5):
        path = tmp_path / f"{n}.lctl.json"
        raised, seen = leave(path, n)
        assert seen < n or type(raised) is kind, f"the {n}th"
        log = open_log(path)
        assert not log.open, f"the {n}th"
        assert [event.type for event in log.events()][:2] == ["step_start", "step_end"]


def test_a_handler_that_raises_a_time_limit_as_a_stream_begins(tmp_path: Path) -> None:
    """A `TimeoutError` is an `OSError`, as a file that cannot be opened is."""
    sdk = pytest.importorskip("openai", reason="needs: pip install 'lctl[test]'")
    opening = importlib.import_module("lctl.record.descriptors").open_apart.__code__

    def limit(number: int, frame: object) -> None:
        raise TimeoutError("too long")

    def trace(frame: Any, event: str, arg: object) -> None:
        if frame.f_code is opening:
            sys.settrace(None)
            signal.raise_signal(signal.SIGUSR1)

    handled, before = signal.signal(signal.SIGUSR1, limit), sys.gettrace()
    try:
        with (
            ModelServer() as server,
            sdk.OpenAI(base_url=server.openai_url, api_key="k", max_retries=0) as client,
            lctl.LCTLSession(path=tmp_path / "run.lctl.json"),
        ):
            sys.settrace(trace)
            with pytest.raises((sdk.APIConnectionError, TimeoutError)) as raised:
                client.chat.completions.create(**_CHAT, stream=True)
    finally:
        sys.settrace(before)
        signal.signal(signal.SIGUSR1, handled)
    assert any(str(error) == "too long" for error in _chain(raised.value))
