"""Threads and assistants that OpenAI keeps: what a run reads that its request does not say."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

from lctl.instrument.codecs.assistants import SUBMIT, add_instructions
from lctl.instrument.codecs.model import ModelAnswer, ModelRequest
from lctl.instrument.plans import Plan


@dataclass(slots=True)
class Ended:
    """A run that has ended, of whose messages none is known."""

    request: ModelRequest
    leaf: str | None
    step: int


@dataclass(slots=True)
class Threads:
    """What is known of the provider's own, under the recorder's lock.

    Attributes:
        assistants: by id, what their last definition or run said.
        waiting: messages of a thread that no run has read yet.
        asking: model and tools of runs that wait for results, by id.
        ended: runs, by id.
    """

    assistants: dict[str, dict[str, Any]] = field(default_factory=dict)
    waiting: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    asking: dict[str, tuple[str | None, list[Any] | None]] = field(default_factory=dict)
    ended: dict[str, Ended] = field(default_factory=dict)

    def complete(self, plan: Plan, request: ModelRequest, *, is_led: bool) -> None:
        """Put into a run what it leaves to its assistant, and what waits in its thread.

        Args:
            is_led: the thread is new, or has begun with instructions. One whose first run came before the
                assistant was known goes on as it began.
        """
        if request.operation == SUBMIT:
            request.model, request.tools = self.asking.get(str(request.params.get("run_id")), (None, None))
            return
        known = self.assistants.get(str(request.params.get("assistant_id")), {})
        request.model = request.model or known.get("model")
        request.tools = request.tools or known.get("tools") or None
        if is_led and not request.instructions:
            add_instructions(request, known.get("instructions"))
        thread = request.continues or ""
        waiting = self.waiting.pop(thread, None)
        if waiting:
            plan.undo.append(partial(self.waiting.__setitem__, thread, waiting))
            at = 1 if request.instructions else 0
            request.messages[at:at] = waiting
            plan.undo.append(partial(request.messages.__delitem__, slice(at, at + len(waiting))))

    def note_answer(self, answer: ModelAnswer, request: ModelRequest) -> None:
        if answer.finish_reason == "requires_action" and answer.response_id is not None:
            self.asking[answer.response_id] = request.model or answer.model, request.tools

    def note_assistant(self, said: dict[str, Any], *, by_run: bool = False) -> None:
        """What an assistant is; a run, which may differ from it, says it where nothing else does."""
        id = said.get("assistant_id" if by_run else "id")
        if isinstance(id, str) and not (by_run and id in self.assistants):
            self.assistants[id] = {name: said.get(name) for name in ("model", "instructions", "tools")}
