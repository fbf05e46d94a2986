"""A process as a program finds it, and the program run in it: in a process that `server.py` has forked."""

from __future__ import annotations

import atexit
import io
import os
import resource
import runpy
import signal
import site
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, NoReturn, TextIO

from tests.warm.modules import Stash

_MODES = {"stdin": "r", "stdout": "w", "stderr": "w"}


class Ending:
    """The end of the program, called last of what it has registered for that. The interpreter takes apart
    what it has loaded, and in the very end touches every name there is: of modules shared with the server
    each page would be copied for that, which takes longer than all that most programs do. So `shared` are
    left whole, and the process is gone before the names."""

    def __init__(self, shared: Stash) -> None:
        self.status = 0
        self._shared = shared

    def __call__(self) -> None:
        streams: list[TextIO] = [stream for stream in (sys.stdout, sys.stderr) if stream is not None]
        try:
            for stream in streams:
                stream.flush()
        except Exception:
            return  # the interpreter fails likewise, and says so
        self._shared.leave()
        sys.end_of_program = _Last(self.status, streams)  # type: ignore[attr-defined]


class _Last:
    """Taken apart when nothing else of the program is left."""

    def __init__(self, status: int, streams: list[TextIO]) -> None:
        self._ends: list[Callable[[], object]] = [
            *(stream.flush for stream in streams),
            partial(os._exit, status),
        ]

    def __del__(self) -> None:
        for end in self._ends:
            try:
                end()
            except:  # noqa: E722  (exceptions have no names any more)
                pass


def become(request: dict[str, Any]) -> None:
    """What the process of who asked was, before its first line."""
    os.setpgid(0, 0)
    for number, fd in enumerate(request["rights"]):
        os.dup2(fd, number)
        os.close(fd)
    for limit, values in request["limits"].items():
        resource.setrlimit(limit, values)
    os.umask(request["umask"])
    os.chdir(request["cwd"])
    _surround(request["environ"], str(request["pid"]))
    for fd, (name, mode) in enumerate(_MODES.items()):
        encoding, errors = request["streams"][fd]
        lines = 1 if name == "stderr" else -1
        stream: Any = open(fd, mode, lines, encoding, errors, closefd=False)  # noqa: SIM115
        stream.buffer.raw.name = f"<{name}>"
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    sys.orig_argv = request["argv"]
    # Who asked may have taken folders off already: each sitecustomize does so with its own.
    first = [os.path.abspath(path) for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]  # noqa: PTH100
    sys.path[:] = [*first, *(path for path in request["path"] if path not in first)]
    sys.path_importer_cache = {}  # and not emptied: of all that is in there each page would be copied
    sys.warnoptions[:] = request["warnings"]
    warnings._processoptions(sys.warnoptions)  # type: ignore[attr-defined]


def _surround(environ: dict[str, str], own: str) -> None:
    """Its environment. Who was told its number (`lctl run` becomes the program) is told the present one."""
    os.environ.clear()
    os.environ.update({name: str(os.getpid()) if value == own else value for name, value in environ.items()})
    time.tzset()
    sys.dont_write_bytecode = bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))


def run(request: dict[str, Any], ending: Ending) -> None:
    """The program, as the main module; an error that it leaves uncaught ends the process as it would."""
    atexit.register(ending)
    words: list[str] = request["words"]
    # Of the tests' own modules the program finds none, and the main module is its own.
    kept = [sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == "tests"]
    kept.append(sys.modules["__main__"])
    main = sys.modules["__main__"] = ModuleType("__main__")
    sys.modules["warm_server"] = kept[-1]
    kept[-1].__name__ = "warm_server"
    sys.modules.pop("sitecustomize", None)  # a distribution has its own
    folder, path = str(Path.cwd()), Path(words[0]).absolute()  # before anything may be recorded
    site.execsitecustomize()
    try:
        if words[0] == "-m":
            sys.argv = ["-m", *words[2:]]
            sys.path.insert(0, folder)
            runpy._run_module_as_main(words[1])  # type: ignore[attr-defined]
        elif words[0] == "-c":
            sys.argv = ["-c", *words[2:]]
            sys.path.insert(0, "")
            _execute(words[1], "<string>", main)
        else:
            sys.argv = list(words)
            _run_script(path, main, is_safe="-P" in request["argv"][: -len(words)])
    except SystemExit as error:
        code = error.code
        ending.status = code & 0xFF if isinstance(code, int) else int(code is not None)
        raise
    except BaseException as error:
        ending.status = 1
        _tell(error)


def _run_script(path: Path, main: ModuleType, *, is_safe: bool) -> None:
    if not is_safe:
        sys.path.insert(0, os.path.dirname(os.path.realpath(path)))  # noqa: PTH120
    try:
        with io.FileIO(path) as file:  # the interpreter reads it, and not the program
            source = file.readall()
    except OSError as error:
        told = f"can't open file {str(path)!r}: [Errno {error.errno}] {error.strerror}"
        sys.stderr.write(f"{sys.executable}: {told}\n")
        raise SystemExit(2) from None
    vars(main).update(__file__=str(path), __cached__=None)
    main.__loader__ = SourceFileLoader("__main__", str(path))
    _execute(source, str(path), main)


def _execute(source: str | bytes, name: str, main: ModuleType) -> None:
    vars(main).update(__builtins__=sys.modules["builtins"])
    exec(compile(source, name, "exec", dont_inherit=True), vars(main))


def _tell(error: BaseException) -> NoReturn:
    """As the interpreter does, without what is ours of the way to it."""
    trace: TracebackType | None = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    error.__traceback__ = trace
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, trace
    if sys.version_info >= (3, 12):
        sys.last_exc = error
    sys.excepthook(type(error), error, trace)
    if isinstance(error, KeyboardInterrupt):
        _finish()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    sys.exit(1)


def _finish() -> None:
    """What the interpreter does as it ends, before the signal that ended it."""
    import threading

    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            pass
