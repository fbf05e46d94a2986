"""A test's cassette: an ordinary log, recorded by the first run of the test and replayed by the others."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from lctl.errors import RerunError, RerunStopped, UsageError
from lctl.rerun.guarding.outsiders import Outsiders
from lctl.session.concurrency import lanes
from lctl.session.concurrency.lane import Lane

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import ExitStack

    from lctl.rerun.block import Block
    from lctl.rerun.serving.matching import Policy

Mode = Literal["none", "once", "new", "all"]
#: Of a test: its fixtures are set up, it is called, they are torn down.
Part = Literal["set-up", "call", "tear-down"]

#: The main flow of each. What a fixture starts does not move what the test itself asks.
_PARTS: dict[Part, str] = {"set-up": "1", "call": "0", "tear-down": "2"}
#: What a test may do in a replay.
_ALLOWED = ("write:/", "subprocess", "network:localhost", "network:127.0.0.1")


class Cassette:
    """Record into it, or replay from it, from `begin` to `end`.

    Args:
        path: the log. It appears when the test has passed, whole or not at all.
        mode: none, once, new or all, as `--lctl-record`.
        policy: of a replay: strict, or pin (an edited request gets the recorded answer).
        ambient: clock, random and environment reads of the test's own code are recorded, too.
        shared: it is of what several tests share. Only where a model is asked there is one at all, and
            processes that are started meanwhile are left alone.

    Attributes:
        recording: whether this run records (False: it replays).
        unused: what was recorded and not asked for by this replay, a line each.
        base: where pytest keeps the temporary folders of this run; None where it has made none.
    """

    base: Callable[[], str | None] = staticmethod(lambda: None)

    def __init__(
        self,
        path: Path,
        mode: Mode = "once",
        *,
        policy: Policy = "strict",
        ambient: bool = False,
        shared: bool = False,
    ) -> None:
        if mode not in get_args(Mode):
            raise UsageError(f"record={mode!r}: it is one of {', '.join(get_args(Mode))}")
        self.path = path
        self.mode = mode
        self.policy = policy
        self.ambient = ambient
        self.shared = shared
        self.recording = mode == "all" or (mode != "none" and not path.exists())
        self.unused: list[str] = []
        self._stack: ExitStack | None = None
        self._block: Block | None = None
        self._part = path.with_name(f".{path.name}.part")
        note = path.with_name(f".{path.name}.refused")
        self._outsiders = Outsiders(str(path), str(note.absolute()), None if self.recording else _ALLOWED)

    @property
    def is_running(self) -> bool:
        return self._stack is not None

    def begin(self) -> None:
        """Record or replay from here on: what sets the test up, in a main flow of its own.

        Raises:
            RerunError: recording is off, and there is no cassette.
        """
        from contextlib import ExitStack

        if not self.recording and not self.path.exists():
            raise RerunError(
                f"{self.path}: no such cassette, and recording is off; record it with --lctl-record=once"
            )
        stack = ExitStack()
        try:
            if self.recording:
                self._record(stack)
            else:
                self._replay(stack)
        except BaseException:
            stack.close()
            raise
        self._stack = stack

    def turn_to(self, part: Part) -> None:
        """What comes next is another part of the test: what one asks moves nothing in the others."""
        lanes.enter(Lane(_PARTS[part]))  # undone at the end: a fixture's context may be the test's

    def check(self) -> None:
        """Raises RerunStopped where the test swallowed the one it got, or a process it started got one."""
        refused = self.refused()
        stopped = None if self._block is None else self._block.why_stopped
        if stopped or refused:
            raise RerunStopped(stopped or refused)

    def refused(self) -> str:
        """What processes that the test started were refused since the last time."""
        return self._outsiders.refused()

    def end(self, *, passed: bool) -> None:
        """No more. The cassette is there, or has more, if the test has `passed`.

        Raises:
            RerunStopped: as `check`.
        """
        stack, self._stack = self._stack, None
        if stack is None:
            return
        try:
            stack.close()
            if passed:
                self._conclude()
        finally:
            self._outsiders.refused()
            self._part.unlink(missing_ok=True)

    def _conclude(self) -> None:
        self.check()
        if self._block is None:
            if self.shared and not self._asked():
                self.path.unlink(missing_ok=True)
            else:
                self._part.replace(self.path)
            return
        certificate = self._block.certificate
        self.unused = [f"{self.path}: {one}" for one in certificate.unused]
        if certificate.stopped is not None:
            raise RerunStopped(certificate.stopped)
        if certificate.live:
            self._extend()

    def _asked(self) -> bool:
        """Whether what was recorded asks a model."""
        from lctl.codec import open_log
        from lctl.state.model import MODEL_KINDS

        return any(
            event.type == "step_start" and event.data.get("kind") in MODEL_KINDS
            for event in open_log(self._part).events()
        )

    def _record(self, stack: ExitStack) -> None:
        """What the test calls goes into a log beside the cassette."""
        from lctl.instrument import ensure_installed, settings

        self._part.parent.mkdir(parents=True, exist_ok=True)
        self._part.unlink(missing_ok=True)
        for name, value in (("full", True), ("files", False), ("commands", False)):
            stack.callback(setattr, settings, name, getattr(settings, name))
            setattr(settings, name, value)
        ensure_installed(always=True)
        self._open(stack)

    def _replay(self, stack: ExitStack) -> None:
        """What the test calls comes from the cassette."""
        from lctl.rerun.block import rerun
        from lctl.rerun.tape.drawnplaces import DrawnPlaces

        self._part.unlink(missing_ok=True)
        self._set_variables(stack)
        policy: Any = self.policy
        block = rerun(
            self.path,
            policy=policy,
            on_miss="live" if self.mode == "new" else "stop",
            files="now",  # those of a test are in the test's care
            output=self._part,
            allow=_ALLOWED,
        )
        self._block = stack.enter_context(block)
        places = DrawnPlaces(lambda: self.base())
        self._block.know_places(places)
        places.begin()
        stack.callback(places.end)
        self._open(stack)

    def _set_variables(self, stack: ExitStack) -> None:
        """What clients want to have before they ask anything: a key, and the server that was recorded."""
        from lctl.codec import open_log
        from lctl.rerun.settings import DUMMY_KEY

        known = open_log(self.path).chain.get("program")
        if not isinstance(known, dict):
            return
        recorded = known.get("env")
        for name, value in (recorded if isinstance(recorded, dict) else {}).items():
            if isinstance(value, str):
                _set_unless_there(stack, str(name), value)
        for name in map(str, known.get("keys") or ()):
            if not os.environ.get(name):  # empty, as a secret is that CI withholds: clients refuse it
                _set(stack, name, DUMMY_KEY)
        for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
            _set_unless_there(stack, name, DUMMY_KEY)

    def _open(self, stack: ExitStack) -> None:
        from lctl.session import LCTLSession, default

        stack.callback(lanes.leave, lanes.enter(Lane(_PARTS["set-up"])))
        if not self.shared:
            stack.callback(self._outsiders.enter(self._leave_to_parent))
        if self.ambient:
            from lctl.instrument import ambient

            if not ambient.is_installed():
                ambient.install()
                stack.callback(ambient.uninstall)
        session = LCTLSession(self.path.name.removesuffix(".lctl.json"), self._part)
        stack.callback(session.close)
        stack.enter_context(default.stand_in(session))

    def _leave_to_parent(self) -> None:
        if self._block is not None:
            self._block.abandon()

    def _extend(self) -> None:
        """The replay's own log, which holds what was served and what was made, is the cassette now."""
        from lctl.chain import Chain

        document = Chain.load(self._part).to_dict()
        document["chain"] = Chain.load(self.path).to_dict()["chain"]
        for event in document["events"]:
            event["data"].pop("match", None)
        Chain.from_dict({key: document[key] for key in ("lctl", "chain", "events")}).save(self._part)
        self._part.replace(self.path)


def _set_unless_there(stack: ExitStack, name: str, value: str) -> None:
    if name not in os.environ:
        _set(stack, name, value)


def _set(stack: ExitStack, name: str, value: str) -> None:
    before = os.environ.get(name)
    os.environ[name] = value
    if before is None:
        stack.callback(os.environ.pop, name, None)
    else:
        stack.callback(os.environ.__setitem__, name, before)
