"""What `lctl run` tells the program through its environment.

The folder with our `sitecustomize` leads PYTHONPATH; the LCTL_* variables say how to record. Both are
inherited by every process the program starts, so each Python among them records too. The output path
is for one process only: the first that begins empties it in its environment.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from lctl.errors import UsageError
from lctl.instrument.settings import COMMANDS, DISABLED, FILES

BOOTSTRAP = Path(__file__).parent / "bootstrap"

RUN = "LCTL_RUN"  # pid of `lctl run` itself, which the program keeps when it is exec'd
NAME = "LCTL_RUN_NAME"
PATH = "LCTL_RUN_PATH"
DURABILITY = "LCTL_RUN_DURABILITY"
REDACT = "LCTL_RUN_REDACT"
RECORD = "LCTL_RUN_RECORD"
GIT = "LCTL_RUN_GIT"  # read by `lctl.instrument.provenance`
TOOLS = "LCTL_RUN_TOOLS"  # separated by spaces
OWN = "LCTL_RUN_OWN"  # likewise; read by `lctl.session.ownpackages`


_PATIENCE = 0.5  # seconds


class Recording(NamedTuple):
    """How a program is to be recorded; None leaves lctl's default.

    Attributes:
        name: the chain's id.
        record: "full" (the default) or "model"; see `lctl.auto_instrument`.
        tools: functions that are tools, as `package.module:function`.
        own: installed packages that are the program's own.
        files: what its own code reads in files is recorded.
        commands: what commands gave that its own code has run is.
    """

    name: str | None = None
    path: Path | None = None
    durability: str | None = None
    redact: bool = True
    record: str | None = None
    tools: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    files: bool = True
    commands: bool = True


def environment(recording: Recording, outer: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment to start the program with.

    Raises:
        UsageError: the output file exists; a run is never written over or into another.
    """
    if recording.path is not None and recording.path.exists():
        raise UsageError(f"{recording.path}: exists already; choose another --output, or remove it first")
    inner = {key: value for key, value in outer.items() if not key.startswith(("LCTL_RUN", DISABLED))}
    paths = [str(BOOTSTRAP), *filter(None, outer.get("PYTHONPATH", "").split(os.pathsep))]
    inner["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(paths))
    inner[RUN] = str(os.getpid())
    for key, value in (
        (NAME, recording.name),
        (PATH, recording.path),
        (DURABILITY, recording.durability),
        (REDACT, None if recording.redact else "0"),
        (FILES, None if recording.files else "off"),
        (COMMANDS, None if recording.commands else "off"),
        (RECORD, recording.record),
        (TOOLS, " ".join(recording.tools) or None),
        (OWN, " ".join(recording.own) or None),
        (GIT, working_tree()),
    ):
        if value is not None:
            inner[key] = str(value)
    if recording.record != "model" and inner.get("PYTHONHASHSEED", "random") == "random":
        # The order of sets is read from the surroundings like a clock; it can only be chosen at the start.
        inner["PYTHONHASHSEED"] = str(int.from_bytes(os.urandom(4), "big") or 1)
    return inner


def working_tree() -> str | None:
    """The git commit the program's folder is at, with `+` where files differ from it; None outside git."""
    import subprocess  # 13 ms, and the recorded program loads this module too

    from lctl.instrument.provenance import git

    found = git()
    if found is None:
        return None
    try:
        done = subprocess.run(
            ["git", "status", "--porcelain", "--untracked-files=no"],
            capture_output=True,
            timeout=_PATIENCE,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None  # no git, or too large a tree to wait for: the commit is read from the files
    return str(found["commit"]) + ("+" if done.stdout.strip() else "")


def recording_here(environ: Mapping[str, str] = os.environ) -> Recording | None:
    """How this process was told to record; None when `lctl run` did not start it."""
    if RUN not in environ:
        return None
    path = environ.get(PATH)
    return Recording(
        name=environ.get(NAME) or None,
        path=Path(path) if path else None,
        durability=environ.get(DURABILITY),
        redact=environ.get(REDACT) != "0",
        record=environ.get(RECORD),
        tools=tuple(environ.get(TOOLS, "").split()),
        files=environ.get(FILES) != "off",
        commands=environ.get(COMMANDS) != "off",
    )
