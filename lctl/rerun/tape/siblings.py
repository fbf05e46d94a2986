"""Other logs of the same execution: of sessions the program opened after its first, of its children."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from glob import escape
from pathlib import Path
from typing import Any

import orjson

from lctl.codec import open_log
from lctl.errors import LctlError
from lctl.kinship import is_to
from lctl.rerun.tape.tape import Tape
from lctl.session import naming

_SUFFIX = ".lctl.json"


def process(tape: Tape) -> list[Tape]:
    """Tapes of all sessions of the process that recorded `tape`, in order of their opening. It alone where
    the log of the first is not to be found."""
    tied = tape.log.chain.get("with")
    first = str(tied.get("id")) if isinstance(tied, dict) else tape.log.id
    found: list[tuple[int, Path]] = []
    head = tape if first == tape.log.id else None
    for path, chain in _beside(tape):
        together = chain.get("with")
        if isinstance(together, dict) and together.get("id") == first:
            found.append((int(together.get("n") or 0), path))
        elif head is None and chain.get("id") == first:
            head = _opened(path)
    if head is None:
        return [tape]
    later = (tape if tape is not head and _is(path, tape) else _opened(path) for _, path in sorted(found))
    tapes = [head, *(one for one in later if one is not None)]
    for n, one in enumerate(tapes[1:], 2):
        one.mark = f"{n}:"
    return tapes


def child(tape: Tape, lane: str | None, seq: int) -> Tape | None:
    """The tape of the child process that lane `lane` started; without lanes, of the one started at `seq`."""
    fitting: list[tuple[str, Path]] = []
    for path, chain in _beside(tape):
        parent = starter(chain)
        if parent is None or not is_to(parent, tape.log.chain):
            continue
        if parent.get("lane") == lane if lane is not None else parent.get("seq") == seq:
            fitting.append((path.name, path))
    return next((one for _, path in sorted(fitting) if (one := _opened(path)) is not None), None)


def parent(tape: Tape) -> Tape | None:
    """The tape of the process that started that of `tape`; None if it is not to be found."""
    link = starter(tape.log.chain)
    for path, chain in _beside(tape):
        if is_to(link, chain):
            return _opened(path)
    return None


def servers(parent: Tape) -> Iterator[Tape]:
    """The tapes of processes that `parent`'s started and whose servers were asked something from outside."""
    for path, chain in _beside(parent):
        if is_to(starter(chain), parent.log.chain):
            made = _opened(path)
            if made is not None and made.arrivals:
                yield made


def starter(chain: Mapping[str, Any]) -> dict[str, Any] | None:
    """Which chain started the process of this one, and where; the `parent` of a fork is what was forked."""
    made = chain.get("fork")
    link = made.get("process") if isinstance(made, dict) else chain.get("parent")
    return link if isinstance(link, dict) else None


def _opened(path: Path) -> Tape | None:
    try:
        return Tape(open_log(path))
    except LctlError:
        return None


def _is(path: Path, tape: Tape) -> bool:
    return tape.log.path is not None and path.samefile(tape.log.path)


def _beside(tape: Tape) -> Iterator[tuple[Path, dict[str, Any]]]:
    """(path, header's chain) of the logs in the folder of the tape's own, in `.lctl` under it, where this
    process writes its own, and where the recorded one was at work, which may have named them itself."""
    if tape.log.path is None:
        return
    own = Path(tape.log.path).resolve()
    if not own.name.endswith(_SUFFIX):  # what it forked has its name, with the number of the process
        yield from _named(own.parent.glob(f"{escape(own.stem)}-*{escape(own.suffix)}"))
    program = tape.log.chain.get("program")
    cwd = program.get("cwd") if isinstance(program, dict) else None
    folders = dict.fromkeys((own.parent, own.parent / ".lctl", naming.recording_folder().resolve()))
    if isinstance(cwd, str):
        folders[Path(cwd).resolve()] = None
    for folder in folders:
        if folder.is_dir():
            yield from _named(folder.glob("*" + _SUFFIX))


def _named(paths: Iterable[Path]) -> Iterator[tuple[Path, dict[str, Any]]]:
    for path in paths:
        chain = _chain(path)
        if chain is not None:
            yield path, chain


def _chain(path: Path) -> dict[str, Any] | None:
    """The header of a log as lctl writes it."""
    try:
        with path.open("rb") as file:
            head = file.readline(1 << 20)
        chain = orjson.loads(head.rstrip() + b"]}")["chain"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return chain if isinstance(chain, dict) else None
