"""What is shown page by page (`pydoc.pager`, also rich's, and click's): in a rerun nobody turns the pages.

A process of its own has shown it, past the program's output.
"""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from types import ModuleType
from typing import Any

from lctl.instrument.ambient import reads, slots, terminals
from lctl.session import border

#: click's functions that start the process, by version: the newer ones give something to write to.
_CLICKS = ("_pager_contextmanager", "_pipepager")


def install() -> None:
    from lctl.instrument.hooks import on_import

    slots.on_undo(on_import("pydoc", _pydoc).remove)
    slots.on_undo(on_import("click._termui_impl", _click).remove)


def _pydoc(pydoc: ModuleType) -> None:
    _replace(pydoc, "pager", lambda *_, **__: None)


def _click(click: ModuleType) -> None:
    sink: Any = getattr(click, "_nullpager", None)
    if hasattr(click, _CLICKS[0]):
        _replace(click, _CLICKS[0], lambda color=None: sink(StringIO(), color))
    else:
        _replace(click, _CLICKS[1], _read_through)


def _read_through(generator: Any, *_: Any) -> bool:
    """What makes the text is the program's."""
    for _piece in generator:
        pass
    return True


def _replace(module: ModuleType, name: str, unseen: Callable[..., Any]) -> None:
    real: Any = getattr(module, name, None)
    if real is None or not reads.active():
        return

    def page(*args: Any, **kwargs: Any) -> Any:
        is_shown = terminals.has_keys() and terminals.is_drawn_on()
        return unseen(*args, **kwargs) if border.player() and is_shown else real(*args, **kwargs)

    slots.replace(module, name, slots.like(page, real))
