"""The answers of an exported page, each message and each request written out once: every call of a
conversation has read what those before it had, and they would be in the page as often as squared.

    messages     those that stand in `talk` (see `pagetalk`), `call` and `diffs`, where their places are given
    copies       by step: a call as Python and as curl; an event of a call says `{"lctl", "call": step}`
    exchanges    by step: what a call had on the wire; an event of a call says its step
    diffs        of a part that is the same on both sides `[left, right]`

What holds values of events stands there as JSON text (`as_texts`): the page reads it when it is asked for,
and then to the digit, which is slow for a whole log.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from lctl.debugger.shapes.conversation import CallDiff, CallView, Message
from lctl.debugger.shapes.events import EventView, Exchange

#: Characters of all requests together, as Python and as curl, that a page holds.
_COPIES = 8 << 20
_TOO_MUCH = "# There is no room for it in an exported page; 'lctl debug' shows it.\n"


def as_texts(data: dict[str, Any]) -> dict[str, Any]:
    """The answers as they stand in the page."""
    named = {
        name: {key: _text(one) for key, one in data[name].items()}
        for name in ("events", "call", "diffs", "exchanges")
    }
    return {**data, **named, "messages": [*map(_text, data["messages"])]}


def _text(value: Any) -> str:
    return msgspec.json.encode(value).decode()


class Packing:
    """Shapes become dicts whose messages are places in `messages`."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.copies: dict[str, dict[str, str | None]] = {}
        self.left_out = 0  # requests that there is no room for
        self._places: dict[int, int] = {}  # by identity: views make each once
        self.exchanges: dict[str, list[Exchange]] = {}
        self._size = 0

    def call(self, view: CallView) -> dict[str, Any]:
        return {**_fields(view), "prompt": self._all(view.prompt), "answers": self._all(view.answers)}

    def diff(self, view: CallDiff) -> dict[str, Any]:
        parts: list[Any] = []
        for part in view.parts:
            left, right = self._place(part.left), self._place(part.right)
            parts.append(
                [left, right] if part.kind == "same" else {**_fields(part), "left": left, "right": right}
            )
        return {**_fields(view), "parts": parts}

    def event(self, view: EventView) -> dict[str, Any]:
        """One that belongs to a call takes from `copies` and `exchanges`. Of requests there is room for
        those that come first: give the newest first, which are next to what went wrong and hold most of
        what others asked."""
        packed, copy, call = _fields(view), view.copy, view.call
        if call is None:
            return packed
        step = str(call.step)
        if view.exchanges and view.row.type != "exchange":
            self.exchanges.setdefault(step, view.exchanges)
            packed["exchanges"] = call.step
        if copy.curl is None:
            return packed
        if step not in self.copies:
            self._size += len(copy.python) + len(copy.curl) + len(copy.body or "")
            if self.instead is not None:
                self.left_out += 1
            self.copies[step] = {
                "python": self.instead or copy.python,
                "curl": self.instead or copy.curl,
                "body": None if self.instead else copy.body,
            }
        return {**packed, "copy": {"lctl": copy.lctl, "call": call.step}}

    @property
    def instead(self) -> str | None:
        """What stands for a request once there is no room for more."""
        return _TOO_MUCH if self._size > _COPIES else None

    def _all(self, messages: Iterable[Message]) -> list[int | None]:
        return [self._place(one) for one in messages]

    def _place(self, message: Message | None) -> int | None:
        return None if message is None else self.place(message)

    def place(self, message: Message) -> int:
        """Where a message is."""
        place = self._places.get(id(message))
        if place is None:
            place = self._places[id(message)] = len(self.messages)
            self.messages.append(message)  # which keeps it, and its identity
        return place


def _fields(view: msgspec.Struct) -> dict[str, Any]:
    return msgspec.structs.asdict(view)
