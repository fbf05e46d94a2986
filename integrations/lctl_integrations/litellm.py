"""litellm: mocked calls, which send nothing.

All others are read on the wire, whichever client makes them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from lctl.guard import guard
from lctl.instrument.patches import PatchSet
from lctl.instrument.structure import ModelCall
from lctl.session import wrapping
from lctl.session.default import get_session

_MOCK = "a mocked call of litellm"


class LiteLLM:
    """litellm 1.x."""

    name = "litellm"
    supported = ">=1.106,<2"
    modules = ("litellm.main",)

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        patches.wrap(module, "mock_completion", _mocked)


def _mocked(wrapped: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Signature of the wrapped: (model, messages, ..., mock_response=None, ...)."""

    def begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> wrapping.Run | None:
        if get_session() is None:
            return None
        with guard(_MOCK):
            guard.rehearse(_MOCK)
            given = dict(zip(("model", "messages"), args, strict=False)) | kwargs
            return _Mocked(given)
        return None

    return wrapping.wrap(wrapped, begin)(*args, **kwargs)


class _Mocked(wrapping.Run):
    def __init__(self, given: Mapping[str, Any]) -> None:
        self._said = given.get("mock_response")
        self._call = ModelCall.begin(given.get("model"), given.get("messages"))

    def returned(self, value: Any) -> None:
        self._call.end(_text_of(value, self._said), usage=getattr(value, "usage", None))

    def failed(self, error: BaseException) -> None:
        self._call.end(error=error)


def _text_of(response: Any, otherwise: Any) -> Callable[[], Any]:
    def text() -> Any:
        choices = getattr(response, "choices", None)
        message = getattr(choices[0], "message", None) if choices else None
        said = getattr(message, "content", None)
        return said if said is not None else otherwise if isinstance(otherwise, str) else None

    return text
