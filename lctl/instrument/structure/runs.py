"""Steps by a framework's own run ids, for frameworks that tell of begin and end in callbacks."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lctl.guard import guard
from lctl.session.default import get_session
from lctl.session.runs import context
from lctl.session.runs.context import Frame

if TYPE_CHECKING:
    from lctl.session.session import LCTLSession

#: Runs known at once before those that have ended, of which nobody told, are looked for.
_MANY = 512


class Runs:
    """The open steps of one framework. Safe from several threads; every method is harmless for an id it
    does not know, so that a begin that failed is no trouble to what follows."""

    def __init__(self) -> None:
        self._frames: dict[Hashable, Frame] = {}
        self._skipped: dict[Hashable, Frame] = {}  # where the runs are that are no steps
        self._locate: Callable[[], Frame | None] | None = None

    def locate(self, key_here: Callable[[], Hashable] | None) -> None:
        """Find the running code's step by the framework's own variable, for frameworks whose callbacks do
        not run in the context of what they tell of.

        Args:
            key_here: the id of the run that the running code is in, None outside any. Asked for often, so
                it must be fast. None instead takes it away.
        """
        if self._locate is not None:
            context.locators.remove(self._locate)
            self._locate = None
        if key_here is not None:
            frames, skipped, ask = self._frames, self._skipped, key_here

            def locate() -> Frame | None:
                try:
                    key = ask()
                    return None if key is None else frames.get(key) or skipped.get(key)
                except Exception as error:
                    guard.failed("the step that the running code is in", error)
                    return None

            self._locate = locate
            context.locators.append(locate)

    def begin(
        self,
        key: Hashable,
        agent: str | None = None,
        *,
        kind: str,
        intent: str | None = None,
        parent: Hashable = None,
        here: bool = True,
        session: LCTLSession | None = None,
        **data: Any,
    ) -> int:
        """Begin the step of run `key`; its seq, 0 where nothing is recorded.

        Args:
            agent: the enclosing step's when None.
            parent: the run it is in. An unknown one counts as none: then it is in the step that the
                running code is in.
            session: what a run that is in no other records into; by default what the running code does.
            here: the running code is in the step from now on, until it ends. False where a callback does
                not run in the context of what it tells of.
        """
        before = context.raw()
        above = self.frame(parent)
        given: dict[str, Any] = {"kind": kind} if intent is None else {"intent": intent, "kind": kind}
        given |= data
        frame = None
        try:
            if above is not None and not _is_within(context.current(), above):
                with context.pinned(above):
                    frame = above.session.begin_step(agent, given)
                if frame is not None:
                    context.set_current(frame)
            else:
                found = get_session() if above is not None or session is None else session
                frame = None if found is None else found.begin_step(agent, given)
        finally:
            if frame is None or not here:
                context.set_current(before)
        if frame is None:
            return 0
        if len(self._frames) + len(self._skipped) > _MANY:
            self._forget_ended()
        self._frames[key] = frame
        return frame.step or 0

    def end(self, key: Hashable, error: BaseException | None = None, **result: Any) -> int:
        """End the step of run `key`: "success", or what `error` means, or `outcome=` of `result`."""
        self._skipped.pop(key, None)
        frame = self._frames.pop(key, None)
        return 0 if frame is None else frame.session.finish_step(frame, error, result)

    def goes_on(self, key: Hashable) -> bool:
        """Whether a step or a model call inside that of run `key` has not ended."""
        frame = self._frames.get(key)
        return frame is not None and bool(frame.session.leaving.inside(frame))

    def skip(self, key: Hashable, parent: Hashable) -> None:
        """Run `key` is no step: what happens in it happens in that of `parent`."""
        frame = self.frame(parent)
        if frame is not None:
            self._skipped[key] = frame

    def tells_of(self, frame: Frame) -> bool:
        """Whether the step is of one of these runs."""
        return any(frame is one for one in list(self._frames.values()))

    def is_told(self, key: Hashable, frame: Frame) -> None:
        """Run `key` is what step `frame`, of somebody else, tells of already."""
        self._skipped[key] = frame

    def is_skipped(self, key: Hashable) -> bool:
        return key in self._skipped

    def frame(self, key: Hashable) -> Frame | None:
        """Where run `key` is, or the nearest place around it that is still open."""
        frame = self._frames.get(key) or self._skipped.get(key)
        while frame is not None and not frame.open:
            frame = frame.parent
        return frame

    def knows(self, key: Hashable) -> bool:
        return key in self._frames or key in self._skipped

    @contextmanager
    def within(self, key: Hashable) -> Iterator[Frame | None]:
        """Run the block in the step of run `key`."""
        frame = self.frame(key)
        if frame is None:
            yield None
            return
        with context.pinned(frame):
            yield frame

    def emit(self, key: Hashable, type: str, data: dict[str, Any], agent: str | None = None) -> int:
        """Record an event in the step of run `key`, or where the running code is."""
        with self.within(key) as frame:
            session = get_session() if frame is None else frame.session
            return 0 if session is None else session.emit(type, data, agent=agent)

    def handoff(self, key: Hashable, to: str, *, from_: str | None = None, **data: Any) -> int:
        """The work of run `key` goes to agent `to`."""
        with self.within(key) as frame:
            session = get_session() if frame is None else frame.session
            return 0 if session is None else session.handoff(to, from_=from_, **data)

    def clear(self) -> None:
        """Forget all runs; their steps end with their session."""
        self._frames.clear()
        self._skipped.clear()

    def _forget_ended(self) -> None:
        for known in (self._frames, self._skipped):
            for key, frame in list(known.items()):
                if not frame.open:
                    known.pop(key, None)


def _is_within(frame: Frame | None, above: Frame) -> bool:
    while frame is not None:
        if frame is above:
            return True
        frame = frame.parent
    return False
