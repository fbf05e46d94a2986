"""Cells: the code of a program that comes piece by piece, from a notebook or an interactive shell.

It is on the tape, in every log that is opened behind it, so that the program can be run again: what was run
and in which order no file says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lctl.session import crashes, default, hooks, naming
from lctl.session.sources import CELL

if TYPE_CHECKING:
    from lctl.session.session import LCTLSession

_ran: dict[int, str] = {}


def began(number: int, code: str, file: str | None = None) -> None:
    """Cell `number` runs, or has run before anybody looked.

    Args:
        file: what its frames name as their file.
    """
    if file is not None:
        naming.files[file] = name(number)
    if number in _ran:
        return
    _ran[number] = code
    if _tell_all not in hooks.on_open:
        hooks.on_open.insert(0, _tell_all)  # whichever of the others is there already
    session = default.running()
    if session is not None:
        _tell(session, number, code)


def failed(error: BaseException) -> None:
    """The running cell ended by `error`, and the program goes on."""
    session = default.running()
    if session is not None and not session.closed:
        session.emit("error", crashes.data_of(error, "cell"), agent=session.agent)


def name(number: int) -> str:
    """As it is called where it runs."""
    return f"In[{number}]"


def _tell_all(session: LCTLSession) -> None:
    for number, code in _ran.items():
        _tell(session, number, code)


def _tell(session: LCTLSession, number: int, code: str) -> None:
    session.record_read(session.agent, {"source": CELL, "key": name(number), "value": code}, None)
