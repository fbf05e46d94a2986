"""The server of this run of the tests, and what leads programs to it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

_HERE = Path(__file__).parent
BOOTSTRAP = str(_HERE / "bootstrap")
#: What takes long to load, and what lctl itself needs; those that are not installed are passed over. wrapt
#: goes first: what it imports may bring in what is patched with it. "lctl" are all modules of its own.
_MODULES = (
    "wrapt",
    "lctl",
    "msgspec",
    "orjson",
    "zstandard",
    "httpx",
    "openai",
    "anthropic",
    "aiohttp",
    "requests",
)
_SEED = "7"


def python_path(*folders: Path | str) -> str:
    """A PYTHONPATH for a program: these, after what leads to the server if there is one."""
    warm = [BOOTSTRAP] if os.environ.get("WARM_PYTHON") else []
    return os.pathsep.join([*warm, *map(str, folders)])


def warmth() -> dict[str, str]:
    """The variables of Python's that lead a program to the server if there is one: for those that have no
    others, and load an SDK or httpx. (For what loads neither it is no gain.)"""
    if not os.environ.get("WARM_PYTHON"):
        return {}
    return {"PYTHONPATH": BOOTSTRAP, "PYTHONHASHSEED": os.environ["PYTHONHASHSEED"]}


def start(default: bool) -> Callable[[], None] | None:
    """Start it, and lead all programs that this process starts to it; returns what ends it, and raises
    RuntimeError if it had ended by itself. It loads while tests are collected.

    WARM_PYTHON says whether (1, 0), or else `default`; WARM_MODULES names more than the SDKs.
    """
    said = os.environ.pop("WARM_PYTHON", "") or str(int(default))
    if said != "1" or not sys.platform.startswith("linux"):
        return None
    folder = tempfile.TemporaryDirectory(prefix="warm-")
    address = str(Path(folder.name, "python"))
    os.environ.setdefault("PYTHONHASHSEED", _SEED)
    # It compiles what it loads, for all.
    left_out = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
    environ = {name: value for name, value in os.environ.items() if name not in left_out}
    words = ["-m", "tests.warm.server", address, *_MODULES, *os.environ.get("WARM_MODULES", "").split()]
    process = subprocess.Popen(
        [sys.executable, *words],
        cwd=_HERE.parents[1],
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    told = process.stdout.readline()
    process.stdout.close()
    if told != b"ready\n":
        folder.cleanup()
        raise RuntimeError("the server of warm programs has not started; see above")
    os.environ["WARM_PYTHON"] = address
    os.environ["PYTHONPATH"] = python_path(*filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)))

    def end() -> None:
        ended = process.poll()
        process.kill()
        process.wait()
        folder.cleanup()
        if ended is not None:  # programs ran all the same, in processes of their own
            raise RuntimeError(f"the server of warm programs ended with {ended}; see above")

    return end
