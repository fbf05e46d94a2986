"""The running steps of a session: beginning, ending and finding them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from lctl.clock import Clock
from lctl.interrupts import is_stop
from lctl.session.jsonable import name_text
from lctl.session.runs import context, halves
from lctl.session.runs.context import Frame
from lctl.session.runs.leaving import Leaving
from lctl.session.runs.steps import StepScope, has_failed, mark_of, outcome_of, was_left, was_reported

if TYPE_CHECKING:
    from lctl.session.crashes import Ends
    from lctl.session.session import LCTLSession

_raw = context.raw
_set_current = context.set_current
_locators = context.locators


class Stepping:
    """Mixed into `LCTLSession`, which brings `emit`, the clock and the top frame."""

    _clock: Clock
    _root: Frame
    _frames: dict[int, Frame]  # open steps by seq
    leaving: Leaving
    made_up: set[str]
    _forked: bool
    _watch: Any
    ended_as: str | None = None  # "error" or "interrupted" where an exception ended it

    def _is_watched(self) -> bool:
        raise NotImplementedError

    def _look(self, quiet: bool = False) -> None:
        raise NotImplementedError

    def emit(
        self, type: str, data: dict[str, Any], *, agent: str | None = None, step: int | None = None
    ) -> int:
        raise NotImplementedError

    def _record(self, type: str, agent: str, data: dict[str, Any], step: int | None) -> int:
        raise NotImplementedError

    def _session(self) -> LCTLSession:
        raise NotImplementedError

    def frame(self) -> Frame:
        """The innermost open step of this session that the running code is in; else the session's top."""
        frame = _raw()
        if frame is None or not frame.open or frame.inside is not None or _locators:
            frame = context.current()
        while frame is not None and frame.session is not self:
            frame = frame.parent
        if frame is None or (self._forked and not self._is_after_fork(frame)):
            return self._root
        return frame

    def _is_after_fork(self, frame: Frame | None) -> bool:
        while frame is not None and frame is not self._root:
            frame = frame.parent
        return frame is not None

    def step(self, agent: str | None = None, intent: str | None = None, **data: Any) -> StepScope:
        """A step as a block: `with session.step("reviewer", "assess") as step:`."""
        if intent is not None:
            data = {"intent": intent, **data} if data else {"intent": intent}
        return StepScope(self, agent, data)  # type: ignore[arg-type]  # as `_session` says, a call less

    def step_start(
        self,
        agent: str | None = None,
        intent: str | None = None,
        input_summary: str | None = None,
        **data: Any,
    ) -> int:
        """Begin a step inside the running one; it is the running one until `step_end`."""
        given = {
            name: v for name, v in (("intent", intent), ("input_summary", input_summary)) if v is not None
        }
        frame = self.begin_step(agent, {**given, **data}, context.generator_of(sys._getframe(1)))
        return 0 if frame is None else frame.step or 0

    def step_end(
        self,
        agent: str | None = None,
        outcome: str = "success",
        output_summary: str | None = None,
        duration_ms: float | None = None,
        tokens: dict[str, int] | None = None,
        *,
        step: int | None = None,
        **data: Any,
    ) -> int:
        """End the running step, or the newest open one of `agent`, or the one whose seq is `step`.

        May be called from another task or thread than `step_start`. `tokens_in` and `tokens_out` stand for
        `tokens={"input": ..., "output": ...}`.
        """
        if tokens is None and ("tokens_in" in data or "tokens_out" in data):
            tokens = {"input": data.pop("tokens_in", 0), "output": data.pop("tokens_out", 0)}
        given = (("output_summary", output_summary), ("duration_ms", duration_ms), ("tokens", tokens))
        result = {"outcome": outcome, **{name: v for name, v in given if v is not None}, **data}
        frame = self._step_to_end(agent, step)
        if frame is None:
            return self.emit("step_end", result, agent=agent, step=step)
        return self.finish_step(frame, None, result)

    def begin_step(self, agent: str | None, data: dict[str, Any], inside: Any = None) -> Frame | None:
        """Record a step_start and make it current; None when it could not be recorded."""
        above = self.frame()
        who = above.agent if agent is None else agent if type(agent) is str else name_text(agent)
        parent = above if above is not self._root else context.current() or above
        frame = Frame(self, None, who, parent, inside)  # type: ignore[arg-type]
        try:
            frame.step = seq = self._record("step_start", who, data, above.step)
            if not seq:
                return None
            frame.started_ns = self._clock.monotonic_ns()
            self._frames[seq] = frame
            _set_current(frame)
            if self._watch is not None and self._is_watched():
                self._look()
        except BaseException as error:  # a contract's, or Ctrl-C: the step has not begun for its program
            self._end_begun(frame, data, above.step, error)
            raise
        return frame

    def _end_begun(self, frame: Frame, data: dict[str, Any], above: int | None, error: BaseException) -> None:
        """End a step that `error` has kept from beginning, if it is in the log."""
        if not frame.step and is_stop(error):
            frame.step = halves.begun(frame, data, above, self._frames.keys() | self.leaving.calls.keys())
        if frame.step:
            frame.started_ns = frame.started_ns or self._clock.monotonic_ns()
            self._frames[frame.step] = frame
            self.finish_step(frame, error, {})

    def finish_step(self, frame: Frame, error: BaseException | None, result: dict[str, Any]) -> int:
        """Record the step_end of `frame`, if it is still open. Of a step that is left, that is done when
        what goes on inside has ended."""
        if (
            error is not None
            and frame.step in self._frames
            and was_left(error)
            and self._waits(frame, error, result)
        ):
            return 0
        data: dict[str, Any] = {"outcome": "success" if error is None else outcome_of(error)}
        if result:
            data |= result
        try:
            if self._frames.pop(frame.step or 0, None) is None:
                frame.open = False
                return 0
            frame.open = False
            current = _raw()
            if current is frame:
                _set_current(frame.parent)
            elif error is not None and current is not None:
                self._leave(current, frame, error)
            return self._record_end(frame, error, data)
        except BaseException as stop:
            if is_stop(stop):
                halves.end(frame, data)
            raise

    def _record_end(self, frame: Frame, error: BaseException | None, data: dict[str, Any]) -> int:
        if error is not None and outcome_of(error) == "error":
            if not was_reported(error, frame.failed):
                from lctl.session import crashes  # here: most programs end well

                self._record("error", frame.agent, crashes.data_of(error), frame.step)
            if frame.parent is not None:  # the steps around this one need not say it again
                frame.parent.failed = mark_of(error)
        if "duration_ms" not in data:
            # To the nearest microsecond; `round` of a float takes fifteen times as long.
            data["duration_ms"] = (self._clock.monotonic_ns() - frame.started_ns + 500) // 1000 / 1000
        seq = self._record("step_end", frame.agent, data, frame.step)
        self._end_left(frame.step or 0)
        if self._watch is not None and self._is_watched():
            self._look(quiet=error is not None)
        return seq

    def finish_interrupted(
        self, frame: Frame, error: BaseException | None, result: dict[str, Any], stop: BaseException
    ) -> None:
        """`stop` has left `finish_step`, perhaps before its first line."""
        if frame.step in self._frames and not was_left(error or stop) and is_stop(stop):
            self.finish_step(frame, error, result)
        frame.open = False

    def _waits(self, frame: Frame, error: BaseException, result: dict[str, Any]) -> bool:
        """Whether the end of a step that was left waits for what is open inside."""
        current = _raw()
        if current is not None and current is not frame:
            self._leave(current, frame, error)
        if not self.leaving.waits(frame, error, result, self._clock.monotonic_ns()):
            return False
        if current is frame:
            _set_current(frame.parent)
        return True

    def call_ended(self, step: int, *, late: bool = False) -> None:
        """The model call of that step has ended, and with it what was left meanwhile.

        Args:
            late: it was written long after it ended.
        """
        self.leaving.calls.pop(step, None)
        self._end_left(step, late)

    def _end_left(self, step: int, late: bool = False) -> None:
        for frame, error, result, _, ended_ns in self.leaving.ended(step):
            if late:
                result = {"duration_ms": (ended_ns - frame.started_ns + 500) // 1000 / 1000, **result}
            self.finish_step(frame, error, result)

    def _leave(self, current: Frame, outer: Frame, error: BaseException) -> None:
        """`error` has left `outer`, and with it the steps inside that the running code is in: it came as they
        began (Ctrl-C), or nobody has ended them."""
        inner: list[Frame] = []
        frame: Frame | None = current
        while frame is not outer:
            if frame is None or frame.step is None or frame.inside is not None:
                return  # another task's, another session's, a generator's
            inner.append(frame)
            frame = frame.parent
        for one in inner:
            one.session.finish_step(one, error, {})
        _set_current(outer.parent)

    def told(self, error: BaseException) -> None:
        """`error` is about to leave the running code, and has been recorded: no `error` event need say so."""
        self.frame().failed = mark_of(error)

    def end_steps(self, error: BaseException) -> None:
        """End the steps that the running code is in, which `error` has left."""
        frame: Frame | None = self.frame()
        while frame is not None and frame.step is not None:
            above = frame.parent
            if frame.session is self:
                self.finish_step(frame, error, {})
            frame = above

    def fail(
        self,
        error: BaseException,
        ends: Ends,
        top: Frame | None = None,
        request: str | None = None,
        places: list[str] | None = None,
    ) -> None:
        """The program, this session's block (whose frame is `top`), a thread (started there) or the answer to
        a request ends with `error`: an `error` event says so, unless one of the steps below has. Of what is
        no failure, Ctrl-C alone is told: without it the run would look as if it had got to its end.

        Args:
            places: as of `crashes.data_of`.
        """
        top = top or self._root
        stopped = isinstance(error, KeyboardInterrupt)
        is_told = stopped or has_failed(error)
        if is_told and ends in ("program", "session"):
            self.ended_as = "interrupted" if stopped else "error"
        if is_told and not was_reported(error, top.failed):
            from lctl.session import crashes  # here: most programs end well

            step = top.step if top.open else None
            self._record("error", top.agent, crashes.data_of(error, ends, request, places), step)

    def _step_to_end(self, agent: str | None, step: int | None) -> Frame | None:
        if step is not None:
            return self._frames.get(step) if type(step) is int else None
        frame: Frame | None = self.frame()
        if agent is None:
            return frame if frame is not None and frame.step is not None else None
        while frame is not None:
            if frame.agent == agent and frame.session is self and frame.step in self._frames:
                return frame
            frame = frame.parent
        return next((f for f in reversed(list(self._frames.values())) if f.agent == agent), None)

    def _open_frames(self) -> list[Frame]:
        return [self._frames[seq] for seq in sorted(self._frames, reverse=True)]
