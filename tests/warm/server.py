"""`python -m tests.warm.server ADDRESS MODULES...`: programs run in processes it forks, with MODULES loaded.

A test's program takes a tenth of a second; to load the SDKs and the framework it uses takes one to eight.
Each process here is what the program's own would have been: its arguments, folder, environment, streams,
limits and `sys.path`, and modules are there once they are imported, one by one (`modules.py`). Who asks is
in `bootstrap/sitecustomize.py`.
"""

from __future__ import annotations

import gc
import marshal
import os
import selectors
import signal
import socket
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from tests.warm import own, program
from tests.warm.bootstrap.sitecustomize import likeness
from tests.warm.modules import Stash

#: Variables that decide how an interpreter starts, and what modules do while they are loaded.
_STEERING = (
    *("PYTHON", "LC_", "LANG", "SSL_", "OPENSSL_", "PYDANTIC_"),
    *("LCTL_OTEL", "OPENAI_LOG", "ANTHROPIC_LOG", "LITELLM_", "HAYSTACK_", "CREWAI_"),
)
_MAY_DIFFER = {"PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED"}
#: Among the MODULES: all of lctl's own that programs load.
_OWN = "lctl"
_REQUEST_BYTES = 1 << 21


class Server:
    """Answers those who come to `listener`. `serve` returns in each child, with what was asked of it."""

    def __init__(self, listener: socket.socket, modules: Mapping[str, ModuleType]) -> None:
        self._listener = listener
        self._modules = modules
        self._links: dict[int, socket.socket] = {}  # of who asked, by the number of the process
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ, self._accept)
        self._awake, self._waker = socket.socketpair()
        self._awake.setblocking(False)
        self._waker.setblocking(False)
        signal.set_wakeup_fd(self._waker.fileno())
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        self._selector.register(self._awake, selectors.EVENT_READ, self._reap)
        self._surroundings = _steering(dict(os.environ))
        self._likeness = likeness()

    def serve(self) -> dict[str, Any]:
        gc.collect()
        gc.freeze()
        while True:
            for key, _ in self._selector.select():
                request: dict[str, Any] | None = key.data(key.fileobj)
                if request is not None:
                    return request

    def _accept(self, listener: socket.socket) -> dict[str, Any] | None:
        link, _ = listener.accept()
        rights: list[int] = []
        try:
            data, rights, _, _ = socket.recv_fds(link, _REQUEST_BYTES, 3)
            request: dict[str, Any] = marshal.loads(data)
            child = self._fork() if self._suits(request) else None
        except (OSError, ValueError, EOFError):
            child = None
        if child == 0:
            self._leave(link)
            return {**request, "rights": rights}
        for fd in rights:
            os.close(fd)
        if child is None:
            link.close()  # it runs its program itself
            return None
        self._links[child] = link
        self._selector.register(link, selectors.EVENT_READ, lambda link: self._gone(child))
        link.send(str(child).encode())
        return None

    def _fork(self) -> int:
        """In a context of its own: what lctl sets for a forked child (its lane) is none of the program's.
        This module imports none for it: what is there before the program's modules is not one of them."""
        contexts: Any = self._modules.get("contextvars")
        child: int = os.fork() if contexts is None else contexts.Context().run(os.fork)
        return child

    def _suits(self, request: dict[str, Any]) -> bool:
        environ = request["environ"]
        return (
            request["like"] == self._likeness
            and _steering(environ) == self._surroundings
            and environ.get("PYTHONHASHSEED") in (None, os.environ.get("PYTHONHASHSEED"))
        )

    def _gone(self, child: int) -> None:
        """Who asked was killed: so is the program."""
        link = self._links.pop(child, None)
        if link is not None:
            self._selector.unregister(link)
            link.close()
            os.kill(child, signal.SIGKILL)

    def _reap(self, awake: socket.socket) -> None:
        try:
            awake.recv(4096)
        except BlockingIOError:
            pass
        while True:
            try:
                child, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not child:
                return
            self._end(child, status)

    def _end(self, child: int, status: int) -> None:
        link = self._links.pop(child, None)
        if link is None:
            return
        self._selector.unregister(link)
        try:
            link.send(str(status).encode())
        except OSError:
            pass  # who asked is gone
        link.close()

    def _leave(self, link: socket.socket) -> None:
        """In the child: nothing of the server is left open."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self._selector.close()
        for other in (link, self._listener, self._awake, self._waker, *self._links.values()):
            other.close()
        self._links.clear()


def _steering(environ: dict[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in environ.items()
        if name.startswith(_STEERING) and name not in _MAY_DIFFER
    }


def main(address: str, *names: str) -> None:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(address)
    listener.listen(64)
    os.write(1, b"ready\n")  # who comes waits until all is loaded
    stash = Stash()
    stash.load([*own.names(), *names] if _OWN in names else names)
    sys.meta_path.insert(0, stash)
    server = Server(listener, stash.modules)
    asked = server.serve()
    program.become(asked)
    own.begin(stash.modules)
    program.run(asked, program.Ending(stash))


if __name__ == "__main__":
    main(*sys.argv[1:])
