"""Secrets in the columns of tables: found below the headings that name them; other tables stay."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lctl.codec import open_log
from lctl.session import LCTLSession, Redactor
from tests.seeds import tries

_ONE, _TWO = "hunter22xyz", "correct-horse-9"

TABLES = {
    "csv": "id,user,password\n1,bob,{one}\n2,al,{two}\n",
    "csv, quoted": '"id","user","password"\r\n"1","bob, x","{one}"\r\n"2","al ""x""","{two}"\r\n',
    "csv, lines in a cell": 'user,note,password\nbob,"a\nb",{one}\nal,x,{two}\n',
    "csv, spaced": "id, user, password\n1, bob, {one}\n2, al, {two}",
    "csv, introduced": "Result: id,user,password\n1,bob,{one}\n2,al,{two}",
    "csv, as repr": "got 'id,user,api_key\\n1,bob,{one}\\n2,al,{two}\\n' of it",
    "semicolons": "user;password\nbob;{one}\nal;{two}",
    "tsv": "id\tuser\tAPI Key\n1\tbob\t{one}\n2\tal\t{two}",
    "markdown": "So:\n\n| user | **Password** |\n|:--|--:|\n| bob | `{one}` |\n| al | {two} |\n\nand so on",
    "markdown, open": "user | password | n\n--- | --- | ---\nbob | {one} | 1\nal | {two} | 2",
    "psql": " user |   password\n------+-----------\n bob  | {one}\n al   | {two}\n(2 rows)\n",
    "mysql": "+-----+-----+\n| u   | db_password |\n+-----+-----+\n| bob | {one} |\n| al | {two} |\n+-----+",
    "sqlite": "id|user|password\n1|bob|{one}\n2|al|{two}",
    "polars": "│ user ┆ password │\n│ ---  ┆ ---      │\n│ str  ┆ str      │\n╞══════╪═══╡"
    "\n│ bob  ┆ {one} │\n│ al ┆ {two} │",
    "rich": "┃ user ┃ password ┃\n┡━━━━━━╇━━━━━━━━━━┩\n│ bob  │ {one} │\n│ al │ {two} │",
    "pandas": "  user         password\n0  bob      {one}\n1   al  {two}",
    "aligned": "NAME   TOKEN              AGE\nbob    {one}        3d\nal     {two}    4d",
    "html": "<table><tr><th>user<th>password</tr><tr><td>bob</td><td class='x'><b>{one}</b></td></tr>"
    "<tr><td>al</td><td>{two}</td></tr></table>",
    "html, with an index": "<table border='1'><thead><tr><th></th><th>password</th></tr></thead><tbody>"
    "<tr><th>0</th><td>{one}</td></tr><tr><th>1</th><td>{two}</td></tr></tbody></table>",
    "html, beside": "<table><tr><th>password</th><td>{one}</td></tr>"
    "<tr><td>secret</td><td>{two}</td></tr></table>",
    "insert": "INSERT INTO users (name, password) VALUES ('bob', '{one}'), ('al''s (x, y)', '{two}');",
    "insert, escaped": '"insert into `u` (`password`, `n`)\\nvalues '
    "(crypt(\\'{one}\\', gen_salt(\\'bf\\')), 1), "
    "(\\'{two}\\', 2)\"",
    "insert or": "INSERT OR REPLACE INTO u(id, \"api_key\") VALUES (1, '{one}'),(2, '{two}')",
    "dump": "COPY public.users (id, password, n) FROM stdin;\n1\t{one}\t\\N\n2\t{two}\t3\n\\.\n",
    "url": "https://e.com/?q=%7B%22password%22%3A%22{one}%22%2C%22api_key%22%3A+%22{two}%22%7D&x=1",
    "url, twice": "%257B%2522password%2522%253A%2522{one}%2522%252C%2522token%2522%253A%2522{two}%2522%257D",
}


