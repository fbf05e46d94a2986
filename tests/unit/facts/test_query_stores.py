"""Fact stores: one that follows its session, one by its URL, and what a read of them leaves behind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lctl import LCTLSession
from lctl.chain import Chain
from lctl.errors import QueryError, UsageError
from lctl.facts import open_store
from lctl.facts.querying import query
from tests.golden import logs
from tests.unit.facts.asking import ids, three_facts
from tests.unit.trust import trustlogs


@pytest.fixture
def known() -> Chain:
    return three_facts()


def test_tables_of_a_log(tmp_path: Path) -> None:
    """Steps, tools, messages, errors and events, at any seq."""
    found = Chain("x", logs.assistant())
    one = query(found, "SELECT kind, model, input_tokens FROM steps WHERE kind = 'llm' ORDER BY seq").rows
    assert one[0][:2] == ("llm", "gpt-4o-mini-2024-07-18")
    failed = query(found, "SELECT category || '/' || type, recoverable, context ->> 'status' FROM errors")
    assert failed.rows[0] == ("execution_error/rate_limited", 1, 429)
    assert ids(found, "SELECT content FROM messages ORDER BY seq LIMIT 1") == ["Be brief."]
    assert ids(found, "SELECT tool FROM tools") == [
        e.data["tool"] for e in found.events if e.type == "tool_call"
    ]
    assert ids(found, "SELECT count(*) FROM events") == [len(found)]
    assert ids(found, "SELECT count(*) FROM events", at=4) == [4]
    assert ids(found, "SELECT ended IS NULL FROM steps", at=4) == [1, 1]


def test_reads_are_recorded(tmp_path: Path) -> None:
    """Which facts, which question; also where the answer does not show ids. A failing query is none."""
    with trustlogs.session(tmp_path) as session:
        session.add_fact("F1", "one", 0.9, agent="a")
        session.add_fact("F2", "two", 0.5, agent="a")
        with session.step("b"):
            assert session.facts.query("SELECT text FROM facts WHERE id = 'F2'") == [{"text": "two"}]
            assert session.facts.query("SELECT count(*) AS n FROM facts") == [{"n": 2}]
            assert session.facts.get("F1").text == "one"
            with pytest.raises(QueryError):
                session.facts.query("SELECT nothing FROM facts")
        reads = [e["data"] for e in session.to_dict()["events"] if e["type"] == "fact_read"]
        assert [(read["facts"], read.get("rows")) for read in reads] == [(["F2"], 1), ([], 1), (["F1"], None)]
        assert reads[0]["query"] == "SELECT text FROM facts WHERE id = 'F2'"
        assert session.watch.follow().facts["F2"].distance("b") == 1


@pytest.mark.parametrize(
    ("sql", "rows", "read"),
    [
        ("SELECT text, confidence FROM facts ORDER BY 1 DESC, 2 DESC LIMIT 1", [("t", 0.9)], ["A"]),
        ("SELECT 1 -- one\nFROM facts WHERE id = 'B'", [(1,)], ["B"]),
        ("SELECT source, count(*) FROM facts GROUP BY 1 ORDER BY 2 DESC", [("y", 2), ("x", 1)], []),
        ("SELECT DISTINCT text FROM facts ORDER BY 1 DESC", [("t",), ("s",)], []),
        ("SELECT DISTINCT id, text FROM facts ORDER BY 2, 1 LIMIT 1", [("B", "s")], ["B"]),
        (("SELECT id, text FROM facts"
         " UNION SELECT id, text FROM facts ORDER BY 2, 1 DESC LIMIT 2"),
         [("B", "s"), ("C", "t")], ["B", "C"]),
        (("SELECT id FROM (SELECT id, confidence FROM facts"
         " ORDER BY 2 DESC LIMIT 2)"), [("A",), ("C",)], ["A", "C"]),
        (("SELECT text FROM facts WHERE id IN (SELECT id FROM facts"
         " ORDER BY confidence LIMIT 1)"), [("s",)], ["B"]),
        ("SELECT (SELECT max(confidence) FROM facts)", [(0.9,)], []),
        ("SELECT a.text FROM facts a JOIN facts b ON a.text = b.text AND a.id < b.id", [("t",)], ["A", "C"]),
        (("SELECT b.id, a.id FROM facts a LEFT JOIN facts AS b"
         " ON a.id > b.id ORDER BY 2, 1 LIMIT 2"), [(None, "A"), ("A", "B")], ["A", "B"]),
        (("SELECT text FROM facts WHERE EXISTS (SELECT 1 FROM facts f WHERE f.id = 'A')"
         " ORDER BY 1 LIMIT 1"), [("s",)], ["B"]),
    ],
)  # fmt: skip
def test_which_facts_a_row_is_of(tmp_path: Path, sql: str, rows: Any, read: Any) -> None:
    """Noted for both sides of a join; what is asked for beside it changes nothing of the answer."""
    with trustlogs.session(tmp_path) as session:
        session.add_fact("A", "t", 0.9, source="x")
        session.add_fact("B", "s", 0.1, source="y")
        session.add_fact("C", "t", 0.5, source="y")
        given = [tuple(row.values()) for row in session.facts.query(sql)]
        noted = [e["data"]["facts"] for e in session.to_dict()["events"] if e["type"] == "fact_read"]
    assert given == rows and noted == [read]


def test_a_store_follows_its_session(tmp_path: Path) -> None:
    """New facts, changes and crossings since the last query are in the next; the asker's decay too."""
    with trustlogs.session(tmp_path) as session:
        ask = session.facts.query
        assert ask("SELECT * FROM facts") == [] and len(session.facts) == 0
        session.add_fact("F1", "one", 0.9)
        assert [fact["confidence"] for fact in ask("SELECT * FROM facts")] == [0.9]
        session.modify_fact("F1", confidence=0.8)
        session.add_fact("F2", "two SQL", 0.7)
        assert [fact["confidence"] for fact in ask("SELECT * FROM facts")] == [0.8, 0.7]
        with session.step("b"):
            assert [fact["confidence"] for fact in ask("SELECT * FROM facts")] == [0.76, 0.665]
            assert [fact["id"] for fact in ask("SELECT * WHERE relevance('sql') > 0.5")] == ["F2"]
        assert [fact["confidence"] for fact in ask("SELECT * FROM facts")] == [0.8, 0.7]
        with pytest.raises(QueryError, match="more than 1 rows"):
            ask("SELECT * FROM facts", limit=1)


