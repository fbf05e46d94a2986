"""Secrets out of what is recorded, before it is written.

Values are replaced by `[redacted:<kind>:<4 hex digits>]`; the digits are a keyed hash, so the same
secret looks the same through one run and tells nothing about itself. Structure, types and everything
else stay. Known are the formats of real keys, the names secrets go by (in objects, in header lists, in
JSON inside strings, as `name=value` in text), and the values of environment variables that are secrets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import orjson

from lctl.errors import UsageError
from lctl.session.redaction.assignments import normal
from lctl.session.redaction.cells import is_secret_cell
from lctl.session.redaction.pieces import Piece, bytes_of, delimited, fitted, pieces_of
from lctl.session.redaction.placeholders import Placeholders
from lctl.session.redaction.prose import Prose, is_user_and_password
from lctl.session.redaction.rows import are_reads, columns_above, columns_beside
from lctl.session.redaction.suspicion import suspicion

#: Under which an object has the secret that it stands for.
_HOLDERS = frozenset(("value", "data", "plaintext", "raw"))


def _compiled(pattern: str | re.Pattern[str]) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise UsageError(f"extra_patterns: {pattern!r} is no regular expression: {error}") from None


class Redactor:
    """Finds and replaces secrets; immutable but for the environment it knows.

    `suspicion(line, lowered)` says cheaply whether a line may hold one; `stirs` and `learned` do for a text
    that grows, `is_familiar` and `note` remember lines that hold none (see `Suspicion`).

    Args:
        extra_patterns: further regular expressions; a group named `secret` limits what is replaced.
            With any, every line is taken apart: recording becomes slower.
        extra_keys: further names whose values are secrets, in any spelling ("X-My-Token").
        allow: names and values that are never redacted.
        key: of the hash in the placeholders; by default new in every run.

    Raises:
        UsageError: a pattern is no regular expression, or text was given for a list.
    """

    def __init__(
        self,
        *,
        extra_patterns: Iterable[str | re.Pattern[str]] = (),
        extra_keys: Iterable[str] = (),
        allow: Iterable[str] = (),
        key: bytes | None = None,
    ) -> None:
        for name, given in {
            "extra_patterns": extra_patterns,
            "extra_keys": extra_keys,
            "allow": allow,
        }.items():
            if isinstance(given, str):  # its letters would be taken for what it lists
                raise UsageError(f"{name}={given!r}: it is a list, such as [{given!r}]")
        patterns = tuple(_compiled(pattern) for pattern in extra_patterns)
        self._placeholders = Placeholders(extra_keys, allow, key)
        self._prose = Prose(self._placeholders, patterns)
        looks = suspicion(tuple(self._placeholders.names), bool(patterns), self._learn_environment)
        self.suspicion, self.stirs, self.learned, self.is_familiar, self.note = looks

    def event(self, event: dict[str, Any]) -> dict[str, Any] | None:
        """The decoded event without secrets, or None if it had none."""
        made = {**event, "agent": self.text(event["agent"]), "data": self.value(event["data"])}
        return None if made == event else made

    def value(self, value: Any, name: str | None = None) -> Any:
        """A plain JSON value without secrets; `name` is the key it stands under."""
        if isinstance(value, str):
            if name is not None and self._placeholders.has_name(name):
                return self._placeholders.named(value, name)
            if name in ("auth", "_auth") and is_user_and_password(value, is_text=True):
                return self._placeholders.of(value, "auth")
            return self.text(value)
        if isinstance(value, dict):
            if name is not None and self._placeholders.has_name(name):
                if "$bytes" in value:
                    return self._whole_bytes(value, name)
                value = self._within(value, name)
            return self._object(value)
        if isinstance(value, list):
            return self._list(value, name)
        if (
            name is not None
            and type(value) is int
            and self._placeholders.has_name(name)
            and "pass" in name.lower()
        ):
            return 0
        return value

    def body(self, body: bytes) -> bytes:
        """Bytes that will be written in base64, without the secrets that are in them as text."""
        pieces = pieces_of(body)
        if all(isinstance(piece, str) for piece in pieces):
            return body  # as text, it is looked at when the event is written
        line = orjson.dumps(pieces)
        if not self.suspicion(line, line.lower().decode("latin-1")):
            return body
        clean = [self.value(piece) for piece in pieces]
        return body if clean == pieces else bytes_of(clean)

    def message(self, body: bytes) -> bytes:
        """As `body`, text or not; where it is no JSON, as long as it was: what holds a secret may say how
        long that is."""
        pieces = pieces_of(body)
        line = orjson.dumps(pieces)
        if not self.suspicion(line, line.lower().decode("latin-1")):
            return body
        if body[:1] in (b"{", b"[") and len(pieces) == 1:
            return bytes_of([self.value(pieces[0])])
        return b"".join(self._of_message(piece) for piece in pieces)

    def _of_message(self, piece: Piece) -> bytes:
        whole = bytes_of([piece])
        clean = fitted(bytes_of([self.value(piece)]), whole)
        if clean is whole and isinstance(piece, str):
            for begin, end in delimited(whole):
                one = whole[begin:end]
                made = self.text(one.decode()).encode()
                clean = clean if made == one else clean[:begin] + fitted(made, one) + clean[end:]
        return clean

    def text(self, text: str) -> str:
        """A string without secrets."""
        if len(text) < 6:
            return text
        if text[0] in "{[" and (inner := _parsed(text)) is not None:
            cleaned = self.value(inner)
            return text if cleaned == inner else orjson.dumps(cleaned).decode()
        if text.startswith(("data:", "event:")):
            return "".join(self._line(line) for line in text.splitlines(keepends=True))
        return self._prose.without_secrets(text)

    def written(self, text: str) -> str:
        """A long text as it will be in the log."""
        line = orjson.dumps(text)
        return self.text(text) if self.suspicion(line, line.lower().decode("latin-1")) else text

    def _line(self, line: str) -> str:
        """One line of a stream of events. As JSON: its closing quote opens no value."""
        if line.startswith("data:") and (inner := _parsed(line[5:])) is not None:
            cleaned = self.value(inner)
            if cleaned == inner:
                return line
            return f"data: {orjson.dumps(cleaned).decode()}{line[len(line.rstrip(chr(10) + chr(13))) :]}"
        return self._prose.without_secrets(line)

    # -- structures ------------------------------------------------------------------------

    def _object(self, value: dict[str, Any]) -> dict[str, Any]:
        named = value.get("name", value.get("key"))
        if (
            isinstance(named, str)
            and isinstance(value.get("value"), str)
            and self._placeholders.has_name(named)
        ):
            value = {**value, "value": self._placeholders.named(value["value"], named)}
        if found := columns_beside(value, self._placeholders.has_name):
            rows, columns = found
            value = {**value, rows: self._rows(value[rows], columns)}
        if are_reads(value):
            rest = {name: item for name, item in value.items() if name != "reads"}
            told = [[self.text(cell) for cell in row] for row in value["reads"]]
            return {**self._object(rest), "reads": told}
        sampled = "logprob" in value  # there a "token" is a piece of text
        return {
            self.text(name): item if sampled and name == "token" else self.value(item, name)
            for name, item in value.items()
        }

    def _within(self, value: dict[str, Any], name: str) -> dict[str, Any]:
        """An object that stands for a secret, which is in it. (A token may be one of a grammar.)"""
        if normal(name).endswith("token"):
            return value
        return {
            key: self._placeholders.named(item, name)
            if (key.lower() in _HOLDERS or key.isdigit()) and isinstance(item, str)
            else item
            for key, item in value.items()
        }

    def _list(self, value: list[Any], name: str | None) -> list[Any]:
        if len(value) == 2 and (said := _text_of(value[0])) and self._placeholders.has_name(said):
            if isinstance(value[1], str):
                return [value[0], self._placeholders.named(value[1], said)]  # one header of a list of headers
            if isinstance(value[1], dict) and "$bytes" in value[1]:
                return [value[0], self._whole_bytes(value[1], said)]
        if columns := columns_above(value, self._placeholders.has_name):
            value = [value[0], *self._rows(value[1:], columns)]
        made = [self.value(item, name if isinstance(item, str | dict) else None) for item in value]
        for n, (option, given) in enumerate(pairwise(value), 1):  # of a command line
            if isinstance(option, str) and isinstance(given, str) and self._is_secret_option(option, given):
                made[n] = self._placeholders.named(given, option.lstrip("-"))
        return made

    def _rows(self, rows: list[Any], columns: dict[int, str]) -> list[Any]:
        """Rows of a table without what is in the columns of secrets."""
        return [
            [
                self.value(cell, columns[n]) if n in columns and self._is_told(cell, columns[n]) else cell
                for n, cell in enumerate(row)
            ]
            if isinstance(row, list)
            else row
            for row in rows
        ]

    @staticmethod
    def _is_told(cell: Any, name: str) -> bool:
        """Whether a cell is a secret: a table may be of a grammar's tokens, too."""
        return not isinstance(cell, str) or " " in cell or is_secret_cell(cell, name)

    def _is_secret_option(self, option: str, given: str) -> bool:
        return (
            option[:1] == "-"
            and given[:1] != "-"
            and "=" not in option
            and self._placeholders.has_name(option)
        )

    def _whole_bytes(self, value: dict[str, Any], name: str) -> dict[str, Any]:
        """Bytes that are a secret by their name (see `jsonable`), text or not."""
        text = _text_of(value)
        return {
            **value,
            "$bytes": [self._placeholders.named(str(value["$bytes"]) if text is None else text, name)],
        }

    def _learn_environment(self) -> Iterable[str]:
        """Take the secrets of the environment; as they would be found in a lower-case line."""
        from lctl.session.redaction import environment

        written, values = environment.secrets(self._placeholders.allowed)
        self._prose.learn(written, values)
        return environment.lowered(written)


def _text_of(value: Any) -> str | None:
    """A text, or bytes that are one."""
    if isinstance(value, dict) and isinstance(pieces := value.get("$bytes"), list):
        value = pieces[0] if len(pieces) == 1 else None
    return value if isinstance(value, str) else None


def _parsed(text: str) -> Any:
    try:
        return orjson.loads(text)
    except ValueError:
        return None
