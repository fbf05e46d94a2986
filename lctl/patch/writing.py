"""Edits as text: the line `reading` makes the same edit of."""

from __future__ import annotations

import json
from typing import Any

from lctl.patch.edits import Before, Edit, Path, Scope, Segment
from lctl.patch.lexing import NAME, is_json

# One of them is not in the text, whatever the text.
_DELIMITERS = "/|#,;:%!=" + "".join(map(chr, range(0x2500, 0x2580)))


def print_edit(edit: Edit) -> str:
    """The edit in one line (more where its text has more)."""
    words = [*_scope(edit.scope)]
    target = _target(edit)
    if edit.operator == "del":
        words += ["del", target]
    else:
        words.append(target + edit.operator + _value(edit))
    return " ".join(words)


def print_path(path: Path) -> str:
    """`.name[0]["odd name"]`, without the point it would begin with."""
    return "".join(map(_segment, path)).removeprefix(".")


def _scope(scope: Scope) -> list[str]:
    words = []
    if scope.everywhere:
        words.append("all")
    if scope.at is not None:
        words.append(f"@{scope.at}")
    if scope.start is not None:
        words += ["from", str(scope.start)]
    if scope.agent is not None:
        words.append("agent=" + (scope.agent if NAME.fullmatch(scope.agent) else json.dumps(scope.agent)))
    return words


def _target(edit: Edit) -> str:
    if edit.root == "message" and isinstance(edit.path[0], str) and NAME.fullmatch(edit.path[0]):
        return f"message[{edit.path[0]}]" + "".join(map(_segment, edit.path[1:]))
    if edit.root != "tool":
        return edit.root + "".join(map(_segment, edit.path))
    name = str(edit.path[0])
    return (
        "tool:" + (name if NAME.fullmatch(name) else json.dumps(name)) + "".join(map(_segment, edit.path[1:]))
    )


def _segment(segment: Segment) -> str:
    if isinstance(segment, Before):
        return "[+]" if segment.at is None else f"[+{segment.at}]"
    if isinstance(segment, int):
        return f"[{segment}]"
    return f".{segment}" if NAME.fullmatch(segment) else f"[{json.dumps(segment)}]"


def _value(edit: Edit) -> str:
    value = edit.value
    if edit.operator == "!=":
        return str(value)
    if edit.operator == "~=":
        pattern, replacement, flags = value
        free = next(one for one in _DELIMITERS if one not in pattern + replacement)
        return f"{free}{pattern}{free}{replacement}{free}{flags}"
    return _quoted(value) if edit.root == "model" else print_value(value)


def print_setting(target: str, value: Any) -> str:
    """The edit that sets a target, which is text already."""
    is_model = target.split()[-1:] == ["model"]
    return f"{target}={_quoted(value) if is_model else print_value(value)}"


def _quoted(value: Any) -> str:
    """A model's name, which has blanks only in quotes."""
    if isinstance(value, str) and any(map(str.isspace, value)):
        return json.dumps(value, ensure_ascii=False)
    return print_value(value)


def print_value(value: Any) -> str:
    """JSON, or the bare text where it reads as nothing else."""
    if isinstance(value, str) and value[:1] not in ("{", "[") and not is_json(value):
        return "@" + value if value.startswith("@") else value
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))
