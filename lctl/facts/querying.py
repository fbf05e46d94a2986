"""A query over a log at any seq: facts, steps, tools, messages, errors and events as tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any, Protocol

from lctl.errors import UsageError
from lctl.events import Event
from lctl.facts.logtables import TABLES, fill
from lctl.facts.relevance import Embed
from lctl.facts.sandbox import ROWS, SECONDS, Answer
from lctl.facts.sqltext import for_facts, names
from lctl.facts.store import FactStore
from lctl.state.collection import paused
from lctl.trust.ledger import Ledger
from lctl.trust.policy import policy_of
from lctl.values import index_number


class Events(Protocol):
    """What is needed of a log; `lctl.codec.open_log` gives one."""

    @property
    def chain(self) -> Mapping[str, Any]: ...

    def events(self, start: int = ..., stop: int | None = ...) -> Iterator[Event]: ...


class Loaded(Protocol):
    """The same of events that are decoded already; a `Chain` is one."""

    @property
    def log(self) -> Any: ...

    @property
    def events(self) -> Sequence[Event]: ...


def ledger_of(log: Events | Loaded, at: int | None = None) -> Ledger:
    """The facts of a log, as they stood after event `at`, under the policy of its header.

    Raises:
        UsageError: it is no log, or `at` is no number.
    """
    _check(log, at)
    header: Any = getattr(log, "log", log)
    ledger = Ledger(policy_of(header.chain, getattr(header, "extra", None)))
    with paused():
        return ledger.take_all(_up_to(log, at))


def store_of(log: Events | Loaded, *, at: int | None = None, embed: Embed | None = None) -> FactStore:
    """The facts of a log as a store. Reading it records nothing."""
    header: Any = getattr(log, "log", log)
    return FactStore(ledger_of(log, at), url=str(getattr(header, "path", None) or ""), embed=embed)


def query(
    log: Events | Loaded,
    sql: str,
    *,
    at: int | None = None,
    agent: str | None = None,
    limit: int = ROWS,
    embed: Embed | None = None,
    seconds: float = SECONDS,
) -> Answer:
    """The rows of one SELECT over the log as it was after event `at`.

    Args:
        agent: facts have the confidence that agent may rely on; None: as far as they have come.
        limit: rows to give; `Answer.more` says that there are more.

    Raises:
        QueryError: it is no query, would do more than read, or takes too long.
        UsageError: it is no log, or `at` is no number.
    """
    _check(log, at)
    with paused():
        wanted = names(for_facts(sql))
        ledger = ledger_of(log, at) if "facts" in wanted else Ledger()
        store = FactStore(ledger, embed=embed, seconds=seconds)
        for table in TABLES:
            if table in wanted:
                fill(store.sandbox, table, _up_to(log, at))
            else:
                store.sandbox.define(table, TABLES[table])
        return store.ask(sql, agent=agent, limit=limit)[0]


def _check(log: Events | Loaded, at: int | None) -> None:
    if not hasattr(log, "events"):
        raise UsageError(f"{log!r:.80}: it takes a log or a chain, such as lctl.load(PATH)")
    if at is not None and index_number(at) is None:
        raise UsageError(f"at={at!r}: it takes the number of an event")


def _up_to(log: Events | Loaded, at: int | None) -> Iterable[Event]:
    events = log.events() if callable(log.events) else log.events
    return events if at is None else takewhile(lambda event: event.seq <= at, events)
