"""The guard: nothing outside is touched in a rerun, and who tried is named."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import platform
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any

import pytest

from lctl.errors import UsageError
from lctl.rerun.guarding.auditing import Guard, SideEffectRefused
from lctl.session import LCTLSession, tool
from lctl.session.concurrency import lanes
from lctl.session.concurrency.lane import Lane
from tests.unit.rerun.sideeffects import ACTIONS


@pytest.fixture
def guard(tmp_path: Path, home: Path, listener: tuple[str, int]) -> Iterator[Guard]:
    guard = Guard(scratch=tmp_path / "scratch")
    guard.begin()
    yield guard
    guard.end()


@pytest.fixture
def listener() -> Iterator[tuple[str, int]]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    (home / "folder").mkdir(parents=True)
    (home / "file.txt").write_text("kept")
    return home


@pytest.mark.parametrize("name", ACTIONS)
def test_every_way_to_touch_a_file_is_refused(name: str, home: Path, tmp_path: Path) -> None:
    """Opening, moving, removing, linking, databases; by Path, os, shutil, descriptors."""
    before = sorted((str(path), path.read_bytes() if path.is_file() else b"") for path in home.rglob("*"))
    guard = Guard(scratch=tmp_path / "scratch")
    guard.begin()
    try:
        with pytest.raises(SideEffectRefused, match="this is a rerun") as raised:
            ACTIONS[name](home)
    finally:
        guard.end()
    after = sorted((str(path), path.read_bytes() if path.is_file() else b"") for path in home.rglob("*"))
    assert after == before
    assert guard.blocked
    assert all("sideeffects.py:" in text for text in guard.blocked)
    assert "--allow write:" in str(raised.value)
    assert "@lctl.tool" in str(raised.value)


def test_reading_and_temporary_files_are_free(guard: Guard, home: Path) -> None:
    assert (home / "file.txt").read_text() == "kept"
    with tempfile.NamedTemporaryFile("w") as file:
        file.write("x")
        assert Path(file.name).is_relative_to(guard.scratch or "")
    Path(tempfile.mkdtemp(), "a").write_text("b")
    with open(os.devnull, "w") as nothing:  # noqa: PTH123
        nothing.write("x")
    sqlite3.connect(":memory:").close()
    assert guard.blocked == ()


def test_a_link_does_not_lead_out_of_the_scratch_folder(guard: Guard, home: Path) -> None:
    assert guard.scratch is not None
    guard.end()
    (guard.scratch / "link").symlink_to(home)
    guard.begin()
    with pytest.raises(SideEffectRefused):
        (guard.scratch / "link" / "file.txt").write_text("x")
    with pytest.raises(SideEffectRefused):
        (guard.scratch / ".." / "home" / "file.txt").write_text("x")


def test_connections_are_refused(guard: Guard, listener: tuple[str, int]) -> None:
    """Connecting, looking up, sending, listening; from a thread too; the listener sees nobody."""
    seen: list[BaseException] = []

    def connect() -> None:
        try:
            socket.create_connection(listener)
        except OSError as error:
            seen.append(error)

    connect()
    thread = threading.Thread(target=connect)
    thread.start()
    thread.join()
    assert [type(error) for error in seen] == [SideEffectRefused] * 2
    with pytest.raises(SideEffectRefused, match=r"looking up lctl\.example"):
        socket.create_connection(("lctl.example", 80))
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender,
        pytest.raises(SideEffectRefused, match="sending to 127"),
    ):
        sender.sendto(b"x", listener)
    with pytest.raises(PermissionError, match="listening at"):
        socket.create_server(("0.0.0.0", 0))
    socket.create_server(("127.0.0.1", 0)).close()  # reaches nobody, and nobody from here reaches it
    assert any("test_guard.py:" in text and "in connect" in text for text in guard.blocked)
    assert any("(2 times)" in text for text in guard.blocked)


def test_what_asks_and_changes_nothing_is_free(guard: Guard, home: Path) -> None:
    """urllib3's question for IPv6, a folder that exists already, what `platform` asks for the processor."""
    with socket.socket(socket.AF_INET6) as probe:
        try:
            probe.bind(("::1", 0))
        except SideEffectRefused:
            raise
        except OSError:
            pass  # there is none here
    home.joinpath("sub").parent.mkdir(exist_ok=True)
    with pytest.raises(SideEffectRefused, match="making the folder"):
        home.joinpath("sub").mkdir()
    platform._Processor.from_subprocess()  # type: ignore[attr-defined]
    assert not any("uname" in text for text in guard.blocked)
    with pytest.raises(SideEffectRefused, match="uname"):
        subprocess.run(["uname", "-p"], check=False)


