"""The IPython shell in which `lctl.run.notebook` runs cells. Importing this needs IPython."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from IPython.core.compilerop import CachingCompiler
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets import Type
from traitlets.config import Config

from lctl.errors import RerunStopped

#: What a cell shows, or fails by, is written within this.
showing: Callable[[], AbstractContextManager[None]] = nullcontext


def make() -> NotebookShell:
    """The one shell of this process, without its user's profile and history."""
    with tempfile.TemporaryDirectory(prefix="lctl-ipython-", ignore_cleanup_errors=True) as folder:
        config = Config()
        config.HistoryManager.enabled = False  # no database in that folder, which is gone then
        config.InteractiveShell.xmode = "Plain"  # as Python says it, which a rerun can compare
        if not sys.stdout.isatty():
            config.InteractiveShell.colors = "nocolor"
        made: NotebookShell = NotebookShell.instance(ipython_dir=folder, config=config)
        made.set_hook("show_in_pager", _show_page, 99)  # before IPython's own
        return made


def _show_page(_: NotebookShell, data: Any, start: int = 0, screen_lines: int = 0) -> None:
    """What `print?` gives."""
    with showing():
        print(data["text/plain"] if isinstance(data, dict) else data)


class _Compiler(CachingCompiler):
    def get_code_name(self, raw_code: str, transformed_code: str, number: int) -> str:
        """As users know the cell."""
        return f"In[{number}]"


class _Display(DisplayHook):
    def __call__(self, result: Any = None) -> None:
        with showing():
            super().__call__(result)


class _Publisher(DisplayPublisher):
    def publish(self, *args: Any, **options: Any) -> None:
        with showing():
            super().publish(*args, **options)


class NotebookShell(InteractiveShell):
    """`lctl_integrations.ipython` knows it by its name.

    Attributes:
        is_over: a cell has said `exit`.
    """

    compiler_class = _Compiler
    displayhook_class = Type(_Display)
    display_pub_class = Type(_Publisher)
    is_over = False

    def enable_gui(self, gui: str | None = None) -> None:
        """As of `%matplotlib`: there is no window."""

    def ask_exit(self) -> None:
        self.is_over = True

    def _showtraceback(self, etype: type[BaseException], evalue: BaseException, stb: list[str]) -> None:
        if not issubclass(etype, RerunStopped):  # which the certificate says
            with showing():
                super()._showtraceback(etype, evalue, stb)
