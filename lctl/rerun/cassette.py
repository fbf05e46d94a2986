"""A test's cassette: an ordinary log, recorded by the first run of the test and replayed by the others."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from lctl.errors import LctlError, RerunError, RerunStopped, UsageError

if TYPE_CHECKING:
    from contextlib import ExitStack

    from lctl.rerun.block import Block
    from lctl.rerun.matching import Policy

Mode = Literal["none", "once", "new", "all"]


class Cassette:
    """Record into it, or replay from it, for as long as it is entered.

    Args:
        path: the log. It appears when the block ends without an error, whole or not at all.
        mode: none, once, new or all, as `--lctl-record`.
        policy: of a replay: strict, or pin (an edited request gets the recorded answer).
        ambient: clock, random and environment reads of the test's own code are recorded, too.

    Attributes:
        recording: whether this run records (False: it replays).
        unused: what was recorded and not asked for by this replay, a line each.
    """

    def __init__(
        self, path: Path, mode: Mode = "once", *, policy: Policy = "strict", ambient: bool = False
    ) -> None:
        if mode not in get_args(Mode):
            raise UsageError(f"record={mode!r}: it is one of {', '.join(get_args(Mode))}")
        self.path = path
        self.mode = mode
        self.policy = policy
        self.ambient = ambient
        self.recording = mode == "all" or (mode != "none" and not path.exists())
        self.unused: list[str] = []
        self._stack: ExitStack | None = None
        self._block: Block | None = None
        self._part = path.with_name(f".{path.name}.part")

    def __enter__(self) -> Self:
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
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        stack, self._stack = self._stack, None
        if stack is None:
            return
        try:
            stack.__exit__(kind, error, trace)
            if error is None:
                self._conclude()
        finally:
            self._part.unlink(missing_ok=True)

    def _conclude(self) -> None:
        """Raises RerunStopped where the test swallowed the one it got."""
        if self._block is None:
            self._part.replace(self.path)
            return
        certificate = self._block.certificate
        self.unused = [f"{self.path}: {one}" for one in certificate.unused]
        if certificate.stopped is not None:
            raise RerunStopped(certificate.stopped)
        if certificate.live:
            self._extend()

    def _record(self, stack: ExitStack) -> None:
        """What the test calls goes into a log beside the cassette."""
        from lctl.instrument import ensure_installed, settings

        self._part.parent.mkdir(parents=True, exist_ok=True)
        self._part.unlink(missing_ok=True)
        stack.callback(setattr, settings, "full", settings.full)
        settings.full = True
        ensure_installed()
        stack.enter_context(lanes_from_the_top())
        self._open(stack)

    def _replay(self, stack: ExitStack) -> None:
        """What the test calls comes from the cassette."""
        from lctl.rerun.block import rerun

        self._part.unlink(missing_ok=True)
        self._set_variables(stack)
        policy: Any = self.policy
        block = rerun(
            self.path,
            policy=policy,
            on_miss="live" if self.mode == "new" else "stop",
            output=self._part,
            allow=("write:/", "subprocess", "network:localhost", "network:127.0.0.1"),
        )
        self._block = stack.enter_context(block)
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
        for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", *(known.get("keys") or ())):
            _set_unless_there(stack, str(name), DUMMY_KEY)

    def _open(self, stack: ExitStack) -> None:
        from lctl.session import LCTLSession, default

        session = LCTLSession(self.path.name.removesuffix(".lctl.json"), self._part)
        stack.callback(session.close)
        stack.enter_context(default.stand_in(session))

    def _extend(self) -> None:
        """The replay's own log, which holds what was served and what was made, is the cassette now."""
        from lctl.chain import Chain

        document = Chain.load(self._part).to_dict()
        document["chain"] = Chain.load(self.path).to_dict()["chain"]
        for event in document["events"]:
            event["data"].pop("match", None)
        Chain.from_dict({key: document[key] for key in ("lctl", "chain", "events")}).save(self._part)
        self._part.replace(self.path)


@contextmanager
def lanes_from_the_top() -> Iterator[None]:
    """Lanes of the block count from its beginning, whatever ran before in this process."""
    from lctl.session import lanes

    token = lanes.enter(lanes.Lane("0"))
    try:
        yield
    finally:
        lanes.leave(token)


def of_test(
    file: Path, name: str, *, folder: str, mode: Mode, path: str | None = None, **options: Any
) -> Cassette:
    """The cassette of the test `name` in `file`.

    A path is relative to the test's file. A parametrised test has one for each set of parameters:
    `checkout.lctl.json` becomes `checkout[eur].lctl.json`.
    """
    bare, bracket, parameters = name.partition("[")
    suffix = _safe(bracket + parameters)
    if path is None:
        own = f"{_safe(bare)}{suffix}.lctl.json"
        return Cassette(file.parent / folder / file.stem / own, mode, **options)
    given = file.parent / path
    stem = given.name.removesuffix(".json").removesuffix(".lctl")
    return Cassette(given.with_name(f"{stem}{suffix}.lctl.json"), mode, **options)


def _safe(name: str) -> str:
    return re.sub(r"[^\w\[\]=.,+-]", "_", name)[:120]


def _set_unless_there(stack: ExitStack, name: str, value: str) -> None:
    if name not in os.environ:
        os.environ[name] = value
        stack.callback(os.environ.pop, name, None)


__all__ = ["Cassette", "LctlError", "of_test"]
