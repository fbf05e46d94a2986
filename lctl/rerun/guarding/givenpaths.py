"""Paths as a program gives them, and is told of them, though what they name lies elsewhere in a rerun."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any


def like(place: str | Path, path: Any) -> Any:
    """That place, as bytes where the path is."""
    with suppress(TypeError):
        if isinstance(os.fspath(path), bytes):
            return os.fsencode(place)
    return str(place)


@contextmanager
def told_as_given(*pairs: tuple[Any, Any]) -> Iterator[None]:
    """An error of the system names what the program has given, and not the place where that lies.

    Args:
        pairs: place and path.
    """
    try:
        yield
    except OSError as error:
        for place, path in pairs:
            if error.filename is not None and error.filename == place:
                error.filename = os.fspath(path)
            if error.filename2 is not None and error.filename2 == place:
                error.filename2 = os.fspath(path)
        raise


def look_for(path: Any, to: Any) -> None:
    """Raise what the system says of moving `path` there, if there is nothing to be moved."""
    try:
        os.lstat(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, error.filename, None, os.fspath(to)) from None