def test_stores_by_url(tmp_path: Path) -> None:
    """A session of this process, a file at any seq, a database; else it is said what would do."""
    with LCTLSession("shared", path=tmp_path / "log.lctl.json") as session:
        assert session.facts.url == "memory://shared/facts"
        session.add_fact("F1", "one", 0.9)
        assert open_store("memory://shared/facts").query("SELECT id FROM facts") == [{"id": "F1"}]
        session.add_fact("F2", "two", 0.9)
    file = tmp_path / "log.lctl.json"
    assert len(open_store(str(file))) == len(open_store(file.as_uri())) == 2
    assert open_store(str(file), at=1).query("SELECT id FROM facts") == [{"id": "F1"}]
    with pytest.raises(UsageError, match="no session of that chain"):
        open_store("memory://nobody/facts")
    database = f"sqlite:///{tmp_path / 'runs.db'}"
    with LCTLSession("stored", store=database) as session:
        session.add_fact("F3", "three", 0.9)
    assert open_store(f"{database}#stored").query("SELECT id FROM facts") == [{"id": "F3"}]
    with pytest.raises(UsageError, match="not mysql://"):
        open_store("mysql://host/db")


def test_recording_a_fact_asks_nobody(tmp_path: Path) -> None:
    """Neither ledger nor store do anything when a fact is recorded: they read it when they are asked."""
    with trustlogs.session(tmp_path) as session:
        session.facts.query("SELECT 1")
        before = session.watch.ledger.seq
        for n in range(100):
            session.add_fact(f"F{n}", "text", 0.9)
        assert session.watch.ledger.seq == before
        assert session.facts.query("SELECT count(*) AS n FROM facts") == [{"n": 100}]


@pytest.mark.parametrize(
    ("sql", "first"),
    [
        ("SELECT id, confidence FROM facts ORDER BY 2 LIMIT 1", "F3"),
        ("SELECT id, confidence FROM facts ORDER BY 2 DESC LIMIT 1", "F1"),
        (
            "SELECT id, confidence AS sure FROM facts f WHERE confidence < 0.9 ORDER BY 2 DESC, 1 LIMIT 1",
            "F2",
        ),
        ("SELECT * FROM facts ORDER BY 1 DESC LIMIT 1", "F3"),
        ("SELECT id, (SELECT count(*) FROM facts) FROM facts ORDER BY 2, 1 DESC LIMIT 1", "F3"),
    ],
)
def test_a_column_by_its_number_is_the_querys_own(tmp_path: Path, sql: str, first: str) -> None:
    """And the fact that was read is the one that was given."""
    with LCTLSession(path=tmp_path / "run.lctl.json") as session:
        for id, confidence in (("F1", 0.95), ("F2", 0.75), ("F3", 0.45)):
            session.add_fact(id, "a text", confidence)
        [row] = session.facts.query(sql)
        assert row["id"] == first
    [read] = [event.data for event in Chain.load(session.path).events if event.type == "fact_read"]
    assert read["facts"] == [first]
