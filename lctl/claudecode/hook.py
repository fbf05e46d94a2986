"""What Claude Code runs at each event: one line onto the session's spool.

Run as a file with `python -I -S`, so that it costs an interpreter's start and no more: it may import nothing
but the few modules of the standard library below, and nothing of lctl. It prints nothing and always exits
with 0: what a hook prints is read by the model, and some exit codes stop Claude Code.

A line is `{"at": <ns since the epoch>, "hook": <what came on standard input>}`. What names no event, as
Claude Code always does, leaves none.
"""

import json
import os
import sys
import time

# Any session id becomes a file name; a longer one than this could not be.
_LONGEST = 100
_ENDS = ("Stop", "SessionEnd")
_LATER = 0.3  # seconds


def main() -> None:
    if os.environ.get("LCTL_DISABLED", "").strip().lower() in ("1", "true", "yes", "on"):
        return
    at = time.time_ns()
    data = sys.stdin.buffer.read().strip()
    hook, raw = _read(data)
    if not hook.get("hook_event_name"):
        return
    session = hook.get("session_id")
    folder = _folder(hook)
    os.makedirs(folder, exist_ok=True)  # noqa: PTH103  (pathlib costs as much as all the rest)
    name = "".join(c if c.isalnum() or c in "-_" else "-" for c in str(session or "unnamed"))[:_LONGEST]
    _append(f"{folder}{os.sep}{name}.jsonl", b'{"at":%d,%s}\n' % (at, raw))
    if hook.get("hook_event_name") in _ENDS and not os.environ.get("LCTL_CLAUDE_NO_COLLECT"):
        _begin_collecting(folder, name)


def _read(data: bytes) -> "tuple[dict[str, object], bytes]":
    """What the hook was told, and the part of the line that says it."""
    try:
        value = json.loads(data)
        if not isinstance(value, dict):
            raise ValueError
    except ValueError:
        return {}, b""
    if b"\n" in data or b"\r" in data:
        data = json.dumps(value).encode()
    return value, b'"hook":' + data


def _folder(hook: "dict[str, object]") -> str:
    """`claude` in LCTL_DIR, else in `.lctl` of the project."""
    base = os.environ.get("LCTL_DIR")
    if not base:
        project = os.environ.get("CLAUDE_PROJECT_DIR") or str(hook.get("cwd") or os.getcwd())  # noqa: PTH109
        base = project + os.sep + ".lctl"
    return base + os.sep + "claude"


def _append(path: str, line: bytes) -> None:
    """The line whole, after whole lines: hooks that fire together wait for each other."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        try:
            import fcntl

            fcntl.flock(fd, fcntl.LOCK_EX)
        except (ImportError, OSError):
            pass  # no locks here: one write of an appended line is as much as there is
        size = os.fstat(fd).st_size
        if size:
            os.lseek(fd, size - 1, os.SEEK_SET)
            if os.read(fd, 1) != b"\n":
                line = b"\n" + line  # a hook was killed in the middle of its line
        while line:
            line = line[os.write(fd, line) :]
    finally:
        os.close(fd)


def _begin_collecting(folder: str, name: str) -> None:
    """Start what makes a log of the spool, and do not wait for it."""
    null = os.open(os.devnull, os.O_RDWR)
    try:
        actions = [(os.POSIX_SPAWN_DUP2, null, fd) for fd in (0, 1, 2)]
        arguments = [sys.executable, "-I", "-S", __file__, "collect", folder, name]
        os.posix_spawn(sys.executable, arguments, os.environ, file_actions=actions, setsid=True)
    finally:
        os.close(null)


def _collect(folder: str, name: str) -> None:
    """A moment later, when Claude Code has gone on and its own file is written; out of everybody's way."""
    os.nice(10)
    time.sleep(_LATER)
    arguments = [sys.executable, "-m", "lctl", "claude", "collect", "--folder", folder, name]
    os.execv(sys.executable, arguments)


if __name__ == "__main__":
    try:
        if sys.argv[1:2] == ["collect"]:
            _collect(*sys.argv[2:4])
        main()
    except BaseException:
        if os.environ.get("LCTL_DEBUG") == "1":
            raise
    os._exit(0)
