"""What stands in a secret's place, and what is a secret by the name it goes by."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from lctl.session.redaction.assignments import normal

if TYPE_CHECKING:
    from lctl.session.redaction.search import Forms

_PLACED = "[redacted:"
_SCHEMES = ("bearer", "basic", "token", "digest", "negotiate", "apikey")


class Placeholders:
    """`[redacted:<kind>:<4 hex digits>]` for secrets; the digits are a hash with the key of this run."""

    def __init__(self, names: Iterable[str], allowed: Iterable[str], key: bytes | None) -> None:
        """
        Args:
            names: further names whose values are secrets, in any spelling.
            allowed: names and values that are none.
            key: of the hash; by default random.
        """
        self.names = frozenset(normal(name) for name in names)
        self.allowed = frozenset(allowed)
        self._allowed_names = frozenset(normal(name) for name in self.allowed)
        self._key = key or os.urandom(16)
        self._forms: Forms | None = None

    @property
    def forms(self) -> Forms:
        """Made when the first text is looked at: few programs say a secret."""
        if self._forms is None:
            from lctl.session.redaction.search import Forms

            self._forms = Forms()
        return self._forms

    def of(self, secret: str, kind: str) -> str:
        """What is written for it; itself where it is allowed."""
        if secret in self.allowed:
            return secret
        from hashlib import blake2b

        digest = blake2b(secret.encode("utf-8", "surrogatepass"), key=self._key, digest_size=2).hexdigest()
        return f"{_PLACED}{kind}:{digest}]"

    def has_name(self, name: str) -> bool:
        """Whether secrets go by that name."""
        from lctl.session.redaction.names import PLAIN_NAMES, SECRET_ENDINGS, SECRET_NAMES

        if len(name) > 64:
            return False
        if name[:2] in ("b'", 'b"'):
            name = name[2:-1]  # a key that was bytes
        known = normal(name)
        if known in self._allowed_names or known in PLAIN_NAMES:
            return False
        return known in SECRET_NAMES or known in self.names or known.endswith(SECRET_ENDINGS)

    def named(self, value: str, name: str) -> str:
        """A secret by its name. The scheme of an authorization stays, and values that say there is none."""
        forms = self.forms
        if forms.no_secret.fullmatch(value) or forms.placeholder.search(value):
            return value
        if (kind := normal(name)) in ("cookie", "setcookie") and "=" in value:
            return self.cookies(value, is_set=kind == "setcookie")
        scheme, space, rest = value.partition(" ")
        if space and rest and scheme.lower() in _SCHEMES:
            return f"{scheme} {self.of(rest, scheme.lower())}"
        for kind, pattern in forms.formats:
            if pattern.fullmatch(value):
                return self.of(value, kind)
        return self.of(value, normal(name))

    def cookies(self, value: str, *, is_set: bool) -> str:
        """The value of a header: the names of the cookies stay, and what else is said of one that is set."""
        from lctl.session.redaction.names import COOKIE_ATTRIBUTES

        no_secret = self.forms.no_secret

        def cookie(found: re.Match[str]) -> str:
            name, secret = found["name"], found["secret"]
            if (is_set and name.lower() in COOKIE_ATTRIBUTES) or no_secret.fullmatch(secret):
                return found[0]
            return found[0] if _PLACED in secret else f"{name}={self.of(secret, 'cookie')}"

        return self.forms.cookie.sub(cookie, value)
