"""Logs of facts, and questions to them."""

from __future__ import annotations

from typing import Any

from lctl.chain import Chain
from lctl.facts.querying import query
from tests.unit.trust.trustlogs import added, events, handed


def chain(*raw: Any) -> Chain:
    return Chain("asked", events(*raw))


def three_facts() -> Chain:
    return chain(
        added("F1", 0.95, text="SQL injection in line 45", tags=["critical", "db"], source="tests"),
        added("F2", 0.75, text="The query is built from user input", severity="high", tag="db"),
        added("F3", 0.45, text="Sqlite is fast", source="rumour"),
        handed("b", "F2"),
    )


def ids(found: Chain, sql: str, **given: Any) -> list[Any]:
    return [row[0] for row in query(found, sql, **given).rows]
