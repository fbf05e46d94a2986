"""SHA-256 of request bodies, most of which repeat the one before.

A conversation of 200 turns sends its first 199 again. Hashing 488 kB costs 280 us, comparing them 30;
so the state of the hash at the end of the last message is kept with what is known of that body, and one
that goes on from it is hashed from there. Of bodies of which nothing is known, the states at every 16 kB of
the last few are kept, and one that begins as one of them did is hashed from where they part.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lctl.instrument.prefix import Reading

_STRIDE = 16_384
_KEPT = 4
# Hashing this many bytes costs no more than keeping the state does.
_SMALL = 4096


class BodyDigests:
    """`digest(body)` is `"sha256:" + sha256(body).hexdigest()`, whatever was hashed before."""

    def __init__(self) -> None:
        # (body up to the last mark, hash state at each mark), newest last. Replaced, never changed,
        # so that threads may hash at once.
        self._kept: tuple[tuple[bytes, tuple[Any, ...]], ...] = ()
        self._last: tuple[bytes | None, str] = (None, "")  # a small one, and its digest

    def digest(self, body: bytes, reading: Reading | None = None) -> str:
        """`reading`: what is known of where the messages of the body stand."""
        if len(body) < _SMALL:
            again, digest = self._last
            if body != again:  # of a call tried again it is the same
                digest = "sha256:" + sha256(body).hexdigest()
                self._last = body, digest
            return digest
        if reading is not None and (reading.body is body or reading.body == body):
            return "sha256:" + _after_messages(body, reading)
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


def _after_messages(body: bytes, reading: Reading) -> str:
    base = reading.base
    view = memoryview(body)
    goes_on = base is not None and reading.common == base.count
    end = reading.ends[-1][0] if reading.ends else base.ends[reading.common - 1] if base is not None else 0
    if goes_on and base is not None and base.digest is not None:
        state = base.digest.copy()
        state.update(view[base.size : end])
    else:
        state = sha256(view[:end])
    if reading.adds_nothing and base is not None:
        if base.digest is None:
            base.digest = state.copy()
    else:
        reading.digest, reading.digest_size = state.copy(), end
    state.update(view[end:])
    return str(state.hexdigest())