@pytest.mark.parametrize("form", TABLES)
def test_a_column_of_secrets(session: LCTLSession, form: str) -> None:
    """As a text, and as one that is in JSON; what stands around the secrets stays."""
    text = TABLES[form].replace("{one}", _ONE).replace("{two}", _TWO)
    session.emit("t", {"value": text})
    session.emit("t", {"value": json.dumps({"output": text})})
    content = session.path.read_text()
    assert _ONE not in content and _TWO not in content
    redactor = Redactor(key=b"k")
    made = redactor.text(text)
    for secret in (_ONE, _TWO):
        name = redactor.value({"password": secret})["password"].rpartition(":")[2]
        at = made.index(name)
        start = made.rindex("[redacted:", 0, at)
        made = made[:start] + secret + made[at + len(name) :]
    assert made == text


@pytest.mark.parametrize(
    "value",
    [
        {"columns": ["user", "password"], "rows": [["bob", _ONE], ["al", _TWO]]},
        {"columns": ["user", "password"], "index": [0, 1], "data": [["bob", _ONE], ["al", _TWO]]},
        {"header": ["user", "api_key"], "data": [["bob", _ONE], ["al", _TWO]]},
        {"columns": [{"name": "user"}, {"name": "password"}], "values": [["bob", _ONE], ["al", _TWO]]},
        [["id", "user", "password"], [1, "bob", _ONE], [2, "al", _TWO]],
        {"user": {"0": "bob", "1": "al"}, "password": {"0": _ONE, "1": _TWO}},
    ],
)
def test_rows_that_are_lists(session: LCTLSession, value: Any) -> None:
    """The names of the columns beside them, or in the first row."""
    session.emit("t", {"value": value})
    session.emit("t", {"value": json.dumps(value)})
    content = session.path.read_text()
    assert _ONE not in content and _TWO not in content
    assert "bob" in content and "al" in content and content.count("[redacted:") == 4


CLEAN = [
    "id,primary_key,token_count,tokens,password_reset_enabled\n1,abc123de,120,a1b2c3d4,yes1234\n2,x,1,y,no",
    "| Parameter | Token | Note |\n|---|---|---|\n| a | required | x1y2z3w4 |\n| b | the token to send | c |",
    "| Feature | Password | SSO |\n|---|---|---|\n| login | yes | no |\n| api | no | `true` |",
    "token,count,logprob\nthe,5,-0.1\n##ing,4,-0.25\nĠof1,7,-3\n",
    "cat users | grep password | wc -l\nbob | hunter22xyz | 3",
    "def login(user, password):\n    check(user, hunter22xyz)\n",
    "It needs a user, password\nand then, later2day",
    "INSERT INTO users (name, password) VALUES (?, ?), (%s, :password), ($1, NULL)",
    "INSERT INTO t (token_count, primary_key) VALUES ('a1b2c3d4', 'b2c3d4e5')",
    "Password  Strength\nThe first  hunter22xyz",
    "<table><tr><th>token</th><td>Which to send</td></tr><tr><th>password</th><td>string</td></tr></table>",
    {"columns": ["name", "token_count", "primary_key"], "rows": [["a", "12345678a", "b1b2b3b4"]]},
    {"columns": ["n", "token"], "rows": [[1, "the"], [2, "of"]]},
    {"headers": [["x-auth-type", "password"], ["accept", "text/html1"]]},
    "https://e.com/?q=%7B%22password_reset_enabled%22%3A%22hunter22xyz%22%7D",
    "a,b\n1,2\npassword\n3,4",
]


@pytest.mark.parametrize("value", CLEAN, ids=range(len(CLEAN)))
def test_tables_without_secrets_stay(value: Any) -> None:
    """Columns that only resemble one, documents that tell of passwords, code, prose."""
    assert Redactor(key=b"k").value(value) == value


_HEADINGS = st.sampled_from(["primary_key", "tokens", "token_count", "name", "id", "password_hash_algorithm"])
_CELLS = st.text(st.characters(codec="ascii", exclude_characters='\n\r"|,\t;=:%'), max_size=12).filter(
    lambda cell: (
        not any(name in cell.lower() for name in ("pass", "secret", "token", "key", "auth", "cookie"))
    )
)


