"""Whether a text that comes by pieces holds a secret so far, without a look at all of it for each piece."""

from __future__ import annotations

import re

import orjson

from lctl.session.redaction.redact import Redactor

#: Characters that are looked at with what comes after them; of a word, before its end is waited for; of one
#: that is not waited for any longer.
_LOOK, _LONG, _ENDLESS = 256, 8, 8192
#: What no secret has in it: a word ends there.
_BETWEEN = re.compile(r"[^\w./+=%@:~-]")


class Growing:
    """The end of one text, as JSON has it in a string.

    What has once been looked at holds nothing that stirs (`Suspicion`), so that only what came since is
    looked at, with as much before it as one such thing may have. Where something does, all is looked at
    until it is so far back that no secret begins there.
    """

    __slots__ = ("_learned", "_new", "_redactor", "_stirred", "_text", "_word")

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._text = ""
        self._word = 0  # characters of the last word
        self._new = 0  # ... of what came since `stirs` was asked
        self._stirred = 0  # ... of what is to come before it is asked again; all is looked at until then
        self._learned: tuple[object, int] | None = None

    def add(self, said: str) -> bool:
        """True if the text ends in a word whose end is to be waited for: a secret may have begun."""
        size = len(said)
        # Most pieces are a word with a space before it.
        if said.isalnum():
            word = self._word + size
        elif said[:1] == " " and said[1:].isalnum():
            word = size - 1
        elif said[-1:] == " ":
            word = 0
        else:
            ends = [found.end() for found in _BETWEEN.finditer(said)]
            word = size - ends[-1] if ends else self._word + size
        self._word = word
        self._text += said
        self._new += size
        return _LONG <= word < _ENDLESS

    def has_secret(self) -> bool:
        """Whether there is one in what came since this was asked, or in that with what was before."""
        redactor, text, new = self._redactor, self._text, self._new
        learned = redactor.learned()
        if learned is not self._learned:
            self._learned = learned
            new, self._stirred = len(text), 0
        if new >= self._stirred:
            part = text[-new:] if self._stirred else text[-new - learned[1] :]
            self._new = 0
            seen = (part.encode(), part.lower()) if part.isascii() else _seen(part)
            self._stirred = _LOOK if redactor.stirs(*seen) else 0
        found = self._stirred > 0 and redactor.suspicion(*_seen(text)) and self._is_secret(text)
        if len(text) > (_LOOK if self._stirred else 2 * _LOOK):
            self._text = text[-_LOOK - min(self._word, _ENDLESS) :]
        return found

    def _is_secret(self, text: str) -> bool:
        try:
            text = orjson.loads(f'"{text}"')
        except ValueError:  # it was cut in an escape
            pass
        return self._redactor.text(text) != text


def _seen(text: str) -> tuple[bytes, str]:
    """A text as `Suspicion` looks at it."""
    if text.isascii():
        return text.encode(), text.lower()
    seen = text.encode("utf-8", "replace")
    return seen, seen.lower().decode("latin-1")
