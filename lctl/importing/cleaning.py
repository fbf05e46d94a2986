"""Secrets out of what other programs kept, before a log of it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from lctl.codec.lines import decode, encode_value

if TYPE_CHECKING:
    from lctl.importing.draft import Draft


class Cleaner(Protocol):
    """What takes secrets out: a redactor of `lctl.session`, which stands on a floor above."""

    def suspicion(self, line: bytes, lowered: str, /) -> bool: ...

    def event(self, event: dict[str, Any], /) -> dict[str, Any] | None: ...

    def value(self, value: Any, /) -> Any: ...


def cleaned(lines: bytearray, cleaner: Cleaner, draft: Draft) -> bytearray:
    """The lines without secrets; events that had one are counted."""
    clean = bytearray()
    for seq, line in enumerate(bytes(lines).splitlines(), 1):
        if cleaner.suspicion(line, line.lower().decode("latin-1")):
            made = cleaner.event(decode(line))
            if made is not None:
                draft.lose("secret: a placeholder stands for it", f"event {seq}")
                line = encode_value(made)
        clean += line + b"\n"
    return clean
