"""The id of a call in what it gave, where the call is made again under another id.

Frameworks write the id into the result (LangChain's `ToolMessage`), and a provider refuses a result of a
call that its model did not ask for. Where a model is asked anew, its calls have new ids.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lctl.session.tooling.toolcalls import ToolCall

#: An id that means nothing else wherever it stands; "1" or the name of the tool may well do.
_TELLING = re.compile(r"(?=\D*\d).{6,}", re.DOTALL)
#: A field in which any text is the id of a call: `tool_call_id`, `toolUseId`.
_FIELD = re.compile(r"(?:call|use)_?id", re.IGNORECASE)
_RESULT = ("output", "error", "paused")
#: Of a tape: what the program was not given as the result, by places and turns that count its letters.
_BESIDE = frozenset({"inside", "wrote", "received", "items"})


def with_id_of(data: Mapping[str, Any], call: ToolCall) -> Mapping[str, Any]:
    """The data of a recorded call, whose result has the id of `call` in the place of its own."""
    recorded, now = data.get("call_id"), call.call_id
    if not isinstance(recorded, str) or not recorded or not now or recorded == now:
        return data
    exchange = _Exchange(recorded, now)
    made = {name: exchange.value(data[name]) for name in _RESULT if name in data}
    tape = data.get("tape")
    if isinstance(tape, Mapping):
        made["tape"] = {
            name: part if name in _BESIDE else exchange.value(part) for name, part in tape.items()
        }
    return {**data, **made}


class _Exchange:
    """One id for another, in copies of JSON values."""

    def __init__(self, recorded: str, now: str) -> None:
        self._recorded, self._now = recorded, now
        telling = _TELLING.fullmatch(recorded) is not None
        self._word = re.compile(rf"(?<![\w-]){re.escape(recorded)}(?![\w-])") if telling else None

    def value(self, value: Any, field: str = "") -> Any:
        if isinstance(value, str):
            if value == self._recorded and _FIELD.search(field):
                return self._now
            return self._text(value)
        if isinstance(value, Mapping):
            return {self._text(name): self.value(part, name) for name, part in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(part) for part in value]
        return value

    def _text(self, text: str) -> str:
        if self._word is None or self._recorded not in text:
            return text
        return self._word.sub(lambda _: self._now, text)
