"""Asking for facts in SQL: what is understood, what is refused, what a read leaves behind."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from lctl import LCTLSession
from lctl.chain import Chain
from lctl.errors import QueryError, UsageError
from lctl.events import Event
from lctl.facts import open_store
from lctl.facts.querying import query
from lctl.facts.sqltext import for_facts, words_needed
from lctl.state.source import MemorySource
from tests.golden import logs
from tests.unit.trust import trustlogs
from tests.unit.trust.trustlogs import added, events, handed


def chain(*raw: Any) -> Chain:
    return Chain("asked", events(*raw))


@pytest.fixture
def known() -> Chain:
    return chain(
        added("F1", 0.95, text="SQL injection in line 45", tags=["critical", "db"], source="tests"),
        added("F2", 0.75, text="The query is built from user input", severity="high", tag="db"),
        added("F3", 0.45, text="Sqlite is fast", source="rumour"),
        handed("b", "F2"),
    )


def ids(found: Chain, sql: str, **given: Any) -> list[Any]:
    return [row[0] for row in query(found, sql, **given).rows]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT id FROM facts ORDER BY confidence", ["F3", "F2", "F1"]),
        ("SELECT * WHERE confidence >= 0.8", ["F1"]),
        ("select * where source = 'tests';", ["F1"]),
        ("SELECT * WHERE tag = 'critical'", ["F1"]),
        ("SELECT * WHERE facts.tag = 'db'", ["F1", "F2"]),
        ("SELECT * WHERE tag != 'db'", ["F3"]),
        ("SELECT id FROM facts f WHERE f.tag == 'critical' -- tag = 'db'", ["F1"]),
        ("SELECT * WHERE tag IN ('critical')", ["F1"]),
        ("SELECT * WHERE facts.tag in ('critical', 'x', 'y', 'db')", ["F1", "F2"]),
        ("SELECT * WHERE tag NOT IN ('critical', 'x')", ["F2", "F3"]),
        ("SELECT * WHERE tag IN (SELECT text FROM facts) OR id = 'F3'", ["F3"]),
        ("SELECT * WHERE 'db' = facts.tag AND 'critical' <> tag", ["F2"]),
        ("SELECT * WHERE ((tag)) = 'db' AND NOT (facts.tag) = 'critical'", ["F2"]),
        ("SELECT * WHERE tag IS 'db' AND tag IS NOT 'critical'", ["F2"]),
        ("SELECT * WHERE tag LIKE 'CRIT%' OR tag GLOB 'd?' AND tag NOT LIKE '%b'", ["F1"]),
        ("SELECT * WHERE tag IS NULL", ["F3"]),
        ("SELECT id FROM facts WHERE tag IS NOT NULL AND NOT tag = 'critical'", ["F2"]),
        ("SELECT CASE WHEN tag = 'db' THEN id ELSE tag = 'x' END FROM facts", ["F1", "F2", 0]),
        ("SELECT a.id FROM facts a JOIN facts b ON b.id > a.id WHERE a.tag = 'db' AND b.tag <> 'db'",
         ["F1", "F2"]),
        ("SELECT tag FROM facts WHERE id IN (SELECT id FROM facts WHERE tag = 'critical')", ["critical,db"]),
        ("SELECT count(tag) FROM facts GROUP BY tag ORDER BY tag", [0, 1, 1]),
        ("SELECT id, source AS tag FROM facts WHERE tag = 'db'", ["F1", "F2"]),
        ("SELECT x.id FROM (SELECT id, source AS tag FROM facts) x WHERE x.tag = 'tests'", ["F1"]),
        ("SELECT facts.id FROM facts, json_each('[\"F3\", 2]') e WHERE facts.id = e.value", ["F3"]),
        ("SELECT * ORDER BY hops DESC, id LIMIT 2", ["F2", "F1"]),
        ("SELECT id FROM facts WHERE hops = 1 AND stated = 0.75 AND confidence < 0.72", ["F2"]),
        ("SELECT id FROM facts WHERE gate = 'verify'", ["F3"]),
        ("SELECT id FROM facts WHERE data ->> 'severity' = 'high'", ["F2"]),
        ("SELECT id FROM facts WHERE text = 'SELECT * WHERE tag = ''db'''", []),
        ("SELECT (SELECT count(*) FROM facts)", [3]),
        ("WITH f AS (SELECT id FROM facts) SELECT id FROM f LIMIT 1", ["F1"]),
        ("SELECT *", ["F1", "F2", "F3"]),
        ("SELECT id FROM facts WHERE relevance('SQL injection') > 0.5", ["F1"]),
        ("SELECT id FROM facts AS f WHERE 1 AND relevance('sql') >= 0.1 AND f.confidence > 0", ["F1"]),
        ("SELECT id FROM facts WHERE relevance('sql') > 0 OR relevance('input') > 0", ["F1", "F2"]),
        ("SELECT id FROM facts WHERE NOT relevance('sql') > 0", ["F2", "F3"]),
        ("SELECT id FROM facts ORDER BY relevance('user query input') DESC LIMIT 1", ["F2"]),
        ("SELECT a.id FROM facts a, facts b WHERE a.id < b.id AND relevance('45', a.rowid)", ["F1", "F1"]),
    ],
)  # fmt: skip
def test_what_is_understood(known: Chain, sql: str, expected: list[Any]) -> None:
    """SQLite's own SQL, the suggested queries of the protocol, tags and relevance."""
    assert ids(known, sql) == expected


