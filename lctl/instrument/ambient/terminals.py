"""Which of the standard streams are a terminal, and its size: how libraries write, and what, hangs on it.

It goes into the header once. A rerun tells it to whoever asks, wherever it runs: a recording that was made on
a terminal is the same again in a pipe, and the other way round.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

from lctl.instrument.ambient import slots
from lctl.session import border

_STANDARD = (0, 1, 2)
_isatty = os.isatty
_size = os.get_terminal_size


class Terminal(NamedTuple):
    """Attributes:
    streams: the descriptors that are one.
    size: columns and lines; None where there is none, or it is not known.
    """

    streams: tuple[int, ...]
    size: tuple[int, int] | None


#: In a rerun, of the recording; None of older ones, which do not say it.
recorded: Terminal | None = None
#: In a fork: somebody sits there, for whom the program draws.
is_shown = False
#: The streams that are, for now, a terminal that nobody sees.
hidden: set[int] = set()
#: Which files the standard descriptors were as recording began: others may be put in their place.
_files: dict[int, tuple[int, int]] = {}
_known: Terminal | None = None


def install() -> None:
    global _known
    _known = None
    _files.clear()
    for descriptor in _STANDARD:
        _files[descriptor] = _file(descriptor)
    slots.replace_builtin(os, "isatty", _asking)
    slots.replace_builtin(os, "get_terminal_size", _measuring)


def known() -> Terminal | None:
    """What the header says of it; None in the rerun of a recording whose header does not."""
    global _known
    if border.player() is not None:
        return recorded
    if _known is None:
        _known = _found()
    return _known


def told() -> dict[str, Any] | None:
    """`known`, for the header."""
    found = known()
    if found is None:
        return None
    size = {} if found.size is None else {"size": list(found.size)}
    return {"streams": list(found.streams), **size}


def of_header(value: Any) -> Terminal | None:
    """`recorded`, of what a header says."""
    if not isinstance(value, dict):
        return None
    streams, size = value.get("streams"), value.get("size")
    if not isinstance(streams, list):
        return None
    is_size = isinstance(size, list) and len(size) == 2 and all(type(n) is int for n in size)
    return Terminal(
        tuple(n for n in streams if n in _STANDARD),
        (size[0], size[1]) if is_size and isinstance(size, list) else None,
    )


def is_drawn_on() -> bool:
    """Whether standard output is one whose text is counted as it stands there."""
    found = known()
    return found is not None and 1 in found.streams


def is_terminal(descriptor: int, real: Callable[[], bool]) -> bool:
    """Whether it is one; in a rerun, whether it was. `real`: what the system says."""
    if border.player() is None or recorded is None or not _is_standard(descriptor):
        return real()
    return descriptor in recorded.streams


def stands_for(fd: Any) -> int | None:
    """Of a standard stream that was a terminal, in a rerun where it is none: its descriptor. What is done to
    a terminal is not done there."""
    if border.player() is None or recorded is None:
        return None
    try:
        descriptor = fd if isinstance(fd, int) else fd.fileno()
    except (AttributeError, OSError, ValueError):
        return None
    here = _is_standard(descriptor) and descriptor in recorded.streams and not is_really(descriptor)
    return descriptor if here else None


def has_keys() -> bool:
    """Whether standard input is one; in a rerun, whether it was."""
    found = known()
    return found is not None and 0 in found.streams


def is_really(descriptor: int) -> bool:
    """Whether it is one now: somebody sits there."""
    try:
        return _isatty(descriptor) and descriptor not in hidden
    except OSError:
        return False


def _found() -> Terminal:
    streams = tuple(descriptor for descriptor in _STANDARD if is_really(descriptor))
    for descriptor in reversed(streams):
        try:
            columns, lines = _size(descriptor)
        except OSError:
            continue
        if columns and lines:  # of one that nobody looks at, neither
            return Terminal(streams, (columns, lines))
    return Terminal(streams, None)


def _is_standard(descriptor: int) -> bool:
    return descriptor in _files and _file(descriptor) == _files[descriptor]


def _file(descriptor: int) -> tuple[int, int]:
    try:
        found = os.fstat(descriptor)
    except OSError:
        return -1, -1
    return found.st_dev, found.st_ino


def _asking(original: Any) -> Callable[..., Any]:
    def isatty(_: Any, fd: Any, /) -> bool:
        return is_terminal(fd, lambda: original(fd))

    return isatty


def _measuring(original: Any) -> Callable[..., Any]:
    def get_terminal_size(_: Any, fd: Any = 1, /) -> os.terminal_size:
        if border.player() is None or recorded is None or not _is_standard(fd):
            return original(fd)  # type: ignore[no-any-return]
        if fd not in recorded.streams or recorded.size is None:
            raise OSError(25, "Inappropriate ioctl for device")
        return os.terminal_size(recorded.size)

    return get_terminal_size