@settings(max_examples=tries(100), deadline=None)
@given(st.data(), st.sampled_from([",", "\t", ";", " | "]))
def test_any_table_without_a_secret_heading_stays(data: st.DataObject, between: str) -> None:
    """Whatever is in its cells."""
    width = data.draw(st.integers(1, 4))
    heading = data.draw(st.lists(_HEADINGS, min_size=width, max_size=width))
    rows = data.draw(st.lists(st.lists(_CELLS, min_size=width, max_size=width), max_size=4))
    text = "\n".join(between.join(row) for row in [heading, ["---"] * width, *rows])
    assert Redactor(key=b"k").text(text) == text


_SECRET = st.from_regex(r"[a-z]{3}[0-9]{3}[A-Za-z0-9_!#-]{6}", fullmatch=True)


@settings(max_examples=tries(150), deadline=None)
@given(
    st.lists(_SECRET, min_size=1, max_size=5),
    st.integers(0, 3),
    st.integers(0, 3),
    st.sampled_from(["password", "DB_PASSWORD", "api_key", "token"]),
    st.sampled_from([(",", ""), ("\t", ""), (";", ""), (" | ", "---")]),
)
def test_any_table_with_one(
    secrets: list[str], left: int, right: int, name: str, form: tuple[str, str]
) -> None:
    """Wherever the column stands, none of its values is left."""
    between, rule = form
    width = left + 1 + max(right, 1)
    lines = [["col"] * left + [name] + ["col"] * max(right, 1)]
    lines += [[rule] * width] if rule else []
    lines += [["x"] * left + [secret] + ["y"] * max(right, 1) for secret in secrets]
    text = "\n".join(between.join(line) for line in lines)
    made = Redactor(key=b"k").text(text)
    assert not any(secret in made for secret in secrets)
    assert made.count("[redacted:") == len(secrets)


ADVERSARIAL = {
    "headings": "a,password\n1,yes\n",
    "bars": "| password |\n|--|\n",
    "one line of bars": "|password",
    "commas": "password,",
    "quotes": 'password,"\n',
    "aligned": "password  x\n",
    "rows": "insert into a (password) values (",
    "dumps": "copy a (password) from stdin\n",
    "cells": "<th>password",
    "encoded": "%22password",
    "escaped": "password,\\\\\\\\",
}


@pytest.mark.parametrize("piece", ADVERSARIAL)
def test_the_work_grows_as_the_text_does(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines that each look like a heading: every one is read as often in a long text as in a short one."""
    from lctl.session.redaction import tables

    work: list[int] = []
    read: list[int] = []
    after = tables.Lines.after

    def counted(self: tables.Lines, end: int) -> Any:
        for line in after(self, end):
            read.append(line[1] - line[0])
            yield line

    monkeypatch.setattr(tables.Lines, "after", counted)
    for count in (50, 200):
        read.clear()
        Redactor(key=b"k").text(ADVERSARIAL[piece] * count)
        work.append(sum(read))
    assert work[1] <= 5 * work[0] + 4096


def test_reads_of_the_surroundings_are_no_table(session: LCTLSession) -> None:
    """The first of a batch is a read like the others, whatever its variable is called; a table of the
    program's with these names is one."""
    place = "agent.py:7"
    reads = [["environment", "CO_API_KEY", place], ["environment", "AWS_ENDPOINT_URL", place]]
    values = ["", "http://127.0.0.1:8080/v1"]
    session.emit("ambient", {"source": "environment", "reads": reads, "order": [0, 1], "values": values})
    rows = [["id", "name", "password"], ["1", "bob", "hunter2x9Q"]]
    session.emit("t", {"source": "a", "reads": rows})
    session.close()
    first, second = (event.to_dict()["data"] for event in open_log(session.path).events())
    assert first["reads"] == reads and first["values"] == values
    assert "hunter2" not in str(second)
