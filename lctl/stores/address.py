"""Where a store is, as text: `file:runs`, `memory:`, `sqlite:///runs.db`, `postgresql://host/db`.

What follows `#` names a chain in it: an id, the start of one, `last` or `last~1`. Options come before
that, as in `postgresql://host/db?schema=audit&tenant=acme#last`.
"""

from __future__ import annotations

import os
import re
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from lctl.errors import UsageError

VARIABLE = "LCTL_STORE"
_ADDRESS = re.compile(r"(file|memory|sqlite|postgres(?:ql)?):", re.IGNORECASE)
_PASSWORD = re.compile(r"(//[^/@:]*):[^/@]*@")
_SECRET = re.compile(r"([?&](?:password|sslpassword)=)[^&#]*", re.IGNORECASE)
#: Options of ours; what else a PostgreSQL URL has is libpq's.
_OURS = ("schema", "tenant", "compress")


class Address(NamedTuple):
    """A store, and perhaps a chain in it.

    Attributes:
        place: a folder, a file, a name in memory, or what libpq connects to (with its password).
        chain: what follows `#`; "" for none.
        options: `schema`, `tenant`, `compress`.
        shown: the store without its password and the chain: for messages.
    """

    scheme: str
    place: str
    chain: str
    options: tuple[tuple[str, str], ...]
    shown: str

    def __str__(self) -> str:
        return self.shown + (f"#{self.chain.replace('%', '%25')}" if self.chain else "")

    def option(self, name: str, default: str = "") -> str:
        return dict(self.options).get(name, default)

    @property
    def identity(self) -> str:
        """The same for all ways to write one store, from whatever folder; without a password."""
        if self.scheme in ("sqlite", "file"):
            return f"{self.scheme}:///{os.path.abspath(self.place)}"  # noqa: PTH100
        if self.scheme == "memory":
            return self.shown
        parts = urlsplit(self.place)
        user, at, host = parts.netloc.rpartition("@")
        ours = urlencode(sorted((name, value) for name, value in self.options if name != "compress"))
        return f"postgresql://{user.partition(':')[0]}{at}{host}{parts.path}?{ours}".rstrip("?")

    def at(self, chain: str) -> Address:
        """The same store, another chain."""
        return self._replace(chain=chain)


def is_address(text: object) -> bool:
    """Whether `text` names a store; a path with such a beginning must be written `./file:...`."""
    return isinstance(text, str) and _ADDRESS.match(text) is not None


def parse(text: str) -> Address:
    """The store that `text` names.

    Raises:
        UsageError: it names none, and how they are written.
    """
    known = _ADDRESS.match(text)
    if known is None:
        raise UsageError(
            f"{without_password(text)!r}: not a store; they are file:FOLDER, memory:, sqlite:///FILE and "
            "postgresql://HOST/DATABASE"
        )
    rest, _, chain = text.partition("#")
    scheme = known[1].lower()
    if scheme.startswith("postgres"):
        return _postgresql(rest, unquote(chain))
    rest, _, query = rest.partition("?")
    options = _options(query, text)
    place = rest[known.end() :]
    if scheme == "memory":
        name = place.strip("/")
        return Address("memory", name, unquote(chain), options, f"memory:{name}")
    place = unquote(_path(scheme, place))
    if scheme == "sqlite" and not place:
        raise UsageError(f"{text!r}: names no file; a SQLite store is written sqlite:///runs.db")
    shown = f"sqlite:///{place}" if scheme == "sqlite" else f"file:{place}"
    return Address(scheme, place, unquote(chain), options, shown)


def from_environment() -> Address | None:
    """The store that LCTL_STORE names; None where it is not set.

    Raises:
        UsageError: it names no store.
    """
    text = os.environ.get(VARIABLE, "").strip()
    return parse(text) if text else None


def without_password(text: str) -> str:
    """`text` as it may be shown."""
    return _SECRET.sub(r"\1...", _PASSWORD.sub(r"\1:...@", text))


def _path(scheme: str, place: str) -> str:
    """`sqlite:///a` is relative and `sqlite:////a` is not, as elsewhere; `file:///a` is not relative."""
    if place.startswith("//"):
        place = place[2:]
        place = place.removeprefix("localhost") if place.startswith("localhost/") else place
        if scheme == "sqlite":
            place = place.removeprefix("/")
    return place[1:] if re.match(r"/[A-Za-z]:", place) else place


def _options(query: str, text: str) -> tuple[tuple[str, str], ...]:
    options = tuple(parse_qsl(query, keep_blank_values=True))
    for name, _ in options:
        if name not in _OURS:
            raise UsageError(f"{text!r}: there is no option {name!r}; there are {', '.join(_OURS)}")
        if name != "compress":
            raise UsageError(f"{text!r}: a {name} is a PostgreSQL store's; another has all runs in one")
    return options


def _postgresql(url: str, chain: str) -> Address:
    parts = urlsplit(url)
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    options = tuple((name, value) for name, value in pairs if name in _OURS)
    theirs = urlencode([(name, value) for name, value in pairs if name not in _OURS])
    place = urlunsplit(("postgresql", parts.netloc, parts.path, theirs, ""))
    if place.startswith("postgresql:/") and not place.startswith("postgresql://"):
        place = place.replace("postgresql:", "postgresql://", 1)
    schema = dict(options).get("schema", "lctl")
    if not re.fullmatch(r"[a-z_][a-z0-9_]{0,62}", schema):
        raise UsageError(f"schema={schema!r}: a schema's name is lower-case letters, digits and _")
    return Address("postgresql", place, chain, options, without_password(url))
