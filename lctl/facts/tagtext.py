"""`tag` in a query: a fact has several, and `tag = 'x'` holds for one that has `x` among them.

Each comparison is asked of the table `fact_tags` instead, which has a row for each tag of each list of tags;
the rest of the query stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lctl.errors import QueryError
from lctl.facts.sqltext import Token, place, pointed, tokens

TABLE = "fact_tags"
#: Names that no query has of its own: `tags` is to mean the facts' column in there.
COLUMNS = "list_of_tags TEXT, one_tag TEXT, PRIMARY KEY (list_of_tags, one_tag)"

_SIGNS = frozenset({"=", "==", "!=", "<>", "is"})
#: What joins operands: with it on the far side, a text is but a part of what is compared.
_JOINING = _SIGNS | {"<", ">", "<=", ">=", "||", "+", "-", "*", "/", "%", "&", "|", "~", "in", "like", "glob"}
_JOINING |= {"between", "collate", "escape", "regexp", "match", "case"}
#: In front of what is shown, sorted by or grouped by, and not compared.
_SHOWING = frozenset({"select", "distinct", "all", "by", ","})
_COUNTING = frozenset({"count", "group_concat", "min", "max"})


class _Asked(NamedTuple):
    """A comparison: tokens `first` to `last`. `one` is to hold of a tag, or of none if `negated`."""

    first: int
    last: int
    one: str
    negated: bool


def for_tags(sql: str) -> str:
    """The query with each comparison of `tag` made one of each of the fact's tags.

    Raises:
        QueryError: it is compared in a way that has no such meaning.
    """
    found = tokens(sql)
    words = [one.word.strip('"`[]') for one in found]
    if not {"facts", "where"} & set(words) or _has_own(words):
        return sql
    edits: list[tuple[int, int, str]] = []
    for n, one in enumerate(found):
        if words[n] != "tag" or _word(found, n + 1) in ("(", ".") or _word(found, n - 1) == "as":
            continue
        first, last = (n - 2 if _word(found, n - 1) == "." else n), n
        tags = "tags" if first == n else f"{found[first].text}.tags"
        while _word(found, first - 1) == "(" and _word(found, last + 1) == ")" and not _is_call(found, first):
            first, last = first - 1, last + 1
        asked = _behind(found, first, last) or _before(found, first, last)
        if asked is None:
            if not _is_shown(found, first, last):
                raise _refusal(sql, one.start)
            continue
        told = f"EXISTS (SELECT 1 FROM {TABLE} WHERE list_of_tags = {tags} AND one_tag {asked.one})"
        text = f"(NOT {told})" if asked.negated else told
        edits.append((found[asked.first].start, found[asked.last].end, text))
    for start, end, text in sorted(edits, reverse=True):
        sql = sql[:start] + text + sql[end:]
    return sql


def _has_own(words: Sequence[str]) -> bool:
    """Whether a query inside the query names a column so."""
    depth = 0
    for n, word in enumerate(words):
        depth += (word == "(") - (word == ")")
        if depth and word == "tag" and words[n - 1] == "as":
            return True
    return False


def _behind(found: Sequence[Token], first: int, last: int) -> _Asked | None:
    """`tag = 'x'` and the like, `tag IN (...)`, `tag LIKE 'x%'`."""
    at = last + 1
    sign = _word(found, at)
    negated = sign in ("not", "!=", "<>") or (sign == "is" and _word(found, at + 1) == "not")
    at += (sign == "not") + (sign == "is" and negated)
    sign = _word(found, at)
    end: int | None = at + 1
    if sign == "in":
        end = _closing(found, at + 1)
    elif sign in ("like", "glob"):
        pass
    elif sign in _SIGNS or (sign == "not" and _word(found, at - 1) == "is"):
        sign = "="
    else:
        return None
    if end is None or not (sign == "in" or _is_text(found, end)) or not _is_whole(found, first, end):
        return None
    return _Asked(first, end, f"{sign} {' '.join(one.text for one in found[at + 1 : end + 1])}", negated)


def _before(found: Sequence[Token], first: int, last: int) -> _Asked | None:
    """`'x' = tag` and the like."""
    at = first - 1
    negated = _word(found, at) in ("!=", "<>", "not")
    at -= _word(found, at) == "not" and _word(found, at - 1) == "is"
    if _word(found, at) not in _SIGNS or not _is_text(found, at - 1) or not _is_whole(found, at - 1, last):
        return None
    return _Asked(at - 1, last, f"= {found[at - 1].text}", negated)


def _is_whole(found: Sequence[Token], first: int, last: int) -> bool:
    """Whether the comparison is no part of a longer one, as in `tag = 'a' || 'b'`."""
    return not {_word(found, first - 1), _word(found, last + 1)} & _JOINING


def _is_shown(found: Sequence[Token], first: int, last: int) -> bool:
    """Whether it is no comparison: a column that is shown or sorted by, or asked whether it is there."""
    after = [_word(found, last + n) for n in (1, 2, 3)]
    if after[0] in ("isnull", "notnull") or after[:2] in (["is", "null"], ["not", "null"]):
        return True
    if after == ["is", "not", "null"]:
        return True
    before = _word(found, first - 1)
    if before == "(" or (before == "distinct" and _word(found, first - 2) == "("):
        return _word(found, first - (2 if before == "(" else 3)) in _COUNTING and after[0] == ")"
    return before in _SHOWING and after[0] not in _JOINING | {"not"}


def _refusal(sql: str, at: int) -> QueryError:
    text = (
        "'tag' is each of a fact's tags, compared with texts by =, !=, IS, IN, LIKE or GLOB; for anything "
        "else there is 'tags', which has all of them with commas"
    )
    return QueryError(f"{place(sql, at)}: {text}", at, pointed(sql, at))


def _is_call(found: Sequence[Token], first: int) -> bool:
    """Whether the parenthesis in front of `first` is a function's, or a list's."""
    name = _word(found, first - 2)
    return name.isidentifier() and name not in ("where", "and", "or", "not", "on", "having", "when", "then")


def _is_text(found: Sequence[Token], n: int) -> bool:
    return _word(found, n).startswith("'")


def _word(found: Sequence[Token], n: int) -> str:
    return found[n].word if 0 <= n < len(found) else ""


def _closing(found: Sequence[Token], opening: int) -> int | None:
    depth = 0
    for n in range(opening, len(found)):
        depth += (found[n].text == "(") - (found[n].text == ")")
        if depth == 0:
            return n if n > opening else None
    return None
