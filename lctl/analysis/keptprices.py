"""Prices that were looked up before, kept in the user's folder of caches.

To import genai-prices and load its list takes longer than all else that `lctl ls` does. What was found in it
is kept in a file for each version of the list; without the file everything is as right, and slower. Names are
kept as hashes: an address may be nobody's business. Only the command line keeps anything (`keep`): a program
that reads its logs writes no file of ours.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Callable
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import msgspec

from lctl._version import __version__
from lctl.analysis.pricebook import Book

#: Entries; each is some hundred bytes.
_MOST = 5000

_Books = dict[str, Book | None]

_kept: _Books | None = None
_file: Path | None = None


def keep() -> None:
    """From here on look into the file, and write what is new to it. Does nothing where the list is loaded
    already: the program may have put another in its place."""
    global _kept, _file
    if _kept is not None or "genai_prices" in sys.modules:
        return
    with contextlib.suppress(OSError, ValueError, AttributeError, TypeError, RuntimeError):
        _file = _folder() / f"prices-{_version()}.json"
        _kept = {}
        _kept = msgspec.json.decode(_file.read_bytes(), type=_Books)


def get(key: tuple[str | None, ...], find: Callable[[], Book | None]) -> Book | None:
    """What is kept for `key`, else what `find` finds."""
    if _kept is None:
        return find()
    name = sha256(repr(key).encode("utf-8", "surrogatepass")).hexdigest()[:32]
    if name not in _kept:
        if len(_kept) >= _MOST:
            _kept.clear()
        _kept[name] = find()
        with contextlib.suppress(OSError):
            _write()
    return _kept[name]


def _write() -> None:
    """The file anew, with what others have written meanwhile; those of other versions go."""
    assert _file is not None and _kept is not None
    _file.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(OSError, ValueError):
        others = msgspec.json.decode(_file.read_bytes(), type=_Books)
        _kept.update({} if len(others) >= _MOST else others | _kept)
    handle, name = tempfile.mkstemp(dir=_file.parent, prefix=".prices-")
    try:
        with os.fdopen(handle, "wb") as made:
            made.write(msgspec.json.encode(_kept))
        os.replace(name, _file)  # noqa: PTH105
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
    for other in _file.parent.glob("prices-*.json"):
        if other != _file:
            other.unlink(missing_ok=True)


def _version() -> str:
    """Of the list, without importing it, and of what this makes of it."""
    spec = find_spec("genai_prices")
    assert spec is not None and spec.origin is not None
    package = Path(spec.origin).parent
    files = [*sorted(package.glob("*.py")), Path(__file__), Path(__file__).with_name("pricebook.py")]
    marks = [f"{file.name} {file.stat().st_size} {file.stat().st_mtime_ns}" for file in files]
    return sha256("\n".join([__version__, str(package), *marks]).encode()).hexdigest()[:16]


def _folder() -> Path:
    """Where programs of this user keep what can be made anew."""
    if os.name == "nt":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "lctl"
