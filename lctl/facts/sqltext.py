"""A query as agents write it, made into what SQLite takes.

`SELECT * WHERE source = 'x'` means facts; `relevance('words')` needs to know the row (and `tag`, see
`tagtext`). Nothing else is changed, and strings and comments never are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_TOKEN = re.compile(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|\[[^\]]*\]|--[^\n]*|/\*.*?(?:\*/|\Z)"
    r"|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|[A-Za-z_][\w$]*|<=|>=|<>|!=|==|\|\||\s+|.",
    re.DOTALL,
)
_NAME = re.compile(r'[A-Za-z_"`\[]')
_CLAUSES = frozenset({"where", "group", "order", "limit", "having", "window"})
_AGGREGATING = frozenset(
    {"distinct", "group", "union", "intersect", "except", "with", "over"}
    | {"count", "sum", "avg", "min", "max", "total", "group_concat", "json_group_array", "json_group_object"}
)


class Token(NamedTuple):
    text: str
    start: int

    @property
    def word(self) -> str:
        return self.text.lower()

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def blank(self) -> bool:
        return self.text.isspace() or self.text.startswith(("--", "/*"))


def tokens(sql: str) -> list[Token]:
    """The query in pieces, comments and white space left out."""
    found = [Token(match[0], match.start()) for match in _TOKEN.finditer(sql)]
    return [one for one in found if not one.blank]


def names(sql: str) -> set[str]:
    """All words of the query, small: the tables it may mean among them."""
    return {one.word.strip('"`[]') for one in tokens(sql)}


def for_facts(sql: str) -> str:
    """The query, asked of facts where it does not say of what."""
    found = _closed(tokens(sql))
    if not found or found[0].word != "select" or _at_top(found, {"from"}) is not None:
        return sql
    clause = _at_top(found, _CLAUSES)
    if clause is None and _at_top(found, {"*"}) is None:
        return sql
    end = found[-1 if clause is None else clause - 1].end
    return f"{sql[:end]} FROM facts {sql[end:].lstrip()}".rstrip()


def for_sqlite(sql: str) -> str:
    """The query with `relevance` in the engine's terms."""
    found = tokens(sql)
    row = f"{next((name for _, name in _facts_names(found)), 'facts')}.rowid"
    edits: list[tuple[int, str]] = []
    for n, one in enumerate(found):
        if one.word == "relevance" and n + 1 < len(found) and found[n + 1].text == "(":
            close, commas = _argument_end(found, n + 1)
            if close is not None and close > n + 2 and not commas:
                edits.append((found[close].start, f", {row}"))
    for at, text in sorted(edits, reverse=True):
        sql = sql[:at] + text + sql[at:]
    return sql


class Named(NamedTuple):
    """A query whose rows end with the ids of the facts they are of: behind the columns that were asked for,
    as `ORDER BY 2` means the second of those."""

    sql: str
    ids: int


def naming_rows(sql: str) -> Named | None:
    """The query, so asked that it is known which facts were read. None where a row of the answer is no row of
    facts."""
    found = _closed(tokens(sql))
    if not found or found[0].word != "select" or {one.word for one in found} & _AGGREGATING:
        return None
    source = _at_top(found, {"from"})
    known = [name for depth, name in _facts_names(found) if not depth]
    if source is None or not known:
        return None
    at = found[source - 1].end
    ids = ", ".join(f"{name}.id" for name in known)
    return Named(f"{sql[:at]}, {ids}{sql[at:]}", len(known))


def words_needed(sql: str) -> str | None:
    """The words of a `relevance('...') > number` that every row of the answer fulfils: rows without any of
    them need not be looked at. None where that cannot be told at once."""
    found = _closed(tokens(sql))
    small = [one.word for one in found]
    where = _at_top(found, {"where"})
    if where is None or small.count("select") != 1 or small.count("facts") != 1:
        return None
    end = _at_top(found[where + 1 :], _CLAUSES)
    condition = found[where + 1 : None if end is None else where + 1 + end]
    if _at_top(condition, {"or", "between", "case"}) is not None:
        return None
    for n, one in enumerate(condition):
        texts = [piece.text for piece in condition[n : n + 7]]
        is_term = n == 0 or condition[n - 1].word == "and"
        if not (one.word == "relevance" and is_term and _at_top(condition[: n + 1], {"relevance"}) == n):
            continue
        if len(texts) < 6 or texts[1] != "(" or texts[3] != ")" or not texts[2].startswith("'"):
            continue
        bound = _positive(texts[4], texts[5])
        if bound and (len(texts) == 6 or texts[6].lower() == "and"):
            return texts[2][1:-1].replace("''", "'")
    return None


def _positive(sign: str, number: str) -> bool:
    """Whether the comparison leaves out 0."""
    try:
        return (sign == ">" and float(number) >= 0) or (sign == ">=" and float(number) > 0)
    except ValueError:
        return False


def place(sql: str, position: int) -> str:
    """`line 2, column 5` of a position."""
    before = sql[:position]
    line = before.count("\n")
    column = position - (before.rfind("\n") + 1)
    return f"line {line + 1}, column {column + 1}" if "\n" in sql.strip() else f"column {column + 1}"


def pointed(sql: str, position: int) -> tuple[str, str]:
    """The line of the query that holds `position`, and a caret below it."""
    start = sql.rfind("\n", 0, position) + 1
    end = sql.find("\n", position)
    line = sql[start : end if end >= 0 else len(sql)].expandtabs(1)
    return line, " " * (position - start) + "^"


def _closed(found: list[Token]) -> list[Token]:
    """Without the semicolon at the end."""
    while found and found[-1].text == ";":
        found = found[:-1]
    return found


def _at_top(found: Sequence[Token], words: set[str] | frozenset[str]) -> int | None:
    """Index of the first of these words outside parentheses."""
    depth = 0
    for n, one in enumerate(found):
        depth += (one.text == "(") - (one.text == ")")
        if depth == 0 and one.word in words:
            return n
    return None


def _argument_end(found: Sequence[Token], opening: int) -> tuple[int | None, int]:
    """The closing parenthesis of a call, and how many commas stand directly inside."""
    depth = commas = 0
    for n in range(opening, len(found)):
        text = found[n].text
        depth += (text == "(") - (text == ")")
        commas += text == "," and depth == 1
        if depth == 0:
            return n, commas
    return None, commas


def _facts_names(found: Sequence[Token]) -> Iterator[tuple[int, str]]:
    """What the query calls the facts each time it names them, `facts` or the name it gave them, and in how
    many parentheses that is."""
    depth = 0
    for n, one in enumerate(found):
        depth += (one.text == "(") - (one.text == ")")
        if one.word != "facts" or n == 0 or found[n - 1].word not in ("from", "join", ","):
            continue
        rest = [after for after in found[n + 1 : n + 3] if after.word != "as"]
        named = rest and _NAME.match(rest[0].text) and rest[0].word not in _CLAUSES | _AFTER_TABLE
        yield depth, rest[0].text if named else one.text


_AFTER_TABLE = frozenset(
    {
        "join",
        "left",
        "right",
        "full",
        "inner",
        "cross",
        "natural",
        "on",
        "using",
        "union",
        "intersect",
        "except",
    }
)
