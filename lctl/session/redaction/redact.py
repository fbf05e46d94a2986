"""Secrets out of what is recorded, before it is written.

Values are replaced by `[redacted:<kind>:<4 hex digits>]`; the digits are a keyed hash, so the same
secret looks the same through one run and tells nothing about itself. Structure, types and everything
else stay. Known are the formats of real keys, the names secrets go by (in objects, in header lists, in
JSON inside strings, as `name=value` in text), and the values of environment variables that are secrets.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import orjson

from lctl.errors import UsageError
from lctl.session.redaction.assignments import assigned_secrets, normal
from lctl.session.redaction.pieces import bytes_of, pieces_of
from lctl.session.redaction.suspicion import suspicion

if TYPE_CHECKING:
    from lctl.session.redaction.search import Forms

_PLACED = "[redacted:"
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
        self._patterns = tuple(_compiled(pattern) for pattern in extra_patterns)
        self._keys = frozenset(normal(name) for name in extra_keys)
        self._allowed = frozenset(allow)
        self._allowed_names = frozenset(normal(name) for name in self._allowed)
        self._key = key or os.urandom(16)
        self._forms: Forms | None = None
        self._values: re.Pattern[str] | None = None
        self._written: dict[str, str] = {}  # values of the environment, by how a text may have them
        looks = suspicion(tuple(self._keys), bool(self._patterns), self._learn_environment)
        self.suspicion, self.stirs, self.learned, self.is_familiar, self.note = looks

    def event(self, event: dict[str, Any]) -> dict[str, Any] | None:
        """The decoded event without secrets, or None if it had none."""
        made = {**event, "agent": self.text(event["agent"]), "data": self.value(event["data"])}
        return None if made == event else made

    def value(self, value: Any, name: str | None = None) -> Any:
        """A plain JSON value without secrets; `name` is the key it stands under."""
        if isinstance(value, str):
            if name is not None and self._is_secret_name(name):
                return self._whole(value, name)
            if name in ("auth", "_auth") and _is_user_and_password(value, is_text=True):
                return self._placeholder(value, "auth")
            return self.text(value)
        if isinstance(value, dict):
            if name is not None and self._is_secret_name(name):
                if "$bytes" in value:
                    return self._whole_bytes(value, name)
                value = self._within(value, name)
            return self._object(value)
        if isinstance(value, list):
            return self._list(value, name)
        if name is not None and type(value) is int and self._is_secret_name(name) and "pass" in name.lower():
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

    def text(self, text: str) -> str:
        """A string without secrets."""
        if len(text) < 6:
            return text
        if text[0] in "{[" and (inner := _parsed(text)) is not None:
            cleaned = self.value(inner)
            return text if cleaned == inner else orjson.dumps(cleaned).decode()
        if text.startswith(("data:", "event:")):
            return "".join(self._line(line) for line in text.splitlines(keepends=True))
        return self._plain(text)

    def _line(self, line: str) -> str:
        """One line of a stream of events. As JSON: its closing quote opens no value."""
        if line.startswith("data:") and (inner := _parsed(line[5:])) is not None:
            cleaned = self.value(inner)
            if cleaned == inner:
                return line
            return f"data: {orjson.dumps(cleaned).decode()}{line[len(line.rstrip(chr(10) + chr(13))) :]}"
        return self._plain(line)

    def _plain(self, text: str) -> str:
        forms = self._forms or self._compile()
        lowered = forms.folded(text)
        is_named = forms.may_name(lowered)
        for kind, pattern in forms.formats_in(text, lowered):
            text = pattern.sub(lambda match, kind=kind: self._matched(match, kind), text)  # type: ignore[misc]
        for pattern in self._patterns:
            text = pattern.sub(lambda match: self._matched(match, "custom"), text)
        if self._values is not None:
            text = self._values.sub(self._environment_value, text)
        if "form-data" in text:
            text = forms.form_field.sub(self._field_of_form, text)
        if not is_named:
            return text
        if "</" in text:
            text = forms.element.sub(self._element, text)
        if "value=" in text:
            text = forms.attributes.sub(self._attribute, text)
        if "|" in text:
            text = forms.row.sub(self._row, text)
        if "cookie" in lowered:
            text = forms.cookies.sub(self._header_of_cookies, text)
        return self._assignments(text, forms)

    # -- structures ------------------------------------------------------------------------

    def _object(self, value: dict[str, Any]) -> dict[str, Any]:
        named = value.get("name", value.get("key"))
        if isinstance(named, str) and isinstance(value.get("value"), str) and self._is_secret_name(named):
            value = {**value, "value": self._whole(value["value"], named)}
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
            key: self._whole(item, name) if key.lower() in _HOLDERS and isinstance(item, str) else item
            for key, item in value.items()
        }

    def _list(self, value: list[Any], name: str | None) -> list[Any]:
        if len(value) == 2 and (said := _text_of(value[0])) and self._is_secret_name(said):
            if isinstance(value[1], str):
                return [value[0], self._whole(value[1], said)]  # one header of a list of headers
            if isinstance(value[1], dict) and "$bytes" in value[1]:
                return [value[0], self._whole_bytes(value[1], said)]
        made = [self.value(item, name if isinstance(item, str | dict) else None) for item in value]
        for n, (option, given) in enumerate(pairwise(value), 1):  # of a command line
            if isinstance(option, str) and isinstance(given, str) and self._is_secret_option(option, given):
                made[n] = self._whole(given, option.lstrip("-"))
        return made

    def _is_secret_option(self, option: str, given: str) -> bool:
        return option[:1] == "-" and given[:1] != "-" and "=" not in option and self._is_secret_name(option)

    def _is_secret_name(self, name: str) -> bool:
        from lctl.session.redaction.forms import PLAIN_NAMES, SECRET_ENDINGS, SECRET_NAMES

        if len(name) > 64:
            return False
        if name[:2] in ("b'", 'b"'):
            name = name[2:-1]  # a key that was bytes
        known = normal(name)
        if known in self._allowed_names or known in PLAIN_NAMES:
            return False
        return known in SECRET_NAMES or known in self._keys or known.endswith(SECRET_ENDINGS)

    def _whole(self, value: str, name: str) -> str:
        """A secret by its name. The scheme of an authorization stays."""
        forms = self._forms or self._compile()
        if forms.no_secret.fullmatch(value) or forms.placeholder.search(value):
            return value
        if (kind := normal(name)) in ("cookie", "setcookie") and "=" in value:
            return self._cookies(value, forms, kind == "setcookie")
        scheme, space, rest = value.partition(" ")
        if space and rest and scheme.lower() in ("bearer", "basic", "token", "digest", "negotiate", "apikey"):
            return f"{scheme} {self._placeholder(rest, scheme.lower())}"
        for kind, pattern in forms.formats:
            if pattern.fullmatch(value):
                return self._placeholder(value, kind)
        return self._placeholder(value, normal(name))

    def _cookies(self, value: str, forms: Forms, is_set: bool) -> str:
        """The value of a header: the names of the cookies stay, and what else is said of one that is set."""
        from lctl.session.redaction.forms import COOKIE_ATTRIBUTES

        def cookie(found: re.Match[str]) -> str:
            name, secret = found["name"], found["secret"]
            if (is_set and name.lower() in COOKIE_ATTRIBUTES) or forms.no_secret.fullmatch(secret):
                return found[0]
            return found[0] if _PLACED in secret else f"{name}={self._placeholder(secret, 'cookie')}"

        return forms.cookie.sub(cookie, value)

    def _whole_bytes(self, value: dict[str, Any], name: str) -> dict[str, Any]:
        """Bytes that are a secret by their name (see `jsonable`), text or not."""
        text = _text_of(value)
        return {**value, "$bytes": [self._whole(str(value["$bytes"]) if text is None else text, name)]}

    # -- text ------------------------------------------------------------------------------

    def _matched(self, match: re.Match[str], kind: str) -> str:
        whole = match[0]
        secret = match["secret"] if "secret" in match.re.groupindex else whole
        forms = self._forms or self._compile()
        if (
            not secret
            or forms.placeholder.search(secret)
            or (kind in ("basic", "auth") and not _is_user_and_password(secret, is_text=kind == "auth"))
        ):
            return whole
        start = match.start("secret") - match.start() if secret is not whole else 0
        return whole[:start] + self._placeholder(secret, kind) + whole[start + len(secret) :]

    def _environment_value(self, match: re.Match[str]) -> str:
        return self._placeholder(self._written[match[0]], "environment")

    def _field_of_form(self, match: re.Match[str]) -> str:
        if not self._is_secret_name(match["name"]):
            return match[0]
        return match[0][: match.start("secret") - match.start()] + self._whole(match["secret"], match["name"])

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
        if not self._is_secret_name(name):
            return match[0]
        start, end = match.start("secret") - match.start(), match.end("secret") - match.start()
        return match[0][:start] + self._whole(secret, name) + match[0][end:]

    def _header_of_cookies(self, found: re.Match[str]) -> str:
        forms = self._forms or self._compile()
        before = found[0][: found.start("cookies") - found.start()]
        return before + self._cookies(found["cookies"], forms, bool(found["set"]))

    def _assignments(self, text: str, forms: Forms) -> str:
        pieces: list[str] = []
        done = 0
        for start, end, kind in assigned_secrets(text, forms, self._is_secret_name, self._allowed):
            pieces += text[done:start], self._placeholder(text[start:end], kind)
            done = end
        return "".join(pieces) + text[done:] if pieces else text

    # -- what is known ---------------------------------------------------------------------

    def _placeholder(self, secret: str, kind: str) -> str:
        if secret in self._allowed:
            return secret
        from hashlib import blake2b

        digest = blake2b(secret.encode("utf-8", "surrogatepass"), key=self._key, digest_size=2).hexdigest()
        return f"[redacted:{kind}:{digest}]"

    def _compile(self) -> Forms:
        from lctl.session.redaction.search import Forms

        self._forms = Forms()
        return self._forms

    def _learn_environment(self) -> Iterable[str]:
        """Take the secrets of the environment; as they would be found in a lower-case line."""
        from lctl.session.redaction import environment

        self._written, self._values = environment.secrets(self._allowed)
        return environment.lowered(self._written)


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


def _is_user_and_password(encoded: str, *, is_text: bool = False) -> bool:
    from base64 import b64decode

    try:
        decoded = b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
        return b":" in decoded and (not is_text or decoded.decode().isprintable())
    except ValueError:  # no base64, letters beyond ASCII, no text
        return False
