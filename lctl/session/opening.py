"""Where a session's log is written: as the program says, or where a rerun puts it.

A rerun runs the program's own `LCTLSession(path=...)` again, which must not go on with the recording.
A session whose events go to a store has its journal in the outbox, unless the program names a path.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lctl.clock import Clock, IdSource, urandom
from lctl.errors import UsageError
from lctl.record.journal import Durability, JournalStore
from lctl.record.store import RecordingStore
from lctl.session import jsonable, naming
from lctl.session.concurrency import lanes, processes
from lctl.session.redaction.redact import Redactor
from lctl.session.redaction.scrub import MAX_STRING

if TYPE_CHECKING:
    from lctl.stores.address import Address

#: Asked first: `(chain, durability, path)` to the store of a session that is being opened. None outside
#: reruns.
redirect: Callable[[dict[str, Any], Durability, str | Path | None], JournalStore] | None = None

#: Where a rerun has put the log that the program has at this path; the path itself where it has none.
moved: Callable[[str | Path], str | Path] | None = None

_first: tuple[int, str] | None = None  # process, chain id of its first session
_count = 0


def destination(given: str | Address | None) -> Address | None:
    """The store a session goes to: the one given, else that of the environment; None for a file alone.

    Raises:
        UsageError: it is no store.
    """
    if redirect is not None or (given is None and not os.environ.get("LCTL_STORE")):
        return None
    from lctl.stores.opening import configured

    return configured(given)


def redactor(given: bool | Redactor | None) -> Redactor | None:
    """What takes secrets out; None where they are to be recorded.

    Raises:
        UsageError: it is something else: patterns, perhaps, that would be passed over.
    """
    if given is False:
        return None
    if given is None or given is True:
        return Redactor()
    if isinstance(given, Redactor):
        return given
    raise UsageError(
        f"redact={given!r:.80}: it is True, False or an lctl.Redactor, which takes names and patterns"
    )


def path(given: str | Path) -> Path:
    """Where a log is to be.

    Raises:
        UsageError: it is no path.
    """
    try:
        return Path(given)
    except TypeError:
        raise UsageError(f"path={given!r:.80}: it is a path, such as 'run.lctl.json'") from None


def max_string(given: int) -> int:
    """Characters of one string that are kept.

    Raises:
        UsageError: it is no number of them.
    """
    if not isinstance(given, int) or given < 1:
        raise UsageError(f"max_string={given!r:.80}: it is a number of characters, such as {MAX_STRING}")
    return given


def header(given: Mapping[str, Any] | None, redactor: Redactor | None) -> dict[str, Any]:
    """What a program says in its log's header, without secrets.

    Raises:
        UsageError: it is no mapping.
    """
    if given is not None and not isinstance(given, Mapping):
        raise UsageError(f'header={given!r:.80}: it is a mapping, such as {{"user": "ann"}}')
    plain = dict(jsonable.plain(dict(given or {})))
    return plain if redactor is None else dict(redactor.value(plain))


def chain(
    id: str | None, ids: IdSource, header: Mapping[str, Any], confidence: Mapping[str, Any] | None
) -> dict[str, Any]:
    """What the header of a new log says of its chain; without an id, one is made from the program's name.

    Raises:
        UsageError: `confidence` has what it cannot have, the id is no text, or has a NUL: no variable of the
            environment could name it to child processes, and no database keeps it.
    """
    if not isinstance(id, str | None):
        raise UsageError(f"chain_id={id!r:.80}: it is a text, or None for one made from the program's name")
    if id and "\0" in id:
        raise UsageError(f"chain id {id!r}: it has a NUL, which no id may have")
    name = id or naming.program()
    made: dict[str, Any] = {"id": id or ids.chain_id(name)}
    if id is None:
        made["name"] = name
    made["seed"] = seed()
    above = processes.around(_enclosing())
    if above is not None:
        made["parent"] = above
    made |= header
    if confidence is not None:
        from lctl.trust.policy import header_of, read_policy

        made["confidence"] = header_of(read_policy(confidence))
    return dict(jsonable.plain(made))


def _enclosing() -> Any:
    """The session within which one is opened here; others may be open in threads and tasks beside."""
    from lctl.session import default

    return default.running()


def seed() -> str:
    """Chance for what a log makes up; a rerun takes the recorded one."""
    return urandom(8).hex()


def store(
    chain: dict[str, Any],
    path: str | Path | None,
    durability: Durability,
    clock: Clock,
    *,
    adopt: bool,
    to: Address | None = None,
) -> RecordingStore:
    """The store of a session that is being opened; `to` is where its events go in the end."""
    if redirect is not None:
        return redirect(chain, durability, path)
    _tie(chain)
    if to is not None:
        from lctl.stores import recording

        return recording.opened(chain, path, durability, to, adopt=adopt)
    if path is None:
        name = str(chain.get("name") or chain["id"])
        return naming.new_store(naming.default_path(name, clock), chain, durability)
    return JournalStore(path, chain, durability=durability, adopt=adopt)


def given(store: RecordingStore, path: str | Path | None) -> Path | None:
    """The file that the program said the session is to have; None where it has another, as in a rerun."""
    return None if path is None or redirect is not None else store.path


def child_store(
    path: Path, chain: dict[str, Any], durability: Durability, to: Address | None = None
) -> RecordingStore:
    """The store of a forked child."""
    if redirect is not None:
        return redirect(chain, durability, None)
    if to is not None:
        from lctl.stores import recording

        # A chain of its own: the store is not asked for it. To open a database in a child that was forked
        # beside threads may wait for a lock that nobody holds any more.
        return recording.opened(chain, None, durability, to, adopt=True)
    return naming.new_store(path, chain, durability)


def _tie(chain: dict[str, Any]) -> None:
    """The second and later sessions of a process name the first: a rerun of it needs their logs, too."""
    global _first, _count
    pid = os.getpid()
    made = opened_in()
    if made:
        chain["opened"] = made
    if _first is None or _first[0] != pid:
        _first, _count = (pid, str(chain["id"])), 1
        return
    _count += 1
    chain["with"] = {"id": _first[1], "n": _count}


def opened_in() -> dict[str, str]:
    """Which of the program's threads, or tasks, opens a session here: several at once come in another order
    in each run. By its lane where there are such, and by the name that it was given as it was made; empty in
    the main flow, and of the default session."""
    from lctl.session import default

    made: dict[str, str] = {}
    if default.is_opening():
        return made  # by whoever comes to it first
    lane = lanes.current()
    if lane.index and not lane.is_apart:
        made["lane"] = lane.path
    asyncio: Any = sys.modules.get("asyncio")
    task = None if asyncio is None or asyncio._get_running_loop() is None else asyncio.current_task()
    name = threading.current_thread().name if task is None else task.get_name()
    if task is not None or threading.current_thread() is not threading.main_thread():
        made["name"] = name
    return made
