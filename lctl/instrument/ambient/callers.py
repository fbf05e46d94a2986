"""Whose code is reading? Reads of the program's own code are recorded, those of libraries are not.

Own is a file that is neither of the standard library, nor installed (see `ownpackages`), nor lctl's. The
same question is asked when recording and when serving, so both count the same reads.
"""

from __future__ import annotations

import os
from types import FrameType

from lctl.session.ownpackages import installed_as

LIBRARY = 0
OWN = 1
#: Acts for its caller: what it reads, whoever called it reads.
BETWEEN = 2
#: Decided frame by frame: code made from text has no file.
_TEXT = 3
#: A library, but for one function that is BETWEEN.
_LOGGING = 4


def _folder(path: str) -> str:
    return os.path.dirname(os.path.abspath(path)) + os.sep  # noqa: PTH100, PTH120


_STANDARD = tuple({_folder(os.__file__), _folder(os.path.realpath(os.__file__))})
#: Of the standard library.
_STANDARD_BETWEEN = (
    "os.py",
    "_collections_abc.py",
    "random.py",
    "secrets.py",
    "tempfile.py",
    "dataclasses.py",
    "pathlib.py",
    os.path.join("pathlib", "__init__.py"),  # noqa: PTH118
    os.path.join("pathlib", "_local.py"),  # noqa: PTH118
    os.path.join("logging", "__init__.py"),  # noqa: PTH118
    os.path.join("email", "utils.py"),  # noqa: PTH118
)
#: Installed, and called to make a value of the program's own (an id, say), or to sleep.
_INSTALLED_BETWEEN = tuple(
    path.replace("/", os.sep)
    for path in (
        "/pydantic/main.py",
        "/pydantic/dataclasses.py",
        "/pydantic/_internal/_dataclasses.py",
        "/pydantic/v1/main.py",
        "/pydantic/v1/fields.py",
        "/numpy/random/mtrand.pyx",
        "/anyio/_core/_eventloop.py",
        "/anyio/_backends/_asyncio.py",
        "/nanoid/algorithm.py",
        "/nanoid/generate.py",
        "/nanoid/method.py",
        "/shortuuid/main.py",
        "/ulid/__init__.py",
    )
)
#: Installed, and read for people: how long an agent, a step or a function took is printed with what it gave.
#: `schedule` asks in the program's own loop whether a job is due.
_INSTALLED_OWN = tuple(
    path.replace("/", os.sep)
    for path in (
        "/IPython/core/magics/execution.py",
        "/IPython/utils/timing.py",
        "/agno/utils/timer.py",
        "/django/core/management/commands/runserver.py",
        "/schedule/__init__.py",
        "/semantic_kernel/functions/kernel_function.py",
        "/agent_framework/_tools.py",
        "/smolagents/agents.py",
        "/smolagents/memory.py",
    )
)
#: Installed; a function of its acts for its caller: what `Console.log` prints has the time.
_INSTALLED_LOGGING = (os.path.join(os.sep + "rich", "console.py"),)  # noqa: PTH118
_LOGGING_NAME = "log"
#: Files whose code writes to standard error for its caller.
between_writers = {
    folder + name
    for folder in _STANDARD
    for name in ("warnings.py", "traceback.py", "argparse.py", "codecs.py", "contextlib.py", "pprint.py")
}
#: Installed, and between whoever makes a request and the wire.
_CLIENTS = ("httpx", "httpx2", "httpcore", "httpcore2", "requests", "urllib3", "aiohttp", "anyio", "wrapt")
_FROZEN_BETWEEN = ("<frozen os>", "<frozen _collections_abc>")
#: Where `tempfile` looks for a folder: once a process, and not in a rerun, which has a folder of its own.
_CHOOSING = frozenset({"_candidate_tempdir_list", "_get_default_tempdir"})
_DEPTH = 16

_LCTL = _folder(_folder(_folder(__file__)[:-1])[:-1])
#: Of lctl: they call the `opener` that `open` is given, which may be the standard library's.
_OPENING = tuple(
    path.replace("/", os.sep) for path in ("/ambient/files.py", "/guarding/asides.py", "/clocks/standins.py")
)
_INTEGRATIONS = f"{os.sep}lctl_integrations{os.sep}"

