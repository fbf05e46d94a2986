"""Edits at a path of a request, and of texts that may stand there as a list of parts."""

from __future__ import annotations

from typing import Any

from lctl.patch import Edit, Unaddressed, change, print_path
from lctl.patch.changing import join_texts
from lctl.patch.edits import Operator, Path


def change_in(document: dict[str, Any], path: Path, edit: Edit) -> dict[str, Any]:
    return change(document, path, edit.operator, edit.value)  # type: ignore[no-any-return]


def change_text(document: dict[str, Any], path: Path, edit: Edit, *, typed: bool = True) -> dict[str, Any]:
    """As `change_in`, of a text that may also be written as a list of parts.

    Args:
        typed: a part says of what type it is.
    """
    value: Any = document
    for segment in path:
        try:
            value = value[segment]
        except (KeyError, IndexError, TypeError):
            value = None
    if not isinstance(value, list) or edit.operator in ("=", "del") or not isinstance(edit.value, str | list):
        return change_in(document, path, edit)
    parts = _parts(value, edit.operator, edit.value, path, typed)
    return change(document, path, "=", parts)  # type: ignore[no-any-return]


def _parts(parts: list[Any], operator: Operator, operand: Any, path: Path, typed: bool) -> list[Any]:
    """`+=` is one more part of the kind there is, so that what was cached before it stays so; others work
    on each text."""
    if operator == "+=":
        if isinstance(operand, list):
            return [*parts, *operand]
        last: dict[str, Any] = next((p for p in reversed(parts) if isinstance(p, dict) and "text" in p), {})
        before = str(last.get("text", ""))
        kind = {"type": last.get("type", "text")} if typed else {}
        return [*parts, {**kind, "text": join_texts(before, operand)[len(before) :]}]
    changed, done = list(parts), 0
    for n, part in enumerate(parts):
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            try:
                changed[n] = change(part, ("text",), operator, operand)
                done += 1
            except Unaddressed:
                continue
    if not done:
        raise Unaddressed(f"{print_path(path)} has no part with such a text")
    return changed
