"""Loaded by every Python of the tests that starts with this folder on its PYTHONPATH: it asks the server
(`../server.py`) to run its program, and stands in for it.

The program then runs in a process that the server forks, where what it imports is loaded already. This
process passes signals on and ends as that one does. Whatever keeps the two from being the same (flags, a
terminal, open files), the program runs here, as if nothing were.
"""

# pathlib costs 10 ms at each start
# ruff: noqa: PTH109, PTH120, PTH208
# mypy: disable-error-code=import-not-found

from __future__ import annotations

import os
import sys


def likeness() -> list[object]:
    """What two interpreters have to have in common."""
    free = ("safe_path", "dont_write_bytecode", "hash_randomization", "count", "index")
    names = [name for name in dir(sys.flags) if not name.startswith(("_", "n_")) and name not in free]
    flags = [getattr(sys.flags, name) for name in names]
    return [sys.prefix, sys.version, flags, sorted(sys._xoptions), os.getuid()]


def _is_worthwhile(words: list[str]) -> bool:
    """A program."""
    if not words or (words[0].startswith("-") and words[0] not in ("-c", "-m")):
        return False
    return words[0].endswith(".py") or len(words) > 1


def _request() -> dict[str, object] | None:
    """What the program is to find; None where it has to run here."""
    options = 1
    while sys.orig_argv[options : options + 1] in (["-P"], ["-W"]):
        options += 1 + (sys.orig_argv[options] == "-W")
    words = sys.orig_argv[options:]
    if words and words[0].startswith("-m") and words[0] != "-m":  # `-mpytest`, as pytester says it
        words[:1] = ["-m", words[0][2:]]
    if not _is_worthwhile(words) or None in (sys.stdin, sys.stdout, sys.stderr):  # closed, by who asks
        return None
    if any(os.isatty(fd) for fd in (0, 1, 2)):
        return None
    if {int(fd) for fd in os.listdir("/proc/self/fd")} - {0, 1, 2, 3}:  # 3: that of the listing
        return None
    import _signal
    import resource

    if _signal.getsignal(_signal.SIGINT) is not _signal.default_int_handler:
        return None
    umask = os.umask(0)
    os.umask(umask)
    kinds = (resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE, resource.RLIMIT_AS, resource.RLIMIT_STACK)
    return {
        "words": words,
        "argv": list(sys.orig_argv),
        "path": list(sys.path),
        "warnings": list(sys.warnoptions),
        "cwd": os.getcwd(),
        "environ": dict(os.environ),
        "pid": os.getpid(),
        "umask": umask,
        "limits": {kind: resource.getrlimit(kind) for kind in kinds},
        "streams": [(stream.encoding, stream.errors) for stream in (sys.stdin, sys.stdout, sys.stderr)],
        "like": likeness(),
    }


def _hand_over(address: str) -> None:
    """To the server: returns if it will not have it."""
    request = _request()
    if request is None:
        return
    import _signal
    import _socket
    import marshal

    link = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    rights = b"".join(fd.to_bytes(4, sys.byteorder) for fd in (0, 1, 2))
    names = ("SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGQUIT")
    early = []
    before = {}
    try:
        link.connect(address)
        link.sendmsg([marshal.dumps(request)], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)])
        for name in names:
            number = getattr(_signal, name)
            before[number] = _signal.signal(number, lambda number, frame: early.append(number))
        told = link.recv(64)
    except OSError:
        told = b""
    if not told:
        link.close()
        for number, handler in before.items():
            _signal.signal(number, handler)
        return
    child = int(told)
    for number in before:
        _signal.signal(number, lambda number, frame: _pass_on(child, number))
    for number in early:
        _pass_on(child, number)
    _end(int(link.recv(64) or b"256"))


def _pass_on(child: int, number: int) -> None:
    try:
        os.kill(child, number)
    except ProcessLookupError:
        pass  # it has ended, which the server is about to say


def _end(status: int) -> None:
    """As the program did."""
    import _signal

    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number != _signal.SIGKILL:
            _signal.signal(number, _signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status))


if os.environ.get("WARM_PYTHON") and "warm_server" not in sys.modules:
    _hand_over(os.environ["WARM_PYTHON"])
sys.path[:] = [path for path in sys.path if path != os.path.dirname(__file__)]
