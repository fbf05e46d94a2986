"""Ctrl-C, where the recorded program was ended by it: it hung, and somebody had waited long enough."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lctl.rerun.tape.tape import Tape


def was_pressed(tape: Tape) -> bool:
    """Whether that ended the recorded program."""
    summary = (tape.log.tail or {}).get("summary")
    return isinstance(summary, dict) and summary.get("outcome") == "interrupted"


def press() -> None:
    """As a terminal does: whatever handles it in the program, in its main thread."""
    main = threading.main_thread().ident
    if main is not None:
        signal.pthread_kill(main, signal.SIGINT)


__all__ = ["press", "was_pressed"]
