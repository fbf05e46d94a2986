"""Whether a line may hold a secret: a few substring searches, at least one of which meets every secret.

A clean line of 320 bytes costs about a microsecond; one alternation over all forms would cost four.
What is met here is only looked at closer (`Redactor`): a hit too many costs time, a hit too few a
secret. Every form in `formats` and `names` must be met.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from lctl.session.redaction.signs import KEY, PASSWORD, REACH, RUN, RUNS, has_key_from, has_signature
from lctl.session.variables import watched

#: Makes the shape of a line: all its digits alike. Which they are matters only to what `_DIGITS` lists.
SHAPE = bytes(48 if 48 <= n < 58 else n for n in range(256))
_DIGITS = "r0_", "ya00.", "lsv0_", "e0b_", "c0st", "atatt0", "0//0", '"sha000:'
_SHAPED = str.maketrans("123456789", "000000000")
#: Shapes that are remembered, at most.
_SHAPES = 1024


class Suspicion(NamedTuple):
    """Closures, as every event passes them.

    Attributes:
        suspects: (line, lowered): whether the line is worth taking apart. `lowered` is `line` in lower case,
            decoded as latin-1.
        stirs: (part, lowered): whether the part of a text has anything that makes `suspects` suspect it,
            be it with something else. A text of which no part does is not suspected.
        learned: (): another pair when other values of the environment are secrets; its second says how many
            bytes at most one thing has that `stirs` meets.
        is_familiar: whether a line of that shape (`line.translate(SHAPE)`) was noted, and nothing that is a
            secret has come since.
        note: (shape) of a line that `suspects` did not suspect; False when there is no use in it any more.
    """

    suspects: Callable[[bytes, str], bool]
    stirs: Callable[[bytes, str], bool]
    learned: Callable[[], tuple[object, int]]
    is_familiar: Callable[[bytes], bool]
    note: Callable[[bytes], bool]


def suspicion(names: Sequence[str], always: bool, learn: Callable[[], Iterable[str]]) -> Suspicion:
    """What suspects lines, and remembers short ones that recur: many differ in numbers and times only.

    Args:
        names: further names that hold secrets, normalised.
        always: suspect every line (there are patterns that no search here can stand for).
        learn: called when the environment has changed; gives the texts that are secrets wherever they
            are, as JSON has them, in lower case.
    """
    pattern = "" if always else "|".join("[-_. ]?".join(map(re.escape, name)) for name in names)
    named = re.compile(pattern).search if names or always else None
    values: tuple[str, ...] = ()
    variables = watched()
    version: object = None
    shapes: set[bytes] = set()
    hits = 0
    recurring = named is None
    known: tuple[object, int] = None, 0

    def learn_anew() -> None:
        """A program may load a .env file at any time."""
        nonlocal values, version, known
        now = variables.version
        shapes.clear()
        values = tuple(learn())
        known = now, max(REACH, *(2 * len(name) for name in names), *map(len, values), 0)
        version = now  # last: another thread must not take the old values for the new

    def suspects(line: bytes, lowered: str) -> bool:
        """One letter is found ten times as fast as a word: rare ones stand in front of their words. In a long
        text five letters are found three times as fast as more."""
        if variables.version is not version:
            learn_anew()
        if (
            ("secre" in lowered and "secret" in lowered)
            or ("k" in lowered and KEY(lowered) is not None)
            or ("@" in lowered and ("://" in lowered or "sqlplus" in lowered or "jdbc:oracle" in lowered))
            or ("-" in lowered and ("curl" in lowered or ("q" in lowered and "mysql" in lowered)))
            or ("ied b" in lowered and "identified by" in lowered)
            or ("~" in lowered and "q~" in lowered)
        ):
            return True
        if (
            ("beare" in lowered and "bearer" in lowered)
            or ("pass" in lowered and PASSWORD(lowered) is not None)
            or ("z" in lowered and "thori" in lowered and "authoriz" in lowered)
            or ("=" in lowered and ("pwd" in lowered or "basic " in lowered or has_signature(lowered)))
        ):
            return True
        runs = line.translate(RUNS)
        at = runs.find(RUN)
        if at >= 0 and has_key_from(line, lowered, runs, at):
            return True
        for value in values:
            if value in lowered:
                return True
        return named is not None and named(lowered) is not None

    def stirs(part: bytes, lowered: str) -> bool:
        """Of what `suspects` meets in two places one, the rarer."""
        if (
            "secret" in lowered
            or ("k" in lowered and KEY(lowered) is not None)
            or "@" in lowered
            or "=" in lowered
            or "curl" in lowered
            or "identified" in lowered
            or ("q" in lowered and "mysql" in lowered)
            or ("~" in lowered and "q~" in lowered)
            or "bearer" in lowered
            or ("pass" in lowered and PASSWORD(lowered) is not None)
            or ("z" in lowered and "authoriz" in lowered)
            or RUN in part.translate(RUNS)
        ):
            return True
        for value in values:
            if value in lowered:
                return True
        return named is not None and named(lowered) is not None

    def learned() -> tuple[object, int]:
        if variables.version is not version:
            learn_anew()
        return known

    def is_familiar(shape: bytes) -> bool:
        nonlocal hits
        if shape in shapes and variables.version is version:
            hits += 1
            return True
        return False

    def note(shape: bytes) -> bool:
        nonlocal hits, recurring
        if not recurring:
            return False
        lowered = shape.lower().decode("latin-1")
        for text in (*_DIGITS, *(value.translate(_SHAPED) for value in values)):
            if text in lowered:
                return True
        if len(shapes) >= _SHAPES:
            recurring = hits > _SHAPES  # else this program's lines are all different
            hits = 0
            shapes.clear()
        shapes.add(shape)
        return True

    return Suspicion(suspects, stirs, learned, is_familiar, note)
