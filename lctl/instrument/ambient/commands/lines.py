"""Command lines as a log names them: without secrets, and with temporary files as such."""

from __future__ import annotations

import os
from typing import Any

from lctl.instrument.ambient import filelooks
from lctl.session import jsonable
from lctl.session.session import LCTLSession


def told(args: Any, executable: Any) -> str | None:
    """As `subprocess` was given them; None where nobody but it may look at them."""
    if isinstance(args, str | bytes | os.PathLike):
        return os.fsdecode(args)
    if not isinstance(args, list | tuple):
        return None
    return " ".join([os.fsdecode(word) for word in args] or [os.fsdecode(executable or "")])


def key_of(line: str, session: LCTLSession | None) -> str:
    """As it is in every run."""
    if session is not None and session.redactor is not None:
        line = session.redactor.text(line)
    for folder in filelooks.temporary():
        line = line.replace(folder + os.sep, "tmp:/")
    return jsonable.text(line)