kinds: dict[str, int] = {}


def kind_of(filename: str) -> int:
    """LIBRARY, OWN, BETWEEN, of a code object's `co_filename`; remembered."""
    known = kinds.get(filename)
    if known is None:
        known = kinds[filename] = _decided(filename)
    return known


def _decided(filename: str) -> int:
    if filename[:1] == "<":
        if filename.startswith("<frozen"):
            return BETWEEN if filename in _FROZEN_BETWEEN else LIBRARY
        return _TEXT
    if is_lctl(filename):
        return BETWEEN if filename.endswith(_OPENING) else LIBRARY
    if installed_as(filename) is not None:
        if filename.endswith(_INSTALLED_OWN):
            return OWN
        if filename.endswith(_INSTALLED_LOGGING):
            return _LOGGING
        return BETWEEN if filename.endswith(_INSTALLED_BETWEEN) else LIBRARY
    for folder in _STANDARD:
        if filename.startswith(folder):
            return BETWEEN if filename[len(folder) :] in _STANDARD_BETWEEN else LIBRARY
    return OWN


def is_standard(filename: str) -> bool:
    """Whether it is of the standard library, which an installed package may lie in the folder of."""
    return filename.startswith(_STANDARD) and installed_as(filename) is None


def is_lctl(filename: str) -> bool:
    return filename.startswith(_LCTL) or _INTEGRATIONS in filename


def own(frame: FrameType | None) -> FrameType | None:
    """The frame of the program's own code on whose behalf `frame` reads; None where a library does."""
    for _ in range(_DEPTH):
        if frame is None:
            return None
        kind = kinds.get(frame.f_code.co_filename)
        if kind is None:
            kind = kind_of(frame.f_code.co_filename)
        if kind == _TEXT:
            kind = _of_text(frame)
        if kind == OWN:
            return frame
        if kind == LIBRARY or (kind == BETWEEN and frame.f_code.co_name in _CHOOSING):
            return None
        if kind == _LOGGING and frame.f_code.co_name != _LOGGING_NAME:
            return None
        frame = frame.f_back
    return None


def library(frame: FrameType | None) -> FrameType | None:
    """The frame of a library's code on whose behalf `frame` reads: past what acts for its caller (a model of
    pydantic whose field draws its own default)."""
    for _ in range(_DEPTH):
        if frame is None or kind_of(frame.f_code.co_filename) != BETWEEN:
            return frame
        frame = frame.f_back
    return None


def is_own_request(frame: FrameType | None) -> bool:
    """Whether the program's own code makes the request that `frame` is about to send, by clients of HTTP and
    the standard library. False where another library does."""
    while frame is not None:
        file = frame.f_code.co_filename
        kind = kind_of(file)
        if kind == _TEXT:
            kind = _of_text(frame)
        if kind == OWN:
            return True
        package = installed_as(file)
        if package is not None and package not in _CLIENTS and not is_lctl(file):
            return False
        frame = frame.f_back
    return True


def is_library_writing(frame: FrameType | None) -> bool:
    """Whether a library, and not the program, has `frame` write to standard error. False where no Python
    code does: the interpreter's own last words are the program's."""
    for _ in range(_DEPTH):
        if frame is None:
            return False
        file = frame.f_code.co_filename
        if file not in between_writers:
            kind = kind_of(file)
            if kind == _TEXT:
                kind = _of_text(frame)
            if kind != BETWEEN:
                return kind in (LIBRARY, _LOGGING)
        frame = frame.f_back
    return True


def _of_text(frame: FrameType) -> int:
    """Of `python -c`, a notebook's cell, a dataclass's `__init__`: what the module is that it runs in."""
    names = frame.f_globals
    file = names.get("__file__")
    if isinstance(file, str) and file[:1] != "<":
        return kind_of(file)
    return OWN if names.get("__name__") == "__main__" else BETWEEN
