"""mcp: by which name, and for which call of a model's, a framework has a client call a server's tool.

A framework's call of such a tool is the client's call seen a layer above. One of them is told, with what the
other knows: the framework's, where its result can be kept (it says which tool of the server it is, by
`Tool.mcp`); else the client's, under the name that the model knows.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

#: Modules that make a function of a server's tool, with that in its closure.
_MAKERS = ("agno.utils.mcp", "langchain_mcp_adapters.tools")


class Asked(NamedTuple):
    """A model's call of a server's tool.

    Attributes:
        tool: the server's name for it.
        name: the model's.
    """

    tool: str
    name: str
    call_id: str | None


_asked: ContextVar[Asked | None] = ContextVar("lctl_call_of_mcp", default=None)


@contextmanager
def asked(tool: str, name: str, call_id: str | None) -> Iterator[None]:
    """What a client calls within, by this name of the server's, is a call of the model's."""
    token = _asked.set(Asked(tool, name, call_id))
    try:
        yield
    finally:
        _asked.reset(token)


def of_call(tool: str) -> tuple[str, str | None]:
    """Name and id of the call of a server's tool that a client is about to make."""
    found = _asked.get()
    return (tool, None) if found is None or found.tool != tool else found[1:]


def in_closure(function: Any) -> str | None:
    """The server's name of the tool that a framework has made this function of, if it has."""
    while hasattr(function, "func"):  # functools.partial
        function = function.func
    if getattr(function, "__module__", None) not in _MAKERS:
        return None
    names = function.__code__.co_freevars
    tool = function.__closure__[names.index("tool")].cell_contents if "tool" in names else None
    return getattr(tool, "name", None)
