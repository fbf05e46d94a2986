"""Google's function calls whose arguments come in pieces (`streamFunctionCallArguments` of Vertex).

A piece says where in the arguments a value stands, `$.city` or `$.stops[0].name`, and whether more of it
follows; the call itself says whether more of it does.
"""

from __future__ import annotations

import re
from typing import Any

_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\[\"((?:[^\"\\]|\\.)*)\"\]")
_VALUES = ("stringValue", "numberValue", "boolValue", "nullValue")
#: A list is not made longer than this for a place that a piece names.
_PLACES = 10_000


def whole_calls(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The parts, where the pieces of one call are one part."""
    if not any(_is_piece(part) for part in parts):
        return parts
    joined: list[dict[str, Any]] = []
    under_way = False
    for part in parts:
        call = part.get("functionCall")
        if not isinstance(call, dict):
            joined.append(part)
            continue
        if not under_way or call.get("name"):
            rest = {key: value for key, value in call.items() if key not in ("partialArgs", "willContinue")}
            joined.append({**part, "functionCall": {**rest, "args": dict(call.get("args") or {})}})
        known = next(one for one in reversed(joined) if "functionCall" in one)
        known.update({key: value for key, value in part.items() if key != "functionCall"})
        for piece in call.get("partialArgs") or ():
            if isinstance(piece, dict):
                _set(known["functionCall"]["args"], piece)
        under_way = bool(call.get("willContinue"))
    return joined


def _is_piece(part: dict[str, Any]) -> bool:
    call = part.get("functionCall")
    return isinstance(call, dict) and ("partialArgs" in call or "willContinue" in call)


def _set(args: dict[str, Any], piece: dict[str, Any]) -> None:
    found = next((key for key in _VALUES if key in piece), None)
    steps = _steps(str(piece.get("jsonPath") or ""))
    if found is None or not steps:
        return
    value = None if found == "nullValue" else piece[found]
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    at: Any = args
    for step, below in zip(steps, [*steps[1:], None], strict=True):
        if not _has_room(at, step):
            return
        if below is not None:
            if not isinstance(at[step], dict | list):
                at[step] = [] if isinstance(below, int) else {}
            at = at[step]
        elif isinstance(value, str) and isinstance(at[step], str):
            at[step] += value
        else:
            at[step] = value


def _steps(path: str) -> list[str | int]:
    found = _STEP.finditer(path.removeprefix("$"))
    return [int(one[2]) if one[2] is not None else one[1] or one[3] or one[4] or "" for one in found]


def _has_room(at: Any, step: str | int) -> bool:
    """Whether a value can stand there, for which there is a place then."""
    if isinstance(at, dict) and isinstance(step, str):
        at.setdefault(step, None)
        return True
    if not isinstance(at, list) or not isinstance(step, int) or step >= _PLACES:
        return False
    at += [None] * (step + 1 - len(at))
    return True
