"""Artifacts that a tool of ADK saves: on the tape with its call. A rerun, which does not run the tool, saves
them again where the program keeps artifacts in memory; what is kept elsewhere is as it is then."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from copy import deepcopy
from typing import Any

from lctl.guard import guard

_SAVED = "an artifact that a tool of ADK saves"


class Saving:
    """What one call of a tool saves.

    Attributes:
        saved: the arguments of each; a served call fills it with the recorded ones.
    """

    def __init__(self, context: Any) -> None:
        self.saved: list[dict[str, Any]] = []
        self._made = 0
        self._context = context

    @contextmanager
    def begin(self) -> Iterator[None]:
        token = _saving.set(self)
        try:
            yield
        finally:
            _saving.reset(token)

    def note(self, context: Any, filename: str, artifact: Any, custom_metadata: Any = None) -> None:
        if context is self._context and _is_in_memory(context):
            one = {"filename": filename, "artifact": artifact, "custom_metadata": custom_metadata}
            self.saved.append(deepcopy(one))
            self._made += 1

    async def repeat(self) -> None:
        """Save what the recorded call saved."""
        with guard(_SAVED):
            for one in self.saved[self._made :]:
                await self._context.save_artifact(**one)


_saving: ContextVar[Saving | None] = ContextVar("lctl_google_adk_saving", default=None)


def current() -> Saving | None:
    return _saving.get()


async def saved(wrapped: Any, context: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Signature of the wrapped: (filename, artifact, custom_metadata=None) -> version."""
    version = await wrapped(*args, **kwargs)
    saving = _saving.get()
    if saving is not None:
        with guard(_SAVED):
            guard.rehearse(_SAVED)
            saving.note(context, *args, **kwargs)
    return version


def _is_in_memory(context: Any) -> bool:
    """Also of an agent that is a tool: its artifacts are those of who calls it."""
    service = context._invocation_context.artifact_service
    while type(service).__name__ == "ForwardingArtifactService":
        service = service.tool_context._invocation_context.artifact_service
    return any(base.__name__ == "InMemoryArtifactService" for base in type(service).__mro__)
