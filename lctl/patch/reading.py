"""Text to edits.

edit    = { scope } ( "del" target | target operator value )
scope   = "@" N | "from" N | "agent=" name | "all"
target  = "model" | "prompt.system" | "message" "[" which "]" path | "tools" path | "params" path
        | "body" path | "tool:" name [ ".input" path | [ ".output" ] path ] | "answer" path
        | "data" path | "event." ( "agent" | "type" | "step" )
path    = { "." name | "[" index | "+" [ index ] | quoted "]" }
operator = "=" | "+=" | "-=" | "~=" | "!="
value   = JSON | "@" file | "@@" text | text
"""

from __future__ import annotations

import re
from typing import Any, cast, get_args

from lctl.patch.edits import Before, Edit, Path, Root, Scope, Segment
from lctl.patch.lexing import NAME, NUMBER, Cursor, PatchError
from lctl.patch.operands import read_operator, read_value

_ROOTS = get_args(Root)
_WORD = re.compile(r"[a-z_]+")
_SEQ = re.compile(r"\d{1,15}")
#: Names people try, and where the thing is.
_ELSEWHERE = {
    "system": "prompt.system",
    "temperature": "params.temperature",
    "max_tokens": "params.max_tokens",
    "content": "message[-1].content, or answer.content",
    "http": "answer",
    "result": "tool:NAME, or answer",
}
_NOT_PARAMS = {
    "model": "model",
    "messages": "message[N]",
    "input": "message[N]",
    "tools": "tools.NAME",
    "system": "prompt.system",
    "instructions": "prompt.system",
}
_EVENT_FIELDS = ("agent", "type", "step", "timestamp")


def parse_edit(text: str, *, results: bool = False) -> Edit:
    """The edit that `text` says.

    Args:
        results: `text` says what comes back: `model` and `http` mean the answer, `tool:x` its output.

    Raises:
        PatchError: it says none; with the place.
    """
    cursor = Cursor(text)
    cursor.skip_blanks()
    scope = _scope(cursor)
    begin = cursor.at
    removing = cursor.take("del ")
    cursor.skip_blanks()
    root, path = _target(cursor, results)
    cursor.skip_blanks()
    if removing:
        if cursor.rest:
            cursor.fail("nothing can follow what is removed")
        if root == "tool" or (root == "answer" and not path) or (root in ("data", "event") and not path):
            cursor.fail("this cannot be removed; set it to another value", begin)
        return Edit(root, path, "del", None, scope)
    operator = read_operator(cursor)
    return Edit(root, path, operator, read_value(cursor, root, path, operator), scope)


# -- scopes ------------------------------------------------------------------------------------


def _scope(cursor: Cursor) -> Scope:
    found: dict[str, Any] = {}
    while True:
        begin = cursor.at
        word = _scope_word(cursor)
        if word is None:
            cursor.at = begin
            return Scope(**found)
        key, value = word
        if key in found:
            cursor.fail("this scope is given twice", begin)
        found[key] = value
        cursor.skip_blanks()


def _scope_word(cursor: Cursor) -> tuple[str, Any] | None:
    if cursor.take("@"):
        return "at", _seq(cursor)
    if cursor.take("from "):
        cursor.skip_blanks()
        return "start", _seq(cursor)
    if cursor.take("all "):
        return "everywhere", True
    if cursor.take("agent="):
        name = cursor.name("an agent's name")
        if cursor.rest and not cursor.rest[0].isspace():
            cursor.fail("a blank is expected after the agent's name (quote a name with other characters)")
        return "agent", name
    return None


def _seq(cursor: Cursor) -> int:
    begin = cursor.at
    number = cursor.take_match(_SEQ)
    if number is None or not (cursor.rest[:1].isspace() or not cursor.rest):
        cursor.fail("the number of an event is expected here, then a blank", begin)
    return int(number)


# -- targets -----------------------------------------------------------------------------------


