"""Databases, indexes and tables that libraries in C, C++ and Rust read and write past Python: DuckDB,
LanceDB, Chroma, FAISS, hnswlib, usearch, Kuzu, polars, pyarrow.

No audit hook hears of what they do, so the functions that open one are asked. Recorded is what it was when it
was opened first, as of SQLite's files (`databases`). A rerun opens it in a folder of its own, where it writes
aside; else its guard is told, and refuses it.
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from lctl.instrument import settings
from lctl.instrument.ambient import callers, databasekeys, databases, filelooks, filereaders, reads, slots
from lctl.session import border

if TYPE_CHECKING:
    from lctl.instrument.hooks import Hook

#: The audit event of opening one to write.
OPENS = "lctl.store"
#: Bytes of one up to which its content is kept: a database of Kuzu's with one row has more than 1 MB.
_MOST = 2 * databases.MOST
_MISSING: Any = object()


class _Opens(NamedTuple):
    """What opens one: `function` (of a class: `Class.method`), by the argument `name`, its `at`th."""

    function: str
    name: str
    at: int
    writes: bool = True


#: Those that polars reads and writes.
_TABLES = ("csv", "parquet", "json", "ndjson", "ipc", "avro")
_FUNCTIONS = {
    "duckdb": (_Opens("connect", "database", 0),),
    "lancedb": (_Opens("connect", "uri", 0), _Opens("connect_async", "uri", 0)),
    "faiss": (_Opens("write_index", "fname", 1), _Opens("read_index", "fname", 0, writes=False)),
    "hnswlib": (
        _Opens("Index.save_index", "path_to_index", 1),
        _Opens("Index.load_index", "path_to_index", 1, False),
    ),
    "usearch.index": (
        _Opens("Index.save", "path_or_buffer", 1),
        _Opens("Index.load", "path_or_buffer", 1, False),
    ),
    "kuzu": (_Opens("Database.__init__", "database_path", 1),),
    "polars": (
        *(_Opens(f"DataFrame.write_{form}", "file", 1) for form in _TABLES),
        *(_Opens(f"read_{form}", "source", 0, False) for form in _TABLES),
    ),
    "pyarrow.parquet": (_Opens("write_table", "where", 1), _Opens("read_table", "source", 0, False)),
}
#: Names several files, to be read.
_GLOB = re.compile(r"[*?\[]")
_hooks: list[Hook] = []
#: DuckDB writes what is new beside the file first.
_BESIDE = (".wal",)


def install() -> None:
    """Ask from now on. Idempotent; undone with all that `slots` has replaced."""
    from lctl.instrument.hooks import on_import

    if _hooks:
        return
    _hooks[:] = [on_import(module, _replace) for module in _FUNCTIONS]
    _hooks.append(on_import("chromadb.api.rust", _replace_chroma))
    slots.on_undo(_uninstall)


def _uninstall() -> None:
    for hook in _hooks:
        hook.remove()
    _hooks.clear()


def _replace(module: ModuleType) -> None:
    for opens in _FUNCTIONS[module.__name__]:
        path, _, name = opens.function.rpartition(".")
        owner: Any = getattr(module, path, None) if path else module
        original = getattr(owner, name, None)
        if original is not None and not hasattr(original, "__lctl_store__"):
            _put(owner, name, _asking(original, opens))


def _put(owner: Any, name: str, ours: Any) -> None:
    ours.__lctl_store__ = True
    slots.replace(owner, name, ours)


def _asking(original: Callable[..., Any], opens: _Opens) -> Callable[..., Any]:
    at, name = opens.at, opens.name

    def opening(*args: Any, **kwargs: Any) -> Any:
        try:
            given = args[at] if len(args) > at else kwargs.get(name, _MISSING)
            writes = opens.writes and not kwargs.get("read_only")
            place = _place(given, sys._getframe(1), writes)
            if place is not given:
                if len(args) > at:
                    args = (*args[:at], place, *args[at + 1 :])
                else:
                    kwargs[name] = place
            return original(*args, **kwargs)
        except BaseException as error:
            error.__traceback__ = filereaders.below(error.__traceback__)
            raise

    opening.__wrapped__ = original  # type: ignore[attr-defined]  # whose signature it is
    return slots.like(opening, original)


def _replace_chroma(module: ModuleType) -> None:
    """Chroma's client: the folder is in its settings."""
    api: Any = getattr(module, "RustBindingsAPI", None)
    original = getattr(api, "start", None)
    if original is None or hasattr(original, "__lctl_store__"):
        return

    def start(self: Any) -> None:
        known = self._system.settings
        given = known.persist_directory if known.is_persistent else None
        place = _place(given, sys._getframe(1), True)
        if place is given:
            original(self)
            return
        known.persist_directory = place
        try:
            original(self)
        finally:
            known.persist_directory = given

    _put(api, "start", slots.like(start, original))


def _place(given: Any, frame: FrameType, writes: bool) -> Any:
    """What to open in the place of that; records what it is before."""
    player = border.player()
    active = settings.files and reads.active()
    path = filereaders.path_of(given) if active or player is not None else None
    if path is None or "://" in path or path.startswith((":", "md:")) or (not writes and _GLOB.search(path)):
        return given
    value, key = filereaders.UNKNOWN, databasekeys.key_of(path, frame)
    if active and key is not None and not callers.is_lctl(frame.f_code.co_filename):
        value = databases.first(key, frame, lambda: _recorded(path))
    if player is None:
        return given
    if key is not None:
        place = player.store(path, filelooks.kept(value), value is None, frame, writes)
        if place is not None:
            return place
    if writes:
        sys.audit(OPENS, path)
    return given


def _recorded(path: str) -> Any:
    """What is there: the files of it, in an archive."""
    if not os.path.lexists(path):
        return None
    files = list(_files(path))
    size = sum(os.path.getsize(file) for file, _ in files)  # noqa: PTH202
    if size > _MOST:
        return {"size": size}
    return filelooks.value_of(path, _packed(files), reads.session_here(), _MOST * 2)


def _files(path: str) -> Iterator[tuple[str, str]]:
    """Each file, and its name beside the store's."""
    base = os.path.dirname(os.path.abspath(path))  # noqa: PTH100, PTH120
    if not os.path.isdir(path):  # noqa: PTH112
        for file in (path, *(path + beside for beside in _BESIDE)):
            if os.path.isfile(file):  # noqa: PTH113
                yield file, os.path.basename(file)  # noqa: PTH119
        return
    for folder, folders, names in os.walk(path):
        folders.sort()
        for name in sorted(names):
            file = os.path.join(folder, name)  # noqa: PTH118
            if os.path.isfile(file):  # noqa: PTH113
                yield file, os.path.relpath(file, base)


def _packed(files: list[tuple[str, str]]) -> bytes:
    import tarfile

    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for file, name in files:
            content = Path(file).read_bytes()
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return held.getvalue()


def copy(path: str, place: Path) -> None:
    """What is there now."""
    import shutil

    for file, name in _files(path) if os.path.lexists(path) else ():
        to = place.parent / name
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, to)


def unpack(content: bytes, folder: Path) -> None:
    """The files of a recorded store, into a folder and nowhere else."""
    import tarfile

    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        for member in archive:
            file, held = folder / member.name, archive.extractfile(member)
            if held is not None and file.resolve().is_relative_to(folder.resolve()):
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(held.read())
