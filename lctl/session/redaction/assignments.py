"""Where a text gives a value to a name under which secrets are kept: `password=...`, `"api_key": "..."`
(quotes escaped or not), `--token ...`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lctl.session.redaction.search import Forms

_SEPARATORS = str.maketrans("", "", "-_. ")
_MARK = "[redacted:"
#: Letters that a token has at least, if it has nothing else.
_TOKEN = 10
# In front of a password in a `.netrc`; "the login form password field" is prose.
_LOGIN = re.compile(
    r"(?:(?:\bmachine\s+\S+|\bdefault|\A|\n|\\n)\s+|\A|\n|\\n)login\s+\S+\s+(?:account\s+\S+\s+)?\Z"
).search


def normal(name: str) -> str:
    """A name as `names` lists it."""
    return name.lower().translate(_SEPARATORS)


def assigned_secrets(
    text: str,
    names: Iterable[re.Match[str]],
    forms: Forms,
    is_secret_name: Callable[[str], bool],
    allowed: frozenset[str],
) -> Iterator[tuple[int, int, str]]:
    """Start, end and kind of each value of `text` that its name says is a secret, in order.

    Args:
        names: where the text says one (`Forms.names`).
    """
    done = 0
    for named in _outside_placeholders(text, names):
        if named.start() < done:
            continue
        found = forms.value.match(text, named.end())
        if (
            found is None
            or found["secret"] in allowed
            or not _assigns(text, named, found, forms, is_secret_name)
        ):
            continue
        done = found.end("secret")
        yield found.start("secret"), done, normal(named[0])


def _outside_placeholders(text: str, names: Iterable[re.Match[str]]) -> Iterator[re.Match[str]]:
    """The names in a text, but for those in a placeholder: it says `token:`, too."""
    if _MARK not in text:
        yield from names
        return
    opened = closed = seen = 0  # each stretch is looked at once: a log may say "token" in all its lines
    for named in names:
        start = named.start()
        opened = max(opened, text.rfind(_MARK, max(seen - len(_MARK) + 1, 0), start) + 1)
        closed = max(closed, text.rfind("]", seen, start) + 1)
        seen = start
        if opened <= closed:
            yield named


def _assigns(
    text: str,
    named: re.Match[str],
    found: re.Match[str],
    forms: Forms,
    is_secret_name: Callable[[str], bool],
) -> bool:
    secret, sign = found["secret"], found["sign"].strip()
    start = named.start()
    while start and (text[start - 1].isalnum() or text[start - 1] in "-_."):
        start -= 1
    name = text[start : named.end()]
    # Nearly every "token" of prose stops here, so this is asked before all else.
    if not sign and (
        secret[0] == "-" or not _is_told(text[max(0, start - 128) : start], name, quoted=bool(found["open"]))
    ):
        return False
    if forms.no_secret.fullmatch(secret) or _MARK in secret:
        return False
    if start and text[start - 1] in "?&" and found["sign"][-1:].isspace():
        return False  # the parameter of a URL, left empty: `?token= for more`
    if name.lower() == "pwd":  # of a connection string; the shell has its folder there
        return sign == "=" and secret[0] not in "/~."
    if not is_secret_name(name.lstrip("-")):
        return False
    if secret.lower() in ("bearer", "basic"):
        return False  # a scheme; what follows it has been looked at
    if not sign:
        return True
    if secret.isalpha() and len(secret) < _TOKEN and normal(name).endswith("token"):
        return False  # of a grammar: `unexpected token: 'else'`
    if found["open"]:
        return any(map(str.isalnum, secret))
    if secret[0] in "([{<$" or "(" in secret or "[" in secret:
        return False  # code: `token = make()`, `password=settings["x"]`
    if sign[-1] == "=" or sign in ("%3D", "%3d"):
        # In code, too: `api_key=api_key`, `token=self.token`.
        said = name if named[0].lower() == "pass" else named[0]
        is_variable = secret.isidentifier() and (normal(secret).endswith(normal(said)) or "_" in secret)
        return not is_variable and (
            "." not in secret or not all(part.isidentifier() for part in secret.split("."))
        )
    return len(secret) >= 4 and (not secret.isalpha() or "pass" in name.lower() or len(secret) >= 16)


def _is_told(before: str, name: str, *, quoted: bool) -> bool:
    """Whether a value behind a name is its own though nothing stands between them: in options, in SQL, in
    what sets variables of the environment, in a `.netrc`."""
    return (
        name.startswith("--")
        or (quoted and name == "PASSWORD")
        or before.endswith(("ENV ", "setx "))
        or (name == "password" and _LOGIN(before) is not None)
    )
