"""Requests of a program whose recording is a fork: as the fork's edits changed them before they were sent.

The program that is run again sends what it always sent; the log of the fork has what was sent in its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lctl.patch import Edit, Unaddressed, parse_edit
from lctl.rerun.edits.amending import amended, is_of_url
from lctl.rerun.edits.contents import edit_model
from lctl.session.border import WireRequest

if TYPE_CHECKING:
    from lctl.rerun.tape.tape import Tape


def inherited_edits(tape: Tape) -> list[str]:
    """The edits a forked recording was made with, those of the forks before it first."""
    made = tape.log.chain.get("fork")
    given = made if isinstance(made, dict) else {}
    return [str(edit) for key in ("inherited", "edits") for edit in given.get(key) or ()]


class Repeater:
    """Makes the edits of earlier forks again. Which of them held at a call is told by the recording: what
    comes out must be what it has.

    Args:
        edits: in the order in which they were made, those of the first fork first.
    """

    def __init__(self, edits: Sequence[str]) -> None:
        self._edits = [edit for edit in map(parse_edit, edits) if edit.side == "request"]

    def __bool__(self) -> bool:
        return bool(self._edits)

    def candidates(self, request: WireRequest) -> Iterator[WireRequest]:
        """What may have been sent in place of a request, each once."""
        if request.body is None or request.provider is None:
            return
        seen = {(request.url, request.body)}
        lasting = [edit for edit in self._edits if edit.scope.at is None]
        for chosen in (self._edits, lasting):
            for start in range(len(chosen)):
                for stop in range(len(chosen), start, -1):
                    made = _made(request, chosen[start:stop])
                    if made not in seen:
                        seen.add(made)
                        yield request._replace(url=made[0], body=made[1])


def _made(request: WireRequest, edits: Sequence[Edit]) -> tuple[str, bytes]:
    """URL and body."""
    from lctl.instrument.codecs.bodies import read_object
    from lctl.patch import rewrite

    assert request.body is not None
    url = request.url
    try:
        document = read_object(request.body)
        for edit in edits:
            try:
                if is_of_url(request.operation, edit):
                    url = edit_model(url, edit)
                else:
                    document = amended(request.operation, document, edit)
            except Unaddressed:
                continue
        return url, rewrite(request.body, document)
    except ValueError:
        return url, request.body
