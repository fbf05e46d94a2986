"""The right side of an edit: its operator and its value (see `reading`)."""

from __future__ import annotations

import re
from pathlib import Path as File
from typing import Any, cast

from lctl.patch.edits import Before, Operator, Path, Root
from lctl.patch.lexing import Cursor, read_json

_OPERATORS = ("+=", "-=", "~=", "!=", "=")
_ERROR = re.compile(r"\s*(\d{3}\b|[A-Za-z_][\w.]*)\s*:?\s*(.*)", re.DOTALL)
_BLANK = re.compile(r"\s")
_TEXTS = ("content", "role", "description", "name")


def read_operator(cursor: Cursor) -> Operator:
    for operator in _OPERATORS:
        if cursor.take(operator):
            return cast("Operator", operator)
    what = "=, +=, -=, ~= or != is expected here" if cursor.rest else "= and a value are expected here"
    raise cursor.error(what)


def read_value(cursor: Cursor, root: Root, path: Path, operator: Operator) -> Any:
    begin = cursor.at
    if operator == "!=":
        return _error_text(cursor, root, path)
    if operator == "~=":
        return _replacement(cursor)
    is_text = _is_text(root, path)
    value = _plain_value(cursor, is_text)
    if root == "model" and value == cursor.rest and (blank := _BLANK.search(value)) is not None:
        # Most likely several edits in one; what a name with blanks is, is said by its quotes.
        cursor.fail(
            "a model's name has no blanks; a further edit is given apart (--set ... --set ...), "
            'and a name that has some is quoted: model="my model"',
            begin + blank.start(),
        )
    if isinstance(value, int | float) and is_text:
        value = cursor.text[begin:].strip()  # model=4 is a name that looks like a number
    if any(isinstance(segment, Before) for segment in path) and operator != "=":
        cursor.fail("[+] puts something in: it is followed by =", begin - len(operator))
    return value


def _is_text(root: Root, path: Path) -> bool:
    return root in ("model", "prompt") or (root in ("message", "tools") and path[-1] in _TEXTS)


def _plain_value(cursor: Cursor, is_text: bool) -> Any:
    text = cursor.rest
    if text.startswith("@@"):
        return text[1:]
    if text.startswith("@"):
        return _file(cursor, text[1:])
    try:
        return read_json(text)
    except ValueError as error:
        if text[:1] in ("{", "[") and not is_text:
            at = cursor.at + getattr(error, "pos", 0)
            message = getattr(error, "msg", str(error))
            cursor.fail(f"this begins as JSON and is none ({message.lower()}); such a text is quoted", at)
        return text


def _file(cursor: Cursor, name: str) -> Any:
    """A .json file's value; any other file's text, without the line feed at its end."""
    try:
        text = File(name).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        what = getattr(error, "strerror", None) or "not a file of text"
        cursor.fail(f"{name}: {what.lower()} (a text that begins with @ is written @@)")
    if not name.endswith(".json"):
        return text.removesuffix("\n")
    try:
        return read_json(text)
    except ValueError as error:
        cursor.fail(f"{name}: not JSON ({error})")


def _error_text(cursor: Cursor, root: Root, path: Path) -> str:
    whole = (root == "answer" and not path) or (root == "tool" and path[1:] == ("output",))
    if not whole:
        cursor.fail("what fails is a tool (tool:NAME!=...) or a model's answer (answer!=...)", cursor.at - 2)
    found = _ERROR.fullmatch(cursor.rest)
    if found is None:
        cursor.fail("an exception (TimeoutError: gone) or a status (429) is expected here")
    if found[1].isdigit() and (root != "answer" or not 400 <= int(found[1]) <= 599):
        cursor.fail("a status from 400 to 599 can be an answer; a tool fails with an exception")
    return f"{found[1]}: {found[2]}" if found[2] else found[1]


def _replacement(cursor: Cursor) -> list[str]:
    """`/pattern/replacement/flags`; any other character may stand for the slash."""
    begin = cursor.at
    delimiter = cursor.rest[:1]
    if not delimiter or delimiter.isalnum() or delimiter.isspace() or delimiter == "\\":
        cursor.fail("/pattern/replacement/ is expected here")
    parts = _split(cursor.rest[1:], delimiter)
    if len(parts) != 3:
        cursor.fail(f"/pattern/replacement/ is expected here, with {delimiter} three times")
    pattern, replacement, flags = parts
    if set(flags) - set("is"):
        at = len(cursor.text) - len(flags)
        cursor.fail("flags are i (upper and lower case alike) and s (. is also a line's end)", at)
    try:
        re.sub(pattern, replacement, "")
    except (re.error, IndexError) as error:
        cursor.fail(f"not a regular expression ({error})", begin + 1)
    return [pattern, replacement, flags]


def _split(text: str, delimiter: str) -> list[str]:
    """At each delimiter without a backslash before it; that backslash goes, others stay."""
    parts, at = [""], 0
    while at < len(text):
        pair = text[at : at + 2]
        if pair[0] == "\\" and len(pair) == 2:
            parts[-1] += delimiter if pair[1] == delimiter else pair
            at += 2
        elif pair[0] == delimiter:
            parts.append("")
            at += 1
        else:
            parts[-1] += pair[0]
            at += 1
    return parts
