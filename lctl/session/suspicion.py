"""Whether a line may hold a secret: a few substring searches, at least one of which meets every secret.

A clean line of 320 bytes costs about a microsecond; one alternation over all forms would cost four.
What is met here is only looked at closer (`Redactor`): a hit too many costs time, a hit too few a
secret. Every form in `secretforms` must be met.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence

_environment = getattr(os.environ, "_data", os.environ)  # its length, without a call into Python

_KEYS = (
    "api",
    "access",
    "account",
    "private",
    "secret",
    "signing",
    "encryption",
    "subscription",
    "master",
    "ssh",
)
# `re` skips to a literal first letter as fast as memory allows; what stands before it is looked back at.
_K = re.compile(
    "k(?:ey(?:"
    + "|".join(f"(?<={name}key)|(?<={name}.key)" for name in _KEYS)
    + ")|en(?<=token)(?!s)|ie(?<=cookie)|s\\.(?<=hooks\\.)slack)"
).search
_Z = re.compile(r"z(?<=authoriz)").search
_PASS = re.compile(r"pass(?:w(?:or)?d|phrase|code)").search

#: Letters, digits and `-_%` become `a`, so that a key is a run of twenty.
_RUNS = bytes(97 if n < 128 and (chr(n).isalnum() or chr(n) in "-_%") else 32 for n in range(256))
_RUN = b"a" * 20
# What the keys that are one run begin with.
_UNDERSCORE = re.compile(
    r"_(?:(?<=gh[pousr]_)|(?<=github_)pat_|(?<=hf_)|(?<=gsk_)|(?<=npm_)|(?<=r8_)|(?<=whsec_)|(?<=[sr]k_)(?:live|test)_)"
).search
_HYPHEN = re.compile(
    r"-(?:(?<=sk-)|(?<=gl[dr]t-)|(?<=glpat-)|(?<=glptt-)|(?<=xox[abeoprs]-)|(?<=tvly-)|(?<=xai-)|(?<=pplx-)|(?<=pypi-)|"
    r"(?<=gocspx-))"
).search


class Suspicion:
    """`suspicion(line, lowered)`: whether the line is worth taking apart.

    Args:
        names: further names that hold secrets, normalised.
        always: suspect every line (there are patterns that no search here can stand for).
        learn: called when the environment has changed; gives the texts that are secrets wherever they
            are, as JSON has them, in lower case.
    """

    def __init__(self, names: Sequence[str], always: bool, learn: Callable[[], Iterable[str]]) -> None:
        pattern = "" if always else "|".join("[-_. ]?".join(map(re.escape, name)) for name in names)
        self._names = re.compile(pattern) if names or always else None
        self._learn = learn
        self._values: tuple[str, ...] = ()
        self._variables = -1
        self._more = False

    def __call__(self, line: bytes, lowered: str) -> bool:
        """`lowered` is `line` in lower case, decoded as latin-1.

        One letter is found ten times as fast as a word: rare ones stand in front of their words.
        """
        if len(_environment) != self._variables:
            self._variables = len(_environment)  # a program may load a .env file at any time
            self._values = tuple(self._learn())
            self._more = bool(self._values or self._names)
        if (
            "secret" in lowered
            or "bearer" in lowered
            or ("k" in lowered and _K(lowered) is not None)
            or ("pass" in lowered and _PASS(lowered) is not None)
            or ("z" in lowered and _Z(lowered) is not None)
            or ("@" in lowered and "://" in lowered)
            or ("=" in lowered and ("pwd" in lowered or "basic " in lowered))
        ):
            return True
        runs = line.translate(_RUNS)
        at = runs.find(_RUN)
        introduced = False
        while at >= 0:
            end = runs.find(b" ", at)
            if end < 0:
                end = len(runs)
            # A hash of ours is not worth a look: every request has one.
            if not (
                end - at == 64
                and lowered.startswith('"sha256:', at - 8)
                and not line[at:end].strip(b"0123456789abcdef")
            ):
                if not introduced and _introduced(line, lowered):
                    return True
                introduced = True  # looked for once
                run = lowered[at:end]
                if _HYPHEN(run) is not None or _UNDERSCORE(run) is not None:
                    return True
            at = runs.find(_RUN, end)
        return self._more and self._has_more(lowered)

    def _has_more(self, lowered: str) -> bool:
        for value in self._values:
            if value in lowered:
                return True
        return self._names is not None and self._names.search(lowered) is not None


def _introduced(line: bytes, lowered: str) -> bool:
    """Whether a line with a long run of key characters has what stands before keys, if not in the run."""
    return (
        "-----begin" in lowered
        or "basic " in lowered
        or (b"." in line and (b"SG." in line or "ya29." in lowered))
        # These are written like this and no other way.
        or (b"J" in line and b"eyJ" in line)
        or (b"A" in line and (b"AIza" in line or b"AKIA" in line or b"ASIA" in line))
        or ("=" in lowered and ("sig=" in lowered or "x-amz-" in lowered))
    )
