"""Model calls as their framework tells them: for models whose calls pass no wire that is read.

Whoever tells of a call opens it before the model is asked; an exchange that is recorded meanwhile, in the
same task or in what it starts, is that call (`told`), and nothing more is said of it.
"""

from __future__ import annotations

from typing import Any

from lctl.instrument.suppress import silenced
from lctl.session.default import get_session
from lctl.session.jsonable import text_of_error
from lctl.session.runs import context, told
from lctl.session.runs.context import Frame
from lctl.session.runs.steps import outcome_of
from lctl.trust import taxonomy


class ModelCall:
    """One call, from its begin on.

    Attributes:
        seen: an exchange was recorded beneath it.
    """

    __slots__ = ("_frame", "_model", "_more", "_prompt", "_session", "_started", "above", "open", "seen")

    def __init__(self, model: str | None, prompt: Any, frame: Frame | None, more: dict[str, Any]) -> None:
        self._session = None if silenced() else (get_session() if frame is None else frame.session)
        self._model, self._prompt, self._more = model, prompt, more
        self._frame = frame
        self._started = self._session.clock.monotonic_ns() if self._session is not None else 0
        self.above = told.around()
        self.seen = False
        self.open = True

    @classmethod
    def begin(
        cls, model: str | None, prompt: Any = None, *, frame: Frame | None = None, **more: Any
    ) -> ModelCall:
        """A call is about to be made, in the running code's task or thread.

        Args:
            prompt: messages as a provider takes them, a text, or a function without arguments that gives
                either: called only if the call is recorded.
            frame: the step it is made in; the running code's when None.
            more: of its `step_start`: provider, operation, params, ...
        """
        call = cls(model, prompt, frame, more)
        told.current.set(call)
        return call

    def end(
        self, response: Any = None, *, usage: Any = None, error: BaseException | None = None, **more: Any
    ) -> int:
        """It has returned or raised. Its step's seq; 0 where the wire has told of it.

        Args:
            response: the assistant's message, its text, or a function that gives it.
            usage: token counts in any provider's names.
        """
        if not self.open:
            return 0
        self.open = False
        if told.current.get() is self:
            told.current.set(self.above)
        session = self._session
        if self.seen or session is None or session.closed:
            return 0
        token = context.enter(self._frame) if self._frame is not None else None
        try:
            if error is not None and outcome_of(error) == "error":
                kind = taxonomy.of_exception(error)
                session.error(
                    kind.category,
                    kind.type,
                    text_of_error(error),
                    kind.recoverable,
                    kind.suggested_action,
                    context={"exception": taxonomy.name_of(error)},
                )
            return session.llm_trace(
                _value(self._prompt),
                _value(response),
                self._model,
                usage,
                round((session.clock.monotonic_ns() - self._started) / 1e6, 3),
                outcome=outcome_of(error),
                **self._more,
                **more,
            )
        finally:
            if token is not None:
                context.leave(token)


def _value(given: Any) -> Any:
    return given() if callable(given) else given
