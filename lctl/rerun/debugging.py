"""A debugger in the live program, at one event of its recording."""

from __future__ import annotations

import pdb  # noqa: T100  (what `--pdb` asks for)
import sys
from types import FrameType
from typing import Any

from lctl.instrument.ambient import outputs, reads, terminals
from lctl.rerun.places import is_users, users_frame


class Debugger(pdb.Pdb):
    """A debugger that shows the user's code; `continue` goes on with the rerun."""

    def __init__(self, notice: str) -> None:
        piped = None if terminals.is_really(0) else open(0, closefd=False)  # noqa: SIM115  (as long as the program)
        super().__init__(skip=["lctl", "lctl.*"], stdin=piped)
        self.use_rawinput = piped is None  # else it would read what the program has not read yet
        self.prompt = "(lctl) "
        self._notice = notice
        self._asks = False

    def is_skipped_module(self, module_name: str | None) -> bool:
        """Ours, but for the demo, which is the user's program where it runs."""
        name = module_name or ""
        return super().is_skipped_module(name) and not name.startswith("lctl.demo")

    def interaction(self, frame: Any, *args: Any, **kwargs: Any) -> None:
        with reads.aside(), outputs.uncounted():
            self._asks = True
            try:
                if self._notice:
                    self.message(self._notice)
                    self._notice = ""
                super().interaction(frame, *args, **kwargs)
            finally:
                self._asks = False

    def message(self, msg: str) -> None:
        if self._asks:
            super().message(msg)
        else:  # as of a function's return, which it says before it asks
            with outputs.uncounted():
                super().message(msg)


def debug(notice: str, frame: FrameType | None = None) -> None:
    """Stop in the innermost frame of the user's code as soon as the program is back in it.

    The frames between are the SDK's and ours, in the middle of recording: they run to their end first.
    """
    at = users_frame(frame or sys._getframe(1))
    if at is None:
        return
    debugger = Debugger(notice)
    debugger.reset()
    below: FrameType | None = at
    while below is not None:
        if is_users(below.f_code.co_filename):
            below.f_trace = debugger.trace_dispatch
        debugger.botframe = below
        below = below.f_back
    debugger.set_next(at)
    sys.settrace(debugger.trace_dispatch)
