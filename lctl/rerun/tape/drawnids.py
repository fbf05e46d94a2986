"""Ids that this process draws by `uuid`, in the place of those drawn when it was recorded.

A recording by `auto_instrument()` does not hold what the program and its libraries draw, and one by `lctl
run` not what a library outside the known frameworks draws; another id goes into the prompts of each run
then (a tool call that a framework makes up, a ticket's number). A request or an event that says the
recorded text but for such ids, each in the place of one and the same recorded id, is the recorded one.

Only an id that was drawn in this run counts, whole or its first or last eight digits and more: an id that
the program was given is a part of what it says.
"""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING

from lctl.instrument.ambient import identifiers

if TYPE_CHECKING:
    from lctl.rerun.tape.drawnplaces import DrawnPlaces

#: Of the newest ids so many are known.
_KNOWN = 200_000
#: The digits by which programs shorten ids.
_SHORT = 8
_TOKEN = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{8,32}")
_BYTES = re.compile(_TOKEN.pattern.encode())
_SHAPE = re.compile(r"[0-9a-f]")


class DrawnIds:
    """What was drawn so far, and which recorded id each stands for. Safe from several threads.

    Attributes:
        are_recorded: none that stands for another is known.
        places: of a test: its temporary folders and files, which stand for the recorded ones, too.
    """

    places: DrawnPlaces | None = None

    def __init__(self) -> None:
        self.are_recorded = True
        self._drawn: dict[str, str] = {}  # first digits -> all
        self._ends: dict[str, str] = {}  # last digits -> all
        self._recorded: dict[str, str] = {}  # as it was said in this run, without hyphens
        self._said: dict[str, str] = {}  # the other way round
        self._lock = threading.Lock()

    def begin(self) -> None:
        identifiers.watch(lambda id: self.drew(id.hex))

    def end(self) -> None:
        identifiers.unwatch()

    def learn(self, recorded: str, now: str) -> bool:
        """Whether both texts are the same but for drawn ids; then those stand for the recorded ones."""
        if self.places is not None:
            now = self.places.learn(recorded, now)
            if now == recorded:
                self.are_recorded = False
                return True
        if len(recorded) != len(now) or not self._drawn:
            return False
        found: dict[str, str] = {}
        at = 0
        for token in _TOKEN.finditer(now):
            id = self._drawn_id(token[0])
            if id is None:
                continue
            start, stop = token.span()
            there = recorded[start:stop]
            if now[at:start] != recorded[at:start] or _shape(there) != _shape(token[0]):
                return False
            if found.setdefault(id, there.replace("-", "")) != there.replace("-", ""):
                return False
            at = stop
        return now[at:] == recorded[at:] and self._keep(found)

    def has_drawn(self, id: str) -> bool:
        """Whether that is one of this run's, all of it."""
        return _TOKEN.fullmatch(id) is not None and self._drawn_id(id) is not None

    def as_recorded(self, said: bytes) -> bytes:
        """`said` with the recorded ids in the place of those that stand for them."""
        if self.places is not None:
            said = self.places.as_recorded(said)
        if not self._recorded:
            return said
        return _BYTES.sub(self._replaced, said)

    def drew(self, digits: str) -> None:
        """An id of these digits (at least eight, hexadecimal) is one of this run's."""
        with self._lock:
            for known, part in ((self._drawn, digits[:_SHORT]), (self._ends, digits[-_SHORT:])):
                if len(known) >= _KNOWN:
                    del known[next(iter(known))]
                known[part] = digits

    # -- inside ----------------------------------------------------------------------------

    def _drawn_id(self, token: str) -> str | None:
        digits = token.replace("-", "")
        begun, ended = self._drawn.get(digits[:_SHORT], ""), self._ends.get(digits[-_SHORT:], "")
        return digits if begun.startswith(digits) or ended.endswith(digits) else None

    def _keep(self, found: dict[str, str]) -> bool:
        """Each id for one recorded id, and the other way round, in all that was said so far."""
        if len(set(found.values())) < len(found):
            return False
        with self._lock:
            for id, recorded in found.items():
                if self._recorded.get(id, recorded) != recorded or self._said.get(recorded, id) != id:
                    return False
            for id, recorded in found.items():
                self._recorded[id], self._said[recorded] = recorded, id
            if found:
                self.are_recorded = False
        return bool(found)

    def _replaced(self, token: re.Match[bytes]) -> bytes:
        said = token[0].decode()
        recorded = self._recorded.get(said.replace("-", ""))
        if recorded is None:
            return token[0]
        digits = iter(recorded)
        return "".join("-" if letter == "-" else next(digits) for letter in said).encode()


def _shape(text: str) -> str:
    return _SHAPE.sub("0", text)


__all__ = ["DrawnIds"]
