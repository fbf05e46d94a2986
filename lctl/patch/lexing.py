"""The smallest parts of the patch language: names, numbers, JSON values, and where in the text they are."""

from __future__ import annotations

import json
import re
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any, NoReturn

from lctl.errors import UsageError

NAME = re.compile(r"[^\W\d](?:[\w-]*\w)?")  # no dash at its end: `a-=1` takes from a
NUMBER = re.compile(r"-?\d{1,9}")


class PatchError(UsageError):
    """An edit that cannot be read. `at` is where in `text`, counted from 0."""

    def __init__(self, what: str, text: str, at: int) -> None:
        line, column = _line(text, at)
        self.detail = (line, " " * column + "^")
        super().__init__(f"edit: {what}")
        self.what = what
        self.text = text
        self.at = at

    def __str__(self) -> str:
        return "\n".join((f"edit: {self.what}", *self.detail))


def _line(text: str, at: int) -> tuple[str, int]:
    """The line of `text` the place is in, cut to its surroundings, and the place in it."""
    start = text.rfind("\n", 0, at) + 1
    stop = text.find("\n", at)
    line, column = text[start : stop if stop >= 0 else None], at - start
    if column > 60:
        line, column = "…" + line[column - 50 :], 51
    return (line if len(line) <= 100 else line[:99] + "…"), column


class Cursor:
    """A place in the text of an edit."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    @property
    def rest(self) -> str:
        return self.text[self.at :]

    def fail(self, what: str, at: int | None = None) -> NoReturn:
        raise self.error(what, at)

    def error(self, what: str, at: int | None = None) -> PatchError:
        return PatchError(what, self.text, self.at if at is None else at)

    def skip_blanks(self) -> None:
        while self.text[self.at : self.at + 1].isspace():
            self.at += 1

    def take(self, literal: str) -> bool:
        """Whether the text goes on with `literal`; then past it."""
        if self.text.startswith(literal, self.at):
            self.at += len(literal)
            return True
        return False

    def take_match(self, pattern: re.Pattern[str]) -> str | None:
        found = pattern.match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        return found[0]

    def name(self, what: str) -> str:
        """A bare name, or one in JSON quotes."""
        if self.text.startswith('"', self.at):
            return self.quoted()
        name = self.take_match(NAME)
        if name is None:
            self.fail(f"{what} is expected here")
        return name

    def quoted(self) -> str:
        begin = self.at
        try:
            text, self.at = scanstring(self.text, begin + 1)
        except json.JSONDecodeError as error:
            self.fail(f"this quoted name is not closed ({error.msg.lower()})", begin)
        return str(text)


def is_json(text: str) -> bool:
    try:
        read_json(text)
    except ValueError:
        return False
    return True


def read_json(text: str) -> Any:
    """The JSON value that the whole text is. Raises ValueError, also for NaN and Infinity."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deep") from None


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
