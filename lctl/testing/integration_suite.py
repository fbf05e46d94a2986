"""What every integration promises, as tests: subclass `IntegrationSuite` in a pytest module.

    class TestMine(IntegrationSuite):
        program = Path(__file__).parent / "programs" / "mine.py"
        integration = "mine"                    # the key of its entry point
        requires = ("mine", "openai")           # modules without which it is skipped

        def answer(self, request):              # what the model says: a text, a Reply, None for a seeded one
            return "Sunny." if request.tool_results else Reply(tool_calls=[("weather", {"city": "Rome"})])

The program is a script of the library as its users write them. Its `main()` does one thing in every way there
is (sync, async, streaming) and returns what came of it, as JSON; run as a script it prints that:

    if __name__ == "__main__":
        print(json.dumps(main()))

It makes clients without arguments: the environment leads them to a `ModelServer`. It is run under `lctl run`,
under `lctl rerun` with the server gone, and in one process as it is, then before, while and after lctl is
there, with an exception raised in each hook in turn. What its log says beyond that, tests of your own compare
with `self.outline(recorded.events)`.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import pytest

from lctl.codec import open_log
from lctl.testing import trial_start
from lctl.testing.outline import outline
from lctl.testing.request import Request
from lctl.testing.server import ModelServer

_LCTL = (sys.executable, "-m", "lctl")
_MODELS = ("llm", "embedding")


class Recorded(NamedTuple):
    """The program's run under `lctl run`.

    Attributes:
        plain: what it prints without lctl, and `out` with it.
        requests: how many model calls the server was asked.
    """

    plain: str
    out: str
    path: Path
    events: list[dict[str, Any]]
    tail: dict[str, Any]
    requests: int


def _is_installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # what it is part of is not there
        return False


class IntegrationSuite:
    """See the module."""

    program: ClassVar[Path]
    integration: ClassVar[str]
    requires: ClassVar[tuple[str, ...]] = ()
    #: Of the environment that the program is run in.
    environ: ClassVar[Mapping[str, str]] = {}
    #: More options of `lctl rerun`.
    rerun_options: ClassVar[tuple[str, ...]] = ()
    timeout: ClassVar[float] = 300

    def answer(self, request: Request) -> Any:
        """What the model says to a request; None: the seeded answer."""
        return None

    # -- what was run ----------------------------------------------------------------------

    @pytest.fixture(scope="class")
    @classmethod
    def server(cls) -> Iterator[ModelServer]:
        missing = [name for name in cls.requires if not _is_installed(name)]
        if missing:
            pytest.skip(f"{', '.join(missing)} not installed")
        with ModelServer(seed=1) as server:
            server.reply(cls().answer, times=None)
            yield server

    @pytest.fixture(scope="class")
    @classmethod
    def recorded(
        cls, server: ModelServer, trial: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
    ) -> Recorded:
        folder = tmp_path_factory.mktemp("recorded")
        before = server.count
        path = folder / "run.lctl.json"
        out = cls._run([*_LCTL, "run", "--output", str(path), str(cls.program)], folder, server.environ)
        log = open_log(path)
        assert not log.problems and log.recovered is None
        events = [event.to_dict() for event in log.events()]
        return Recorded(trial["printed"], out, path, events, log.tail or {}, server.count - before)

    @pytest.fixture(scope="class")
    @classmethod
    def trial(cls, server: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
        folder = tmp_path_factory.mktemp("trial")
        words = [str(cls.program), str(folder), cls.integration]
        cls._run([sys.executable, "-P", trial_start.__file__, *words], folder, server.environ)
        report: dict[str, Any] = json.loads((folder / "trial.json").read_text())
        events = open_log(folder / "trial.lctl.json").events()
        printed = (folder / "plain.txt").read_text(encoding="utf-8")
        return {**report, "printed": printed, "events": [event.to_dict() for event in events]}

    @classmethod
    def _run(cls, command: list[str], folder: Path, environ: Mapping[str, str]) -> str:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("LCTL_")}
        made = {**kept, "LCTL_DIR": str(folder / "logs"), "LCTL_QUIET": "1", **cls.environ, **environ}
        done = subprocess.run(
            command, cwd=folder, env=made, capture_output=True, text=True, timeout=cls.timeout, check=False
        )
        assert done.returncode == 0, done.stderr[-4000:]
        return done.stdout

    @staticmethod
    def outline(events: list[dict[str, Any]]) -> list[str]:
        """The log as a tree of lines; see `lctl.testing.outline`."""
        return outline(events)

    # -- what is promised ------------------------------------------------------------------

    def test_the_programs_result_is_the_same_with_lctl(self, recorded: Recorded) -> None:
        """What it prints under `lctl run` is what it prints without."""
        assert recorded.out == recorded.plain
        assert recorded.plain.strip()

    def test_each_model_call_is_recorded_once(self, recorded: Recorded) -> None:
        """A step for each call, and an exchange for each request that the server got: each attempt of it."""
        steps = [e for e in recorded.events if e["type"] == "step_start" and e["data"].get("kind") in _MODELS]
        wired = {e["seq"] for e in steps if "operation" in e["data"]}
        exchanges = [e for e in recorded.events if e["type"] == "exchange" and e.get("step") in wired]
        assert len(exchanges) == recorded.requests
        assert sorted(e["step"] for e in exchanges if e["data"]["attempt"] == 1) == sorted(wired)

    def test_steps_nest_and_end(self, recorded: Recorded) -> None:
        """Each step ends once, within the one it began in, and holds nothing after its end."""
        open_steps: dict[int, int | None] = {}
        for event in recorded.events:
            step = event.get("step")
            if event["type"] == "step_start":
                assert step is None or step in open_steps, event
                open_steps[event["seq"]] = step
            elif event["type"] == "step_end":
                assert step in open_steps and step not in open_steps.values(), event
                del open_steps[step]
            elif event["type"] != "exchange" and step is not None:
                assert step in open_steps, event
        assert open_steps == {}

    def test_nothing_was_missed(self, recorded: Recorded) -> None:
        """No failure of ours, and no tool whose result could not be kept."""
        told = recorded.tail.get("recording") or {}
        assert told.get("failures", {}) == {}
        assert told.get("executed", {}) == {}

    def test_a_tool_call_is_recorded_once(self, recorded: Recorded) -> None:
        """No call of the model has two events of one execution."""
        calls = [e["data"] for e in recorded.events if e["type"] == "tool_call" and e["data"].get("call_id")]
        done = [call["call_id"] for call in calls if "paused" not in call]
        assert len(done) == len(set(done))

    def test_a_rerun_is_exact(self, recorded: Recorded, server: ModelServer, tmp_path: Path) -> None:
        """Offline, tools not run: the same output, the same events, and nobody asked."""
        before = server.count
        again = tmp_path / "again.lctl.json"
        words = ["rerun", str(recorded.path), "--output", str(again), *self.rerun_options]
        out = self._run([*_LCTL, *words], tmp_path, {})
        assert out == recorded.out
        assert [event.to_dict() for event in open_log(again).events()] == recorded.events
        assert server.count == before

    def test_a_failing_hook_leaves_the_run_as_it_was(self, trial: dict[str, Any]) -> None:
        """An exception in any hook changes nothing of the result, and the log says what was missed."""
        assert trial["places"]
        for place, run in trial["failed"].items():
            assert run["result"] == trial["plain"], place
            assert run["missed"].get(place, 0) > 0, (place, run["missed"])
            assert run["problems"] == 0, place

    def test_every_hook_is_found(self, trial: dict[str, Any]) -> None:
        """In this version of the library."""
        assert (trial["state"], trial["missing"]) == ("patched", [])

    def test_it_leaves_no_trace(self, trial: dict[str, Any]) -> None:
        """After uninstrument() modules and classes are as before, and the program as well."""
        assert trial["left"] == []
        assert trial["again"] == trial["plain"]

    def test_when_it_is_instrumented_is_all_one(self, recorded: Recorded, trial: dict[str, Any]) -> None:
        """After the imports and twice: the result and the events of before the imports and once."""
        assert trial["recorded"] == trial["plain"]
        assert self.outline(trial["events"]) == self.outline(recorded.events)


__all__ = ["IntegrationSuite", "Recorded"]
