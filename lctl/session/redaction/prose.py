"""Secrets out of a text that is no JSON: by how they look, and by the names that stand beside them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from lctl.session.redaction import inserts, markup, tables
from lctl.session.redaction.assignments import assigned_secrets
from lctl.session.redaction.cells import Cell
from lctl.session.redaction.placeholders import Placeholders


class Prose:
    """What is found in texts, and put out of them."""

    def __init__(self, placeholders: Placeholders, patterns: Sequence[re.Pattern[str]]) -> None:
        """
        Args:
            patterns: further ones; a group named `secret` limits what is replaced.
        """
        self._placeholders = placeholders
        self._patterns = patterns
        # One pair: another thread must not have the old values with the new forms.
        self._environment: tuple[re.Pattern[str], Mapping[str, str]] | None = None

    def learn(self, written: Mapping[str, str], values: re.Pattern[str] | None) -> None:
        """Values of the environment that are secrets, by how a text may have them, and what finds those."""
        self._environment = None if values is None else (values, written)

    def without_secrets(self, text: str) -> str:
        """The text with a placeholder for each secret in it."""
        forms = self._placeholders.forms
        lowered = forms.folded(text)
        is_named = forms.may_name(lowered)
        for kind, pattern in forms.formats_in(text, lowered):
            text = pattern.sub(lambda match, kind=kind: self._matched(match, kind), text)  # type: ignore[misc]
        for pattern in self._patterns:
            text = pattern.sub(lambda match: self._matched(match, "custom"), text)
        if self._environment is not None:
            values, written = self._environment
            text = values.sub(lambda match: self._placeholders.of(written[match[0]], "environment"), text)
        if "form-data" in text:
            text = forms.form_field.sub(self._named, text)
        if not is_named:
            return text
        if "</" in text:
            text = forms.element.sub(self._element, text)
        if "value=" in text:
            text = forms.attributes.sub(self._attribute, text)
        if "|" in text:
            text = forms.row.sub(self._row, text)
        if "22%" in text or "22:" in text:
            text = forms.encoded.sub(self._named, text)
        if "cookie" in lowered:
            text = forms.cookies.sub(self._header_of_cookies, text)
        return self._assignments(self._tables(text, lowered))

    def _matched(self, match: re.Match[str], kind: str) -> str:
        whole = match[0]
        secret = match["secret"] if "secret" in match.re.groupindex else whole
        if (
            not secret
            or self._placeholders.forms.placeholder.search(secret)
            or (kind in ("basic", "auth") and not is_user_and_password(secret, is_text=kind == "auth"))
        ):
            return whole
        start = match.start("secret") - match.start() if secret is not whole else 0
        return whole[:start] + self._placeholders.of(secret, kind) + whole[start + len(secret) :]

    def _element(self, match: re.Match[str]) -> str:
        name, secret = match["name"], match["secret"]
        is_word = secret.isalpha() and "pass" not in name.lower()  # of a prompt: `<token>hello</token>`
        return match[0] if is_word else self._named(match)

    def _attribute(self, match: re.Match[str]) -> str:
        return match[0] if match["secret"].isalpha() else self._named(match)

    def _row(self, match: re.Match[str]) -> str:
        """A word there says what the other cell is, or is the heading of a column."""
        secret = match["secret"]
        has_both = any(map(str.isalpha, secret)) and not all(
            char.isalpha() or char in "-_./:,()" for char in secret
        )
        return self._named(match) if has_both else match[0]

    def _named(self, match: re.Match[str]) -> str:
        """What was found, its group `secret` redacted if its group `name` says that it is one."""
        name, secret = match["name"], match["secret"]
        if not self._placeholders.has_name(name):
            return match[0]
        start, end = match.start("secret") - match.start(), match.end("secret") - match.start()
        return match[0][:start] + self._placeholders.named(secret, name) + match[0][end:]

    def _header_of_cookies(self, found: re.Match[str]) -> str:
        before = found[0][: found.start("cookies") - found.start()]
        return before + self._placeholders.cookies(found["cookies"], is_set=bool(found["set"]))

    def _tables(self, text: str, lowered: str) -> str:
        """Without the secrets of columns. Few texts that say a name have lines below it, or are such."""
        is_name = self._placeholders.has_name
        if "insert" in lowered or "stdin" in lowered:
            text = self._cells(text, inserts.secret_cells(text, lowered, is_name))
            text = self._cells(text, inserts.dumped_cells(text, lowered, is_name))
        if "<t" in lowered and ("<th" in lowered or "<td" in lowered):
            text = self._cells(text, markup.secret_cells(text, is_name))
        return text

    def _cells(self, text: str, found: Iterable[Cell]) -> str:
        return _replaced(text, found, self._placeholders.named)

    def _assignments(self, text: str) -> str:
        placeholders = self._placeholders
        names: Iterable[re.Match[str]] = placeholders.forms.names(text)
        if "\n" in text or "\\n" in text:
            names = list(names)
            below = tables.secret_cells(text, [name.start() for name in names], placeholders.has_name)
            without = self._cells(text, below)
            if without is not text:
                text, names = without, placeholders.forms.names(without)
        found = assigned_secrets(text, names, placeholders.forms, placeholders.has_name, placeholders.allowed)
        return _replaced(text, found, placeholders.of)


def _replaced(text: str, found: Iterable[Cell], placed: Callable[[str, str], str]) -> str:
    """The text with what `placed(secret, kind)` gives for each secret; itself if there is none."""
    pieces: list[str] = []
    done = 0
    for start, end, kind in found:
        pieces += text[done:start], placed(text[start:end], kind)
        done = end
    return "".join(pieces) + text[done:] if pieces else text


def is_user_and_password(encoded: str, *, is_text: bool = False) -> bool:
    """Whether base64 says `user:password`; with `is_text` one that can be read."""
    from base64 import b64decode

    try:
        decoded = b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
        return b":" in decoded and (not is_text or decoded.decode().isprintable())
    except ValueError:  # no base64, letters beyond ASCII, no text
        return False
