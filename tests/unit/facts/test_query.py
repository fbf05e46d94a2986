"""Asking for facts in SQL: what is understood, what is refused, what a read leaves behind."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from lctl.chain import Chain
from lctl.errors import QueryError
from lctl.events import Event
from lctl.facts.querying import query, store_of
from lctl.facts.sqltext import for_facts, words_needed
from lctl.state.source import MemorySource
from tests.unit.facts.asking import chain, ids, three_facts
from tests.unit.trust.trustlogs import added

#: Two million letters.
_LONG = "replace(replace(printf('%0999d',0),'0',printf('%0999d',0)),'0','aa')"


@pytest.fixture
def known() -> Chain:
    return three_facts()


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
    assert ids(found, "SELECT id FROM facts WHERE relevance('rare_facade') > 0.9") == ["R"]
    assert ids(chain(added("F1", 0.5, text="None")), "SELECT relevance(NULL) FROM facts") == [0.0]
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


def test_another_function_for_embeddings_is_asked_anew(known: Chain) -> None:
    store = store_of(known)
    store.embed = lambda texts: [[1.0, 0.0] for _ in texts]
    assert len(store.query("SELECT id FROM facts WHERE relevance('where') > 0.5")) == 3
    store.embed = lambda texts: [[0.0, 1.0, float("line" in text or text == "where")] for text in texts]
    found = store.query("SELECT id FROM facts WHERE relevance('where') > 0.9")
    assert [row["id"] for row in found] == ["F1"]


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
        ("SELECT * FROM facts WHERE id = ?", "a query has no parameters; write the value into it", None),
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
        (f"SELECT replace(x, 'a', x) FROM (SELECT {_LONG} AS x)", "too large"),
        (f"SELECT instr(x, x || 'b') FROM (SELECT CAST({_LONG} AS BLOB) AS x)", "cast them to text"),
        ("SELECT 'x' LIKE '%" + "a" * 100 + "'", r"LIKE or GLOB has at most 100 bytes; instr\("),
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
    store = store_of(known)
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


def test_messages_of_google_have_their_parts() -> None:
    data = {"role": "model", "content": None, "parts": [{"text": "It is 21."}]}
    found = [Event(seq=1, type="message", agent="a", data=data)]
    text = "SELECT content ->> '$[0].text' FROM messages"
    assert ids(Chain("x", found), text) == ["It is 21."]


def test_a_row_is_a_message() -> None:
    """What later events say of one that is complete adds nothing; one that is streamed has what has come."""
    told: list[tuple[str, dict[str, Any]]] = [
        ("message", {"message_id": "a", "role": "assistant", "content": "4", "sampled": True}),
        ("message", {"message_id": "a", "session_id": "s", "message_number": 1}),
        ("stream_start", {"message_id": "b", "parent_id": "a"}),
        ("stream_chunk", {"message_id": "b", "content": "It "}),
        ("stream_chunk", {"message_id": "b", "content": "is."}),
        ("stream_start", {}),
        ("stream_chunk", {"content": "of no message"}),
        ("stream_end", {"message_id": "b", "status": "aborted"}),
        ("message", {"message_id": "c", "role": "user", "status": "streaming"}),
        ("stream_chunk", {"message_id": "c", "content": "W"}),
        ("message", {"message_id": "c", "content": "Why?"}),
        ("message", {"role": "user", "content": "no id"}),
        ("stream_start", {"message_id": "d", "role": "model"}),
    ]
    found = [Event(seq=n, type=type, agent="x", data=data) for n, (type, data) in enumerate(told, 1)]
    text = "SELECT seq, id, role, parent, content, sampled, status FROM messages ORDER BY seq"
    assert query(Chain("x", found), text).rows == [
        (1, "a", "assistant", None, "4", 1, "complete"),
        (3, "b", "assistant", "a", "It is.", 0, "aborted"),
        (9, "c", "user", None, "Why?", 0, "complete"),
        (12, "#12", "user", None, "no id", 0, "complete"),
        (13, "d", "model", None, None, 0, "streaming"),
    ]


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
