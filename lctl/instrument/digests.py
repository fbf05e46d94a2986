"""SHA-256 of request bodies, most of which repeat the one before.

A conversation of 200 turns sends its first 199 again. Hashing 488 kB costs 280 us, comparing them 30;
so the states of the hash at every 16 kB of the last few bodies are kept, and a body that begins as one
of them did is hashed from where they part.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

_STRIDE = 16_384
_KEPT = 4


class BodyDigests:
    """`digest(body)` is `"sha256:" + sha256(body).hexdigest()`, whatever was hashed before."""

    def __init__(self) -> None:
        # (body up to the last mark, hash state at each mark), newest last. Replaced, never changed,
        # so that threads may hash at once.
        self._kept: tuple[tuple[bytes, tuple[Any, ...]], ...] = ()

    def digest(self, body: bytes) -> str:
        if len(body) < 2 * _STRIDE:
            return "sha256:" + sha256(body).hexdigest()
        prefix, marks = self._longest(body)
        state = marks[-1].copy() if marks else sha256()
        states = list(marks)
        at = len(marks) * _STRIDE
        while at + _STRIDE <= len(body):
            state.update(body[at : at + _STRIDE])
            states.append(state.copy())
            at += _STRIDE
        if len(states) > len(marks):  # else what is kept is as good; copying 100 kB costs more than hashing
            others = tuple(kept for kept in self._kept if kept[0] is not prefix)
            self._kept = (*others[-(_KEPT - 1) :], (body[:at], tuple(states)))
        state.update(body[at:])
        return "sha256:" + state.hexdigest()

    def _longest(self, body: bytes) -> tuple[bytes | None, tuple[Any, ...]]:
        """The kept body that `body` shares most with, and the states of the shared marks."""
        best: tuple[bytes | None, tuple[Any, ...]] = (None, ())
        for prefix, states in reversed(self._kept):
            shared = min(len(states), len(body) // _STRIDE)
            while shared > len(best[1]):
                same = prefix if shared == len(states) else prefix[: shared * _STRIDE]
                if body.startswith(same):
                    best = (prefix, states[:shared])
                    break
                # Nearly always the end differs by a little; if not, halve, so that the search is short.
                shared = shared - 1 if shared == len(states) else shared // 2
        return best
