"""How tools run behind a fork point: really, from the tape, not at all, or as a person decides."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, cast, get_args

from lctl.errors import UsageError
from lctl.instrument.ambient import terminals

Choice = Literal["live", "recorded", "dry-run", "ask"]
CHOICES: tuple[Choice, ...] = get_args(Choice)

#: Words a tool's name begins with that only looks at something. A name that says nothing may do anything.
_LOOKS = re.compile(
    r"(?:^|[.:/]|__)(?:calculate|calc|check|compare|count|describe|fetch|find|get|glob|grep|list|look_?up|parse|peek|"
    r"query|read|retrieve|search|show|stat|validate|view)(?:$|[^a-z])",
    re.IGNORECASE,
)
_asking = threading.Lock()


class ToolPolicy(NamedTuple):
    """What happens to each tool. `usual` None: a tool whose name says that it only looks runs; every other
    one is asked about on a terminal and not run without one."""

    usual: Choice | None = None
    named: Mapping[str, Choice] = {}

    @classmethod
    def parse(cls, texts: Sequence[str]) -> ToolPolicy:
        """Of `live`, `dry-run`, ... and `NAME=live`, ...

        Raises:
            UsageError: a choice that there is not.
        """
        usual: Choice | None = None
        named: dict[str, Choice] = {}
        for text in texts:
            name, equal, choice = text.rpartition("=")
            if choice not in CHOICES or (equal and not name):
                raise UsageError(
                    f"tool policy {text!r}: it is one of {', '.join(CHOICES)}, or NAME=one of them"
                )
            if equal:
                named[name] = choice
            else:
                usual = choice
        return cls(usual, named)

    def choose(self, tool: str) -> Choice:
        """`ask` only where someone can be asked."""
        chosen = cast("Choice | None", self.named.get(tool, self.usual))
        if chosen is None:
            chosen = "live" if _LOOKS.search(tool) else "ask"
        if chosen == "ask" and not is_terminal():
            return "dry-run"
        return chosen

    def is_said(self, tool: str) -> bool:
        """Whether somebody said what happens to it."""
        return self.usual is not None or tool in self.named


def is_terminal() -> bool:
    """Whether somebody sits there who can be asked."""
    return terminals.is_really(0)


def approved(tool: str, input: Any, approvals: dict[str, bool]) -> bool:
    """Ask on the terminal whether a tool may run; `always` and `never` are kept in `approvals`."""
    from lctl.analysis.wording import plain

    with _asking:
        known = approvals.get(tool)
        if known is not None:
            return known
        try:
            shown, typed = ("CONOUT$", "CONIN$") if os.name == "nt" else ("/dev/tty", "/dev/tty")
            with open(shown, "w") as screen, open(typed) as keys:  # noqa: PTH123  (the program's streams are its own)
                screen.write(
                    f"lctl: run {plain(tool, 60)}({plain(input, 200)})? [y]es [n]o [a]lways ne[v]er: "
                )
                screen.flush()
                answer = keys.readline().strip().lower()[:1]
        except OSError:
            return False
        if answer in ("a", "v"):
            approvals[tool] = answer == "a"
        return answer in ("y", "a")


def stand_in(tool: str, recorded: Any) -> Any:
    """What a tool that is not run gives: of the kind it gave in the recording, and told apart from it."""
    note = f"[dry run: {tool} was not executed]"
    if isinstance(recorded, dict):
        return {"dry_run": True, "note": note}
    if isinstance(recorded, list):
        return []
    if isinstance(recorded, bool | int | float) or recorded is None:
        return recorded if recorded is None else type(recorded)(0)
    return note
