"""What uvloop's loops do in a rerun. They connect, send, look up and start processes by libuv, of which no
audit hook of Python's is told: each is told as asyncio's own loops do, and refused or let through as theirs.

Sockets that the program made itself (`sock=`, `sock_connect`) connect by Python; servers are its own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from lctl.instrument.ambient import slots
from lctl.instrument.patches import PatchSet
from lctl.rerun.guarding.unheard import Unheard

_Arguments = tuple[Any, ...]
_Named = dict[str, Any]


def libuv() -> Unheard:
    """What tells of that."""
    return Unheard(("uvloop",), _patch)


def _patch(module: ModuleType, patches: PatchSet) -> None:
    for name, tell in _TELLS.items():
        patches.wrap(module, f"Loop.{name}", _telling(tell))
    _watch_datagrams(sys.modules["uvloop.loop"])


def _watch_datagrams(module: ModuleType) -> None:
    """Of endpoints that are connected to nobody: who says where each datagram goes. Without a guard that is
    told to nobody who listens, so it stays."""
    kind: Any = getattr(module, "UDPTransport", None)
    real = getattr(kind, "sendto", None)
    if real is None or isinstance(real, FunctionType) or not slots.can_replace_in_types():
        return

    def sendto(self: Any, data: Any, addr: Any = None) -> None:
        if addr is not None:
            sys.audit("socket.sendto", None, addr)
        real(self, data, addr)

    slots.replace_in_type(kind, "sendto", slots.like(sendto, real))


def _telling(tell: Callable[[_Arguments, _Named], None]) -> Any:
    def told(wrapped: Any, loop: Any, args: _Arguments, kwargs: _Named) -> Any:
        tell(args, kwargs)
        return wrapped(*args, **kwargs)

    return told


def _connection(args: _Arguments, kwargs: _Named) -> None:
    """`create_connection(protocol_factory, host, port, ...)`."""
    host, port = (_given(args, kwargs, at, name) for at, name in ((1, "host"), (2, "port")))
    if host is not None or port is not None:
        _connect(host, port)


def _unix_connection(args: _Arguments, kwargs: _Named) -> None:
    """`create_unix_connection(protocol_factory, path, ...)`."""
    path = _given(args, kwargs, 1, "path")
    if path is not None:
        sys.audit("socket.connect", None, path)


def _datagrams(args: _Arguments, kwargs: _Named) -> None:
    """`create_datagram_endpoint(protocol_factory, local_addr, remote_addr, ...)`."""
    address = _given(args, kwargs, 2, "remote_addr")
    if isinstance(address, tuple) and len(address) > 1:
        _connect(*address[:2])
    elif address is not None:
        sys.audit("socket.connect", None, address)


def _look_up(args: _Arguments, kwargs: _Named) -> None:
    """`getaddrinfo(host, port, ...)`."""
    host, port = (_given(args, kwargs, at, name) for at, name in ((0, "host"), (1, "port")))
    sys.audit("socket.getaddrinfo", host, port, 0, 0, 0)


def _program(args: _Arguments, kwargs: _Named) -> None:
    """`subprocess_exec(protocol_factory, *words, ...)`."""
    _start(list(args[1:]), kwargs)


def _shell(args: _Arguments, kwargs: _Named) -> None:
    """`subprocess_shell(protocol_factory, line, ...)`."""
    _start(["/bin/sh", "-c", _given(args, kwargs, 1, "cmd")], kwargs)


def _start(words: list[Any], kwargs: _Named) -> None:
    executable = kwargs.get("executable") or words[0]
    sys.audit("subprocess.Popen", executable, words, kwargs.get("cwd"), kwargs.get("env"))


def _connect(host: Any, port: Any) -> None:
    sys.audit("socket.getaddrinfo", host, port, 0, 0, 0)
    sys.audit("socket.connect", None, ("127.0.0.1" if host in (None, "") else host, port))


def _given(args: _Arguments, kwargs: _Named, at: int, name: str) -> Any:
    return args[at] if len(args) > at else kwargs.get(name)


_TELLS: dict[str, Callable[[_Arguments, _Named], None]] = {
    "create_connection": _connection,
    "create_unix_connection": _unix_connection,
    "create_datagram_endpoint": _datagrams,
    "getaddrinfo": _look_up,
    "subprocess_exec": _program,
    "subprocess_shell": _shell,
}