def _target(cursor: Cursor, results: bool) -> tuple[Root, Path]:
    begin = cursor.at
    word = cursor.take_match(_WORD) or ""
    if word == "tool" and cursor.take(":"):
        return "tool", _tool(cursor, results)
    if results and word in ("model", "http"):
        word = "answer"
    if word == "messages":
        word = "message"
    if word not in _ROOTS or word == "tool":
        hint = f"; {word} is {_ELSEWHERE[word]}" if word in _ELSEWHERE else ""
        if not hint and word == "tool":
            hint = "; a tool is tool:NAME"
        cursor.fail(
            f"one of {', '.join(n for n in _ROOTS if n != 'tool')}, tool:NAME is expected here{hint}", begin
        )
    root = cast("Root", word)
    if results and root != "answer":
        cursor.fail("a result is that of 'model', 'http' or 'tool:NAME'", begin)
    path = _message_path(cursor) if root == "message" else _path(cursor)
    _check(cursor, root, path, begin)
    return root, path


def _check(cursor: Cursor, root: Root, path: Path, begin: int) -> None:
    end = cursor.at
    if root == "model" and path:
        cursor.fail("the model is one name; nothing is inside it", begin + len("model"))
    if root == "prompt" and path != ("system",):
        cursor.fail("of the prompt there is prompt.system; messages are message[0], message[-1], ...", begin)
    if root in ("params", "body", "tools", "data", "event") and not path:
        cursor.fail("what of it? a name is expected here", end)
    if root == "params" and path[0] in _NOT_PARAMS:
        cursor.fail(f"that is {_NOT_PARAMS[str(path[0])]}", begin)
    if root in ("params", "body") and path[0] == "stream":
        cursor.fail("whether an answer is streamed is decided by the program that reads it", begin)
    if root == "event" and (len(path) != 1 or path[0] not in _EVENT_FIELDS):
        cursor.fail(f"of an event there are {', '.join(_EVENT_FIELDS)}; the rest is data.NAME", begin)


def _tool(cursor: Cursor, results: bool) -> Path:
    """`NAME`, then `input` or `output` (said or meant), then the path inside."""
    begin = cursor.at
    path = (cursor.name("the tool's name"), *_path(cursor))
    side = path[1] if len(path) > 1 else None
    if side == "input" and not results:
        return path
    if side == "output":
        return path
    if results or side is None:
        return (path[0], "output", *path[1:])
    raise cursor.error("of a tool there are tool:NAME.input and tool:NAME.output", begin + len(str(path[0])))


def _message_path(cursor: Cursor) -> Path:
    if not cursor.text.startswith("[", cursor.at):
        cursor.fail("which message? [0] is the first, [-1] the last, [user] the user's last, [+] one more")
    begin = cursor.at
    cursor.at += 1
    role = cursor.take_match(NAME)
    if role is not None:
        if not cursor.take("]"):
            cursor.fail("']' is expected here")
        return (role, *_path(cursor))
    cursor.at = begin
    path = _path(cursor)
    if isinstance(path[0], Before) and len(path) > 1:
        cursor.fail("a further message is given whole: message[+]={...}", begin)
    return path


def _path(cursor: Cursor) -> Path:
    found: list[Segment] = []
    while True:
        if cursor.take("."):
            found.append(cursor.name("a name"))
        elif cursor.take("["):
            found.append(_index(cursor))
        else:
            return tuple(found)


def _index(cursor: Cursor) -> Segment:
    segment: Segment
    if cursor.text.startswith('"', cursor.at):
        segment = cursor.quoted()
    elif cursor.take("+"):
        at = cursor.take_match(NUMBER)
        segment = Before(None if at is None else int(at))
    else:
        number = cursor.take_match(NUMBER)
        if number is None:
            cursor.fail("a number, + or a quoted name is expected here")
        segment = int(number)
    if not cursor.take("]"):
        cursor.fail("']' is expected here")
    return segment


__all__ = ["PatchError", "parse_edit"]
