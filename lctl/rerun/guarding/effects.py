"""What an audit event would do to the world: reach the network, start a process, write.

Events and their arguments are those of CPython's audit events table. What only reads is not here.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from lctl.instrument.ambient import nativestores
from lctl.session import ownports
from lctl.session.concurrency import processes

Kind = Literal["network", "subprocess", "write"]


class Effect(NamedTuple):
    """One thing that is about to happen.

    Attributes:
        kind: what `--allow` calls it.
        target: the host, the command, the file's absolute path.
        told: as a sentence begins: "connecting to example.com".
    """

    kind: Kind
    target: str
    told: str


Read = Callable[[tuple[Any, ...]], "Effect | list[Effect] | None"]


def _connect(args: tuple[Any, ...]) -> Effect | None:
    address = args[1]
    if isinstance(address, tuple) and len(address) > 1 and ownports.is_own(_text(address[0]), address[1]):
        return None  # the program asks its own server
    return _network("connecting to", args[1])


def _bind(args: tuple[Any, ...]) -> Effect | None:
    address = args[1]
    if isinstance(address, tuple) and address[:2] == _PROBED:
        return None
    return _network("listening at", args[1])


#: Where urllib3 asks, when it is imported, whether there is IPv6.
_PROBED = ("::1", 0)


def _send(args: tuple[Any, ...]) -> Effect | None:
    return _network("sending to", args[1]) if args[1] is not None else None


def _network(verb: str, address: Any) -> Effect:
    host = address[0] if isinstance(address, tuple) and address else address
    port = f":{address[1]}" if isinstance(address, tuple) and len(address) > 1 else ""
    name = _text(host)
    return Effect("network", name, f"{verb} {name}{port}")


def _look_up(args: tuple[Any, ...]) -> Effect | None:
    host = _text(args[0]) if args[0] is not None else ""
    if not host or host == "localhost" or _is_number(host):
        return None  # nothing is asked of anybody
    return Effect("network", host, f"looking up {host}")


def _is_number(host: str) -> bool:
    return ":" in host or host.replace(".", "").isdigit()


def _popen(args: tuple[Any, ...]) -> Effect | None:
    command = args[1]
    words = [command] if isinstance(command, str | bytes | os.PathLike) else list(command or [args[0]])
    told = " ".join(_text(word) for word in words)
    return Effect("subprocess", told, f"starting {told[:200]!r}")


#: How commands begin that tell of what is there and change nothing.
_LOOKING = (
    "git rev-parse ",
    "git describe ",
    "git config --get ",
    "git remote get-url ",
    "git remote -v ",
    "git ls-remote --get-url ",
    "git branch --show-current ",
    "git cat-file ",
    "git version ",
    "ldconfig -p ",
    "uname ",
    "lsb_release ",
)


#: What says where git is to look.
_WHERE = re.compile(r"^git (?:(?:-C|-c safe\.directory)[ =]\S+ )+")


def only_looks(effect: Effect) -> bool:
    """Whether it starts a command that changes nothing, such as libraries start when they are set up."""
    name, _, rest = effect.target.partition(" ")
    told = _WHERE.sub("git ", f"{os.path.basename(name)} {rest} ")  # noqa: PTH119
    return effect.kind == "subprocess" and told.startswith(_LOOKING)


def _command(args: tuple[Any, ...]) -> Effect | None:
    return Effect("subprocess", _text(args[0]), f"starting {_text(args[0])!r}")


def _spawn(args: tuple[Any, ...]) -> Effect | None:
    return Effect("subprocess", _text(args[1]), f"starting {_text(args[1])!r}")


def _fork(args: tuple[Any, ...]) -> Effect | None:
    return Effect("subprocess", "fork", "forking this process")


def _signal(args: tuple[Any, ...]) -> Effect | None:
    """To another process: the program itself, its children, and who forked one of these, are the rerun's own.
    Its group is not: who has started it is in there. A process that has ended hears nothing."""
    pid, number = args[0], args[1]
    if number == 0 or not isinstance(pid, int) or pid == os.getpid() or _is_child(pid) or _is_gone(pid):
        return None
    if pid == os.getppid() and processes.born is not None:
        return None
    return Effect("subprocess", f"signal {pid}", f"sending signal {int(number)} to process {pid}")


def _signal_group(args: tuple[Any, ...]) -> Effect | None:
    group, number = args[0], args[1]
    if number == 0 or not isinstance(group, int) or _is_child(group):
        return None
    return Effect("subprocess", f"signal {group}", f"sending signal {int(number)} to the processes {group}")


def _is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        pass
    return False


def _is_child(pid: int) -> bool:
    """Whether it is a process that this one has started, and that has not been waited for. The system calls
    those of multiprocessing's fork server that server's."""
    started = getattr(sys.modules.get("multiprocessing.process"), "_children", ())
    if any(one._popen is not None and one._popen.pid == pid for one in tuple(started)):
        return True
    try:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except (AttributeError, OSError):
        return False
    return True


_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def _open(args: tuple[Any, ...]) -> Effect | None:
    path, mode, flags = args
    if isinstance(path, int):
        return None
    if isinstance(mode, str):
        writes = any(letter in mode for letter in "wax+")
    else:
        writes = isinstance(flags, int) and bool(flags & _WRITING)
    return _write("writing", path) if writes else None


def _file(verb: str, *, at: int = 0, folder: int | None = None) -> Read:
    """An event whose argument `at` is the path, relative to the descriptor in argument `folder`."""

    def read(args: tuple[Any, ...]) -> Effect | None:
        beneath = args[folder] if folder is not None and len(args) > folder else -1
        return _write(verb, args[at], beneath, follow=verb not in _OF_NAMES)

    return read


def _mkdir(args: tuple[Any, ...]) -> Effect | None:
    made = _write("making the folder", args[0], args[2] if len(args) > 2 else -1)
    return None if os.path.isdir(made.target) else made  # noqa: PTH112  # nothing is made: it exists


#: What is done to a name in a folder, and not to what a link of that name leads to.
_OF_NAMES = ("removing", "linking", "moving")


def _rename(args: tuple[Any, ...]) -> list[Effect]:
    folders = [*args[2:4], -1, -1]
    made = [_write("renaming", args[n], folders[n], follow=False) for n in (0, 1)]
    return made if os.path.lexists(made[0].target) else []  # nothing is renamed, as the system says


def _remove_all(args: tuple[Any, ...]) -> Effect | None:
    made = _write("removing", args[0], args[1])
    return made if os.path.lexists(made.target) else None  # nothing is removed, as the system says


def _write(verb: str, path: Any, folder: Any = -1, *, follow: bool = True) -> Effect:
    name = f"/proc/self/fd/{path}" if isinstance(path, int) else _text(path)
    name = absolute(name, folder, follow=follow)
    return Effect("write", name, f"{verb} {name}")


def _database(args: tuple[Any, ...]) -> Effect | None:
    name = _text(args[0])
    if name in ("", ":memory:"):
        return None
    if name.startswith("file:"):
        if name.startswith("file::memory:") or "mode=memory" in name or "mode=ro" in name:
            return None
        from urllib.parse import unquote, urlsplit

        name = unquote(urlsplit(name).path)
    return _write("opening the database", name)


def _store(args: tuple[Any, ...]) -> Effect:
    return _write("opening the database", args[0])


#: Of what is made of single steps, each of which has an event of its own.
COMPOSED = ("shutil.copytree", "shutil.move")

#: Audit events of signals.
KILLS = ("os.kill", "os.killpg")

#: By audit event.
EFFECTS: dict[str, Read] = {
    "socket.connect": _connect,
    "socket.bind": _bind,
    "socket.sendto": _send,
    "socket.sendmsg": _send,
    "socket.getaddrinfo": _look_up,
    "socket.gethostbyname": _look_up,
    "socket.gethostbyaddr": _look_up,
    "subprocess.Popen": _popen,
    "os.system": _command,
    "os.exec": _command,
    "os.posix_spawn": _command,
    "os.spawn": _spawn,
    "os.startfile": _command,
    "pty.spawn": _command,
    "os.fork": _fork,
    "os.forkpty": _fork,
    "os.kill": _signal,
    "os.killpg": _signal_group,
    nativestores.OPENS: _store,
    "open": _open,
    "os.remove": _file("removing", folder=1),
    "os.rename": _rename,
    "os.mkdir": _mkdir,
    "os.rmdir": _file("removing the folder", folder=1),
    "os.link": _file("linking", at=1, folder=3),
    "os.symlink": _file("linking", at=1, folder=2),
    "os.truncate": _file("truncating"),
    "os.chmod": _file("changing the mode of", folder=2),
    "os.chown": _file("changing the owner of", folder=3),
    "os.utime": _file("changing the times of", folder=3),
    "os.setxattr": _file("changing an attribute of"),
    "os.removexattr": _file("changing an attribute of"),
    "os.mkfifo": _file("making", folder=2),
    "os.mknod": _file("making", folder=3),
    "shutil.rmtree": _remove_all,
    "shutil.move": _file("moving"),
    "shutil.copytree": _file("copying to", at=1),
    "sqlite3.connect": _database,
}


def absolute(path: str, folder: Any = -1, *, follow: bool = True) -> str:
    """The path as it would be found; `follow`: also where its last part is a link."""
    if isinstance(folder, int) and folder >= 0 and not os.path.isabs(path):  # noqa: PTH117
        try:
            path = os.path.join(os.readlink(f"/proc/self/fd/{folder}"), path)  # noqa: PTH115, PTH118
        except OSError:
            pass
    if follow:
        return os.path.realpath(path)
    parent, name = os.path.split(path)
    return os.path.join(os.path.realpath(parent), name)  # noqa: PTH118


_DEVICES = ("/dev/tty", "/dev/pts", "/dev/fd", "/dev/std", "/proc/self/fd")


def is_device(path: str) -> bool:
    """Terminals and the like, which keep nothing."""
    return path == os.devnull or path.startswith(_DEVICES)


def is_bytecode(path: str) -> bool:
    """What the import system itself writes."""
    return f"{os.sep}__pycache__{os.sep}" in path or os.path.basename(path) == "__pycache__"  # noqa: PTH119


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return os.fsdecode(value)
    try:
        return os.fsdecode(value)
    except TypeError:
        return str(value)