@pytest.mark.parametrize(
    ("told", "free"),
    [
        ("git -c safe.directory=/srv/shop rev-parse HEAD", True),
        ("git -C /srv/shop ls-remote --get-url", True),
        ("git -c core.pager=touch rev-parse HEAD", False),
        ("git -C /srv/shop commit -a", False),
    ],
)
def test_libraries_may_ask_git_where_they_are(guard: Guard, told: str, free: bool) -> None:
    """Tracers ask for the commit, and say in which folder."""
    names: dict[str, Any] = {"__name__": "ddtrace.gitmetadata", "run": subprocess.run}
    code = "def ask(words):\n    run(words, capture_output=True, check=False)\n"
    exec(compile(code, "/env/lib/python3/site-packages/ddtrace/gitmetadata.py", "exec"), names)
    if free:
        with contextlib.suppress(FileNotFoundError):  # no git here
            names["ask"](told.split())
    else:
        with pytest.raises(SideEffectRefused):
            names["ask"](told.split())


def test_what_tools_of_observability_try_is_refused_and_not_told(
    guard: Guard, listener: tuple[str, int]
) -> None:
    """In threads of their own they look for the cloud they run in, and send over sockets of their own."""
    token = lanes.enter(Lane("0").telling())
    try:
        with pytest.raises(SideEffectRefused, match="connecting"):
            socket.create_connection(listener)
    finally:
        lanes.leave(token)
    assert guard.blocked == ()
    with pytest.raises(SideEffectRefused, match="connecting"):
        socket.create_connection(listener)
    assert len(guard.blocked) == 1


def test_event_loops_and_pools_work(guard: Guard) -> None:
    """What Python does for itself is nobody's side effect."""

    async def main() -> int:
        return await asyncio.to_thread(sum, [1, 2])

    assert asyncio.run(main()) == 3
    left, right = socket.socketpair()
    left.close()
    right.close()
    with ProcessPoolExecutor(1) as pool:
        assert pool.submit(abs, -3).result() == 3
    assert guard.blocked == ()


def test_processes_are_refused(guard: Guard, home: Path) -> None:
    """Shells and commands; also a Python that our bootstrap would not reach."""
    target = home / "made"
    for start in (
        lambda: subprocess.run(["touch", str(target)], check=True),
        lambda: subprocess.run(f"touch {target}", shell=True, check=True),
        lambda: os.system(f"touch {target}"),
        lambda: subprocess.run([sys.executable, "-c", f"open({str(target)!r}, 'w')"], check=True),
        lambda: os.posix_spawn("/usr/bin/touch", ["touch", str(target)], {}),
    ):
        with pytest.raises(SideEffectRefused, match="--allow subprocess:"):
            start()
    assert not target.exists()


def test_signals_to_other_processes_are_refused(guard: Guard) -> None:
    """To itself and to its own children a program may send them, and ask whether a process is there."""
    for send in (os.kill, os.killpg):
        with pytest.raises(SideEffectRefused, match="--allow subprocess:signal"):
            send(os.getpgrp() if send is os.killpg else os.getppid(), signal.SIGWINCH)
    os.kill(os.getppid(), 0)
    os.kill(os.getpid(), signal.SIGWINCH)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        [child] = pool._pool  # type: ignore[attr-defined]
        os.kill(child.pid, signal.SIGWINCH)


