"""The table `facts`: one row for each fact of a ledger, as one agent may rely on it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from lctl.codec.lines import encode_value
from lctl.facts import tagtext
from lctl.facts.sandbox import Sandbox
from lctl.trust.gates import Thresholds
from lctl.trust.ledger import Ledger
from lctl.trust.standing import Standing

_COLUMNS = (
    "id TEXT, text TEXT, confidence REAL, source TEXT, agent TEXT, tags TEXT, hops INTEGER, stated REAL,"
    " author TEXT, seq INTEGER, added INTEGER, blocked INTEGER, data TEXT"
)
#: Names of the columns one may ask for.
COLUMNS = (*(one.split()[0] for one in _COLUMNS.split(",")), "gate", "tag")
_INSERT = f"INSERT OR REPLACE INTO facts(rowid, id, text, confidence, source, agent, tags, hops, stated, author, seq, added, blocked, data) VALUES (?{',?' * 13})"  # noqa: E501


class FactTable:
    """Keeps the table in step with a ledger. A fact's rowid is its index in the ledger and 1.

    `confidence` is decayed for the agent that asks; without one, as far as the fact has come. `gate` and
    `tag` are worked out from other columns when they are read.
    """

    def __init__(self, sandbox: Sandbox, ledger: Ledger) -> None:
        self._sandbox = sandbox
        self._ledger = ledger
        self._numbers: dict[str, int] = {}
        self._agent: str | None = None
        self._filled = False

    def hold(self, agent: str | None, chosen: Iterable[int]) -> None:
        """Have some rows only, for one query: those of the facts with these indices."""
        ledger = self._ledger
        self._define(ledger.policy.thresholds)
        ids = list(ledger.facts)
        self._numbers = {ids[n]: n + 1 for n in chosen}
        kept = [ledger.facts[id] for id in self._numbers]
        self._fill(kept, agent)
        self._filled = False

    def follow(self, agent: str | None) -> None:
        """Bring the rows up to date, for that agent."""
        ledger = self._ledger
        if not self._filled or agent != self._agent:
            self._define(ledger.policy.thresholds)
            self._numbers = {}
            self._fill(ledger.facts.values(), agent)
            self._filled, self._agent = True, agent
        elif ledger.touched:
            changed = sorted((ledger.facts[id] for id in ledger.touched), key=lambda fact: fact.added)
            self._fill(changed, agent)
        ledger.touched = set()

    def _fill(self, facts: Iterable[Standing], agent: str | None) -> None:
        lists: dict[str, tuple[str, ...]] = {}
        self._sandbox.fill(_INSERT, self._rows(facts, agent, lists))
        rows = ((text, tag) for text, tags in lists.items() for tag in tags)
        self._sandbox.fill(f"INSERT OR IGNORE INTO {tagtext.TABLE} VALUES (?, ?)", rows)

    def _rows(
        self, facts: Iterable[Standing], agent: str | None, lists: dict[str, tuple[str, ...]]
    ) -> Iterator[tuple[Any, ...]]:
        """Each fact's row; what its `tags` stand for goes into `lists`."""
        numbers = self._numbers
        for fact in facts:
            id = fact.id
            number = numbers.get(id)
            if number is None:
                number = numbers[id] = len(numbers) + 1
            tags = None
            if fact.tags:
                tags = ",".join(fact.tags)
                lists[tags] = tuple(fact.tags)
            hops = fact.hops if agent is None else fact.distance(agent)
            yield (
                number,
                id,
                fact.text,
                fact.stated if not hops or fact.stated is None else round(fact.confidence(agent) or 0.0, 9),
                fact.source,
                fact.agent,
                tags,
                hops,
                fact.stated,
                fact.author,
                fact.modified,
                fact.added,
                fact.blocked,
                encode_value(fact.extra, default=str).decode() if fact.extra else None,
            )

    def _define(self, bounds: Thresholds) -> None:
        self._sandbox.define(tagtext.TABLE, tagtext.COLUMNS, hidden=True)
        near = 1e-9  # as `Thresholds.decide`
        self._sandbox.define(
            "facts",
            f"{_COLUMNS}, tag TEXT GENERATED ALWAYS AS (tags) VIRTUAL,"
            " gate TEXT GENERATED ALWAYS AS (CASE WHEN confidence IS NULL THEN 'verify'"
            f" WHEN confidence >= {bounds.proceed - near!r} THEN 'proceed'"
            f" WHEN confidence >= {bounds.warn - near!r} THEN 'warn'"
            f" WHEN confidence >= {bounds.verify - near!r} THEN 'verify' ELSE 'block' END) VIRTUAL",
        )