@pytest.mark.parametrize(
    "condition",
    [
        "tag < 'b'", "tag = 'd' || 'b'", "'x' || 'db' = tag", "lower(tag) = 'db'", "tag = source",
        "'db' IN (tag)", "tag BETWEEN 'a' AND 'e'", "CASE tag WHEN 'db' THEN 1 END",
        "tag LIKE '%' ESCAPE 'x'", "tag = NULL", "tag COLLATE NOCASE = 'DB'", "tag",
    ],
)  # fmt: skip
def test_what_has_no_meaning_of_each_tag(known: Chain, condition: str) -> None:
    """It is refused at its place, not answered with nothing."""
    sql = f"SELECT id FROM facts WHERE {condition}"
    with pytest.raises(
        QueryError, match=r"^column \d+: 'tag' is each of a fact's tags, compared with"
    ) as found:
        query(known, sql)
    assert found.value.position == sql.index("tag")


def test_functions_that_make_tables_are_named(known: Chain) -> None:
    with pytest.raises(QueryError, match=r"json_each\(\) and json_tree\(\) do$"):
        query(known, "SELECT * FROM facts, pragma_table_info('facts')")


def test_whose_confidence(known: Chain) -> None:
    """Decayed for the agent that asks: what it holds, what it would hold when it reads."""
    sql = "SELECT confidence FROM facts WHERE id = 'F2'"
    assert ids(known, sql, agent="a") == [0.75]
    assert ids(known, sql, agent="b") == ids(known, sql, agent="c") == [0.7125]
    assert ids(known, sql, at=2) == [0.75]


def test_relevance_is_the_same_with_and_without_its_short_cut(known: Chain) -> None:
    """Rows without the words are left out beforehand only where that changes nothing."""
    asked = "SELECT id, relevance('SQL injection') FROM facts WHERE relevance('SQL injection') > 0.01"
    all = query(known, "SELECT id, relevance('SQL injection') AS r FROM facts").rows
    assert query(known, asked).rows == [row for row in all if row[1] > 0.01]
    assert (
        words_needed(for_facts("SELECT * WHERE confidence > 0.5 AND relevance('a b') > 0.5 LIMIT 3")) == "a b"
    )
    for sql in (
        "SELECT * FROM facts WHERE relevance('a') > 0.5 OR 1",
        "SELECT * FROM facts WHERE relevance('a') >= 0",
        "SELECT * FROM facts WHERE NOT relevance('a') > 0.5",
        "SELECT * FROM facts WHERE relevance('a') > 0.5 + confidence",
        "SELECT * FROM facts WHERE 1 BETWEEN 0 AND relevance('a') > 0.5",
        "SELECT * FROM facts WHERE (confidence > 0 AND relevance('a') > 0.5)",
        "SELECT * FROM facts WHERE id IN (SELECT id FROM facts) AND relevance('a') > 0.5",
        "SELECT relevance('a') > 0.5 FROM facts",
    ):
        assert words_needed(sql) is None, sql


