"""Scripts that a rerun's program has written aside, and has a Python run: an agent writes code, runs it, and
writes it anew. What lies at their place is the last one that was written when it was recorded.

The process that is started is given the text of the one that was written, under its own name. Modules that
were written beside it are found there, too.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lctl.rerun.guarding.effects import absolute
from lctl.session.concurrency import pythons

#: Options of Python with a word of their own behind them.
_WITH_WORD = ("-W", "-X")
#: As `python SCRIPT` begins; read past what is recorded, as running a file is no read of the program's.
_BEGIN = """\
import sys, _io
del sys.argv[0]
if not getattr(sys.flags, "safe_path", False):
    sys.path[:1] = [{beside!r}, {folder!r}]
__file__ = {name!r}
with _io.FileIO({place!r}) as _text:
    _text = _text.read()
exec(compile(_text, __file__, "exec"))
"""


def words_for(words: Any, cwd: Any, place_of: Callable[[str], Path | None]) -> Any:
    """What to start in the place of these words; themselves where they run no script that was written.

    Args:
        cwd: where it starts; None: here.
        place_of: where that file was written instead; None of one that was not.
    """
    if not isinstance(words, list | tuple) or not words:
        return words
    told = [os.fsdecode(word) for word in words]
    at = _script(told[1:]) if pythons.is_python(told[0]) else None
    if at is None:
        return words
    name = absolute(os.path.join(os.fsdecode(cwd) if cwd else "", told[at + 1]))  # noqa: PTH118
    place = place_of(name)
    if place is None or not place.is_file():
        return words
    text = _BEGIN.format(beside=str(place.parent), folder=str(Path(name).parent), name=name, place=str(place))
    return [*told[: at + 1], "-c", text, *told[at + 1 :]]


def _script(words: Sequence[str]) -> int | None:
    """Which of a Python's arguments is its script; None where it runs a module, a text, or its input."""
    skip = False
    for n, word in enumerate(words):
        if skip:
            skip = False
        elif word in _WITH_WORD:
            skip = True
        elif not word.startswith("-"):
            return n
        elif word == "-" or (word[:2] not in (*_WITH_WORD, "--") and {"c", "m"} & set(word)):
            return None
    return None
