"""Names of recordings made without one: `<LCTL_DIR or .lctl>/<time>-<program>.lctl.json`.

The folder is seen from where the program was when its recording was turned on. The processes it starts use
that of its log, also where its path was given, wherever they are started: `lctl ls` there shows all of a run,
and a rerun finds it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from lctl.clock import Clock
from lctl.errors import LogLocked
from lctl.record.journal import Durability, JournalStore

SUFFIX = ".lctl.json"
#: Tells a started process where its parent keeps its recordings; what LCTL_DIR was there stands behind it.
FOLDER = "LCTL_PARENT_DIR"

#: Where the program was when what is being opened was asked for; None: here.
asked_in: ContextVar[Path | None] = ContextVar("lctl_asked_in", default=None)


def program() -> str:
    """The running program: script or module name, "python" when there is neither; of a kernel its notebook,
    as far as it is known."""
    main = sys.modules.get("__main__")
    spec = getattr(main, "__spec__", None)
    name = getattr(spec, "name", None) or ""
    if name and name != "__main__":  # as of an archive or a folder, whose name the first argument is
        name = name.removesuffix(".__main__")
    else:
        script = sys.argv[0] if sys.argv else ""
        name = os.path.splitext(os.path.basename(script))[0] if script not in ("", "-c", "-") else ""  # noqa: PTH119, PTH122
        if name == "__main__":
            name = Path(script).parent.name
        if "ipykernel" in sys.modules and "kernel" in script:
            name = _notebook(main)
    kept = "".join(c if c.isalnum() or c in "-_." else "-" for c in name).strip("-.")
    return kept[:60] or "python"


def _notebook(main: object) -> str:
    """The name of the notebook that the kernel is of, where its editor or its server tells."""
    for told in (getattr(main, "__vsc_ipynb_file__", None), os.environ.get("JPY_SESSION_NAME")):
        if isinstance(told, str) and told.endswith(".ipynb"):
            return Path(told).stem
    return "notebook"


def here() -> Path | None:
    """The working directory; None where it is gone."""
    try:
        return Path.cwd()
    except OSError:
        return None


#: What files are called that are none of the user's: those of cells.
files: dict[str, str] = {}

_inherited = os.environ.get(FOLDER, "")
_started_in = here()


def folder() -> Path:
    """Where the command line looks for recordings, and puts what it makes."""
    return Path(os.environ.get("LCTL_DIR") or ".lctl")


def recording_folder() -> Path:
    """Where this process records."""
    place, now = folder(), here()
    asked = asked_in.get() or now
    parents = _inherited.removesuffix(_named())
    if parents and parents != _inherited and asked == _started_in:
        return place if now is not None and Path(parents) == now / place else Path(parents)
    return place if place.is_absolute() or asked is None or asked == now else asked / place


def _named() -> str:
    """A process that is given another LCTL_DIR than its parent's records there."""
    return f"{os.pathsep}{os.environ.get('LCTL_DIR', '')}"


def told(path: Path | None) -> str:
    """Where the processes keep their recordings that are started from now on.

    Args:
        path: of the log they belong to, if it was given.
    """
    return str((recording_folder() if path is None else path.parent).absolute()) + _named()


def stay_beside(path: Path) -> None:
    """Record in the folder of that log, which another process writes."""
    global _inherited
    _inherited = told(path)


def default_path(name: str, clock: Clock) -> Path:
    now = clock.now()  # 2024-01-15T10:30:00.123456Z
    time = f"{now[:10]}-{now[11:19]}".replace("-", "").replace(":", "")
    safe = "".join(c if c.isalnum() or c in "-_." else "-" for c in name)[:80]
    return recording_folder() / f"{time[:8]}-{time[8:]}-{safe}{SUFFIX}"


def with_suffix(path: Path, suffix: str) -> Path:
    """`run.lctl.json` -> `run-<suffix>.lctl.json`."""
    name = path.name
    for ending in (SUFFIX, path.suffix):
        if ending and name.endswith(ending):
            return path.with_name(f"{name.removesuffix(ending)}-{suffix}{ending}")
    return path.with_name(f"{name}-{suffix}")


def claim(path: Path) -> bool:
    """Make an empty file there: of two processes at once one gets it, and is told so.

    Raises:
        OSError: it cannot be made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
    except FileExistsError:
        return False
    return True


def new_store(
    path: Path,
    chain: dict[str, Any],
    durability: Durability,
    make: Callable[..., JournalStore] = JournalStore,
) -> JournalStore:
    """A store on a new file: `path`, or `-2`, `-3`, ... beside it when that is there already."""
    place, n = path, 1
    while True:
        try:
            if not place.exists():
                return make(place, chain, durability=durability)
        except LogLocked:  # another process made it in between
            pass
        n += 1
        place = with_suffix(path, str(n))