def test_relevance() -> None:
    """From 0 to 1; more of the words is more, rare words weigh more, case and accents do not matter."""
    many = [added(f"F{n}", 0.5, text=f"the common word and number {n}") for n in range(50)]
    found = chain(*many, added("R", 0.5, text="Rare façade"), added("B", 0.5, text="the rare common word"))
    said = dict(query(found, "SELECT id, relevance('RARE common') FROM facts").rows)
    assert said["B"] == 1.0 and said["R"] > 0.5 > said["F3"] > 0
    assert ids(found, "SELECT id FROM facts WHERE relevance('facade') > 0.5") == ["R"]
    assert ids(found, "SELECT id FROM facts WHERE relevance('façade') > 0.5") == ["R"]
    assert ids(found, "SELECT id FROM facts WHERE relevance('absent') > 0") == []
    assert all(0 <= value <= 1 for value in said.values())


def test_relevance_by_embeddings(known: Chain) -> None:
    """A function of the user's gives vectors; relevance is their cosine. What fails in it is said."""

    def embed(texts: list[str]) -> Sequence[Sequence[float]]:
        return [[1.0, 0.0] if "line" in text or "where" in text else [0.0, 1.0] for text in texts]

    assert ids(known, "SELECT id FROM facts WHERE relevance('where is it') > 0.5", embed=embed) == ["F1"]
    for wrong, text in (
        (lambda texts: [[1.0]], "1 vectors for 4 texts"),
        (lambda texts: 1 / 0, "ZeroDivisionError"),
        (lambda texts: [[1.0] * (n + 1) for n in range(len(texts))], "differ in length"),
    ):
        with pytest.raises(QueryError, match=text):
            query(known, "SELECT id FROM facts WHERE relevance('where') > 0.5", embed=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sql", "text", "position"),
    [
        ("SELECT * FORM facts", "column 10: near \"FORM\": syntax error", 9),
        ("SELECT * FROM facts\nWHERE (confidence > 1 ORDER", "line 2, column 23: near \"ORDER\"", 42),
        ("SELECT confidenc FROM facts", "column 8: no such column: confidenc; did you mean 'confidence'?", 7),
        ("SELECT * FROM fact", "column 15: no such table: fact; did you mean 'facts'?", 14),
        ("SELECT nope(1) FROM facts", "column 8: no such function: nope", 7),
        ("SELECT 'FROM' FROM facts FROM facts", "column 26: near \"FROM\"", 25),
        ("SELECT * FROM facts WHERE (1", "column 29: the query ends too early", 28),
        ("SELECT 'x FROM facts", "unrecognized token", 7),
        ("SELECT relevance('') FROM facts", "there is no word in it", None),
        ("SELECT relevance() FROM facts", "column 8: wrong number of arguments", 7),
        ("SELECT relevance(1, 2, 3) FROM facts", "column 8: wrong number of arguments", 7),
        ("", "there is no query", None),
        ("-- nothing", "there is no query", None),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(known: Chain, sql: str, text: str, position: int | None) -> None:
    """With its place in the query as it was written, and a line that points there."""
    with pytest.raises(QueryError) as caught:
        query(known, sql)
    assert text in str(caught.value)
    assert caught.value.position == position
    if position is not None:
        line, caret = caught.value.detail
        assert caret.index("^") == position - (sql.rfind("\n", 0, position) + 1) and line in sql


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        ("ATTACH DATABASE 'x.db' AS x", "attach another database"),
        ("VACUUM INTO 'x.db'", "attach another database"),
        ("PRAGMA writable_schema = 1", "set a pragma"),
        ("SELECT * FROM pragma_database_list", "a query can only read"),
        ("DELETE FROM facts", "delete rows"),
        ("UPDATE facts SET confidence = 1", "change rows"),
        ("INSERT INTO facts(id) VALUES ('x')", "insert rows"),
        ("REPLACE INTO facts(id) VALUES ('x')", "insert rows"),
        ("WITH x AS (SELECT 1) DELETE FROM facts", "delete rows"),
        ("DROP TABLE facts", "delete rows|drop a table"),
        ("CREATE TABLE x (y)", "insert rows|create a table"),
        ("CREATE TEMP TABLE x AS SELECT 1", "insert rows|more than read"),
        ("CREATE VIRTUAL TABLE x USING fts5(y)", "insert rows|create a table"),
        ("ALTER TABLE facts RENAME TO x", "alter a table|more than read"),
        ("BEGIN", "begin or end a transaction"),
        ("SAVEPOINT x", "savepoint"),
        ("SELECT 1; DELETE FROM facts", "one query at a time"),
        ("SELECT load_extension('x')", r"load_extension\(\) cannot be used"),
        ("SELECT readfile('/etc/passwd')", "readfile"),
        ("SELECT writefile('x', 'y')", "writefile"),
        ("SELECT fts3_tokenizer('simple')", "fts3_tokenizer"),
        ("SELECT * FROM sqlite_master", "sqlite_master cannot be read"),
        ("SELECT * FROM sqlite_schema", "cannot be read"),
        ("SELECT zeroblob(1000000000)", "zeroblob"),
        ("SELECT hex(randomblob(100000000))", "randomblob"),
        ("SELECT length(printf('%.*c', 900000000, 'x'))", "no more than 1000 characters"),
        ("SELECT format('%999999999d', 1)", "no more than 1000 characters"),
        ("SELECT printf('%*d', '1e9', 1)", "no more than 1000 characters"),
        ("SELECT " + "(" * 500 + "1" + ")" * 500, "too large|too deep|overflow|maximum depth|parser"),
        ("SELECT '" + "x" * 200_000 + "'", "too large|too big|size limit|too long"),
        (" UNION ALL ".join(["SELECT 1"] * 200), "too many terms"),
    ],
)  # fmt: skip
def test_injections_are_refused(
    known: Chain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sql: str, text: str
) -> None:
    """A query reads, and does nothing else: no file appears, nothing changes."""
    monkeypatch.chdir(tmp_path)
    store = open_store_of(known)
    before = store.query("SELECT * FROM facts")
    with pytest.raises(QueryError, match=text):
        store.query(sql)
    assert store.query("SELECT * FROM facts") == before
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "sql",
    [
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c",
        "WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x FROM c, facts) SELECT x FROM c WHERE x > 1",
        "SELECT count(*) FROM " + ", ".join(f"facts f{n}" for n in range(20)),
    ],
)
def test_a_query_that_does_not_end_is_stopped(known: Chain, sql: str) -> None:
    """After its time, with a word about it; the store goes on."""
    with pytest.raises(QueryError, match=r"longer than 0\.2 s"):
        query(known, sql, seconds=0.2)