def test_pythons_of_the_rerun_are_let_start(guard: Guard, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that inherit it, and are not told to leave out the bootstrap."""
    monkeypatch.setenv("LCTL_RERUN", "{}")
    clean = {"PATH": os.environ["PATH"]}
    with pytest.raises(SideEffectRefused):
        subprocess.run([sys.executable, "-c", ""], env=clean, check=True)
    for option in ("-I", "-sE", "-S"):
        with pytest.raises(SideEffectRefused):
            subprocess.run([sys.executable, option, "-c", ""], check=True)
    monkeypatch.setenv("PYTHONPATH", "")
    subprocess.run([sys.executable, "-X", "utf8", "-c", "import sys"], check=True)
    assert len(guard.blocked) == 4


@pytest.mark.parametrize(
    ("allow", "action"),
    [
        ("write", lambda home, address: (home / "file.txt").write_text("x")),
        ("write:{home}", lambda home, address: (home / "folder" / "new").write_text("x")),
        ("network", lambda home, address: socket.create_connection(address).close()),
        ("network:localhost", lambda home, address: socket.create_connection(address).close()),
        ("127.0.0.1", lambda home, address: socket.create_connection(address).close()),
        ("subprocess", lambda home, address: subprocess.run(["true"], check=True)),
        ("subprocess:true", lambda home, address: subprocess.run(["true"], check=True)),
    ],
)
def test_what_is_allowed_happens(
    allow: str, action: Callable[[Path, Any], Any], home: Path, listener: tuple[str, int], tmp_path: Path
) -> None:
    guard = Guard([allow.format(home=home)], tmp_path / "scratch")
    guard.begin()
    try:
        action(home, listener)
        with pytest.raises(SideEffectRefused):
            ACTIONS["Path.write_text"](tmp_path) if "write" not in allow else os.system("true")
    finally:
        guard.end()


def test_a_path_that_only_begins_alike_is_not_allowed(home: Path, tmp_path: Path) -> None:
    guard = Guard([f"write:{home / 'fold'}"], tmp_path / "scratch")
    guard.begin()
    try:
        with pytest.raises(SideEffectRefused):
            (home / "folder" / "x").write_text("x")
    finally:
        guard.end()


def test_an_allowance_of_nothing_is_an_error() -> None:
    with pytest.raises(UsageError, match="write:"):
        Guard(["write:"])


def test_the_tool_and_the_step_are_named(guard: Guard, home: Path, tmp_path: Path) -> None:
    """A tool that is run again because its result could not be kept."""

    @tool("ledger")
    def write_down() -> None:
        shutil.copy(home / "file.txt", home / "copy.txt")

    log = tmp_path / "scratch" / "c.lctl.json"
    with (
        LCTLSession("c", log) as session,
        session.step("planner", "plan"),
        pytest.raises(SideEffectRefused) as raised,
    ):
        write_down()
    assert "lctl run --tool tests.unit.rerun.test_guard:" not in str(raised.value)
    assert "in tool ledger, in step 1 of planner" in str(raised.value)
    assert "write_down" in guard.blocked[0]


@pytest.mark.parametrize("way", ["thread", "pool", "loop", "multiprocessing"])
def test_a_function_of_a_library_that_a_thread_runs_is_refused(
    way: str, guard: Guard, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of the program's own is on that thread's stack: what carries work into it is ours."""
    failed: list[BaseException | None] = []
    monkeypatch.setattr(threading, "excepthook", lambda args: failed.append(args.exc_value))
    file, moved = str(home / "file.txt"), str(home / "moved.txt")
    with LCTLSession("c", tmp_path / "scratch" / "c.lctl.json"):
        if way == "thread":
            thread = threading.Thread(target=shutil.move, args=(file, moved))
            thread.start()
            thread.join()
        elif way == "pool":
            with ThreadPoolExecutor(1) as pool:
                failed.append(pool.submit(os.rename, file, moved).exception())
        elif way == "loop":
            with pytest.raises(SideEffectRefused) as raised:
                asyncio.run(asyncio.to_thread(os.rename, file, moved))
            failed.append(raised.value)
        else:
            with ThreadPool(1) as threads, pytest.raises(SideEffectRefused) as raised:
                threads.apply(shutil.move, (file, moved))
            failed.append(raised.value)
    assert [type(error) for error in failed] == [SideEffectRefused]
    assert guard.blocked
    assert (home / "file.txt").exists()


def test_nothing_is_refused_after_the_end(home: Path, tmp_path: Path) -> None:
    guard = Guard()
    guard.begin()
    scratch = guard.scratch
    assert scratch is not None
    assert tempfile.gettempdir() == str(scratch)
    guard.end()
    assert not scratch.exists()
    assert tempfile.gettempdir() != str(scratch)
    (home / "file.txt").write_text("changed")
    subprocess.run(["true"], check=True)
