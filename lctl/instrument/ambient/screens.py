"""Keys for programs that draw a whole screen and wait in an event loop (Textual's, prompt_toolkit's).

Each is an `ambient` event of what came from outside, as a request to a server is. In a rerun nobody types:
they are given again, each in its turn (`lctl.rerun.serving.outside`), and nothing is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lctl.guard import guard
from lctl.instrument.ambient import reads, requests, terminals
from lctl.session import border
from lctl.session.concurrency import lanes, turns
from lctl.session.sources import KEYS

#: Whether its loop has come to it.
Taken = Callable[[], bool]
#: Gives what was typed to the program; None where it is not for it.
Taker = Callable[[str, Any], Taken | None]

#: Of the programs that wait for keys; of several, the newest.
takers: list[Taker] = []
#: In a rerun: there are keys on the tape that are still to come.
are_coming = False


def is_unseen() -> bool:
    """Whether nobody sees what is drawn, or types: in a rerun."""
    return border.player() is not None and not terminals.is_shown and terminals.recorded is not None


def drops() -> bool:
    """Whether what is really typed is for nobody: in a fork, while the tape types."""
    return are_coming


def came(key: str, value: Any) -> None:
    """Record that it did, in the loop that it came to. `key` names who took it."""
    if reads.active() and not lanes.current().tool:
        with guard("what is typed"):
            turns.arrived()
            requests.note(key, value, KEYS)


def give(key: str, value: Any) -> Taken | None:
    """In a rerun. None where nobody is there for it."""
    return next((taken for take in reversed(takers) if (taken := take(key, value)) is not None), None)