def test_a_value_that_grows_is_stopped(known: Chain) -> None:
    """Ten million characters are the most a value may have."""
    more = "SELECT 'xxxxxxxx' UNION ALL SELECT x || x FROM c"
    with pytest.raises(QueryError, match=r"too large|longer than"):
        query(known, f"WITH RECURSIVE c(x) AS ({more}) SELECT max(length(x)) FROM c", seconds=2)


def open_store_of(found: Chain) -> Any:
    from lctl.facts.querying import store_of

    return store_of(found)


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


def test_messages_of_google_have_their_parts() -> None:
    data = {"role": "model", "content": None, "parts": [{"text": "It is 21."}]}
    found = [Event(seq=1, type="message", agent="a", data=data)]
    text = "SELECT content ->> '$[0].text' FROM messages"
    assert ids(Chain("x", found), text) == ["It is 21."]


def test_values_a_database_does_not_know() -> None:
    """Large numbers, objects, lone surrogates: a query never fails on what a log holds."""
    odd = MemorySource(
        [
            Event(
                seq=1,
                type="tool_call",
                agent="a",
                data={"tool": "t", "input": {"x": 2**80}, "duration_ms": 2**70},
            ),
            Event(seq=2, type="fact_added", agent="a", data={"id": "F", "text": {"x": 1}, "confidence": 3}),
        ],
    )
    assert query(odd, "SELECT input, duration_ms FROM tools").rows[0][0] is not None
    assert query(odd, "SELECT text, confidence, gate FROM facts").rows == [("{'x': 1}", None, "verify")]


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


def test_a_number_of_a_column_that_was_not_asked_for(known: Chain) -> None:
    """It is refused as SQLite does: no column is there that one did not ask for."""
    with pytest.raises(QueryError, match="ORDER BY term out of range - should be between 1 and 1"):
        query(known, "SELECT id FROM facts ORDER BY 2")


def test_a_query_that_fails_is_asked_once(known: Chain) -> None:
    """What fails as it runs (a function of the user's; as well the end of its time) does not run again."""
    calls: list[int] = []

    def embed(texts: list[str]) -> list[list[float]]:
        calls.append(len(texts))
        raise OSError("no model")

    with pytest.raises(QueryError, match="no model"):
        query(known, "SELECT id FROM facts WHERE relevance('a') > 0.5", embed=embed)
    assert len(calls) == 1


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
