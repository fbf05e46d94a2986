"""An edit as a value: what it addresses, what it does there, and where it holds."""

from __future__ import annotations

import re
from typing import Any, Literal, TypeAlias

import msgspec

Root = Literal["model", "prompt", "message", "tools", "params", "body", "tool", "answer", "data", "event"]
#: `=` set, `+=` add, `-=` take away, `~=` replace by a regular expression, `!=` fail, `del` remove.
Operator = Literal["=", "+=", "-=", "~=", "!=", "del"]

#: Roots that say what leaves the program, what comes back to it, and what an event of a log holds.
REQUEST_ROOTS = frozenset({"model", "prompt", "message", "tools", "params", "body"})
EVENT_ROOTS = frozenset({"data", "event"})

#: What names have that models are not shown.
_NO_WORD = re.compile(r"\W+")


class Before(msgspec.Struct, frozen=True):
    """A place between list items: before the one at `at`, at the end for None."""

    at: int | None = None


Segment: TypeAlias = str | int | Before
Path: TypeAlias = tuple[Segment, ...]


class Scope(msgspec.Struct, frozen=True):
    """Where an edit holds. All that is given must hold; with nothing given: from the fork point on, in
    the strand of the program that is forked and in what follows from it.

    Attributes:
        at: once, at the call that has this event.
        start: from that event on.
        agent: calls of this agent, whatever strand they are in.
        everywhere: in every strand.
    """

    at: int | None = None
    start: int | None = None
    agent: str | None = None
    everywhere: bool = False


class Edit(msgspec.Struct, frozen=True):
    """One change. `str(edit)` is the line it is parsed from, with a file's content in place of its name.

    Attributes:
        path: what follows the root. Of a tool: its name, then `input` or `output`, then a path in it.
        value: JSON; of `~=` [pattern, replacement, flags]; of `!=` the text of the error; of `del` None.
    """

    root: Root
    path: Path = ()
    operator: Operator = "="
    value: Any = None
    scope: Scope = Scope()

    def __str__(self) -> str:
        from lctl.patch.writing import print_edit

        return print_edit(self)

    def is_of_tool(self, name: object) -> bool:
        """Whether it is about the tool of that name; also where it has the one that models are shown for it
        (CrewAI's `Delegate work to coworker` is `delegate_work_to_coworker` for them)."""
        shown = _NO_WORD.sub("_", str(name).lower()).strip("_")
        return self.root == "tool" and self.path[0] in (name, shown)

    @property
    def side(self) -> Literal["request", "input", "result", "event"]:
        """What it changes: a request, a tool's arguments, what came back, or an event of a log."""
        if self.root in REQUEST_ROOTS:
            return "request"
        if self.root in EVENT_ROOTS:
            return "event"
        return "input" if self.root == "tool" and self.path[1:2] == ("input",) else "result"
