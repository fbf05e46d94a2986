"""Claude Code's settings file with lctl's hooks in it, and without.

What else is in the file stays as it is. A hook of ours is known by the file it runs.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Any, Literal

from lctl.claudecode import hook
from lctl.errors import LogError, UsageError

Scope = Literal["local", "project", "user"]

#: Events that have a tool's name to match, and those that have none.
_TOOL_EVENTS = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest")
_EVENTS = (
    "SessionStart", "UserPromptSubmit", *_TOOL_EVENTS, "Notification", "SubagentStart", "SubagentStop",
    "PreCompact", "Stop", "SessionEnd",
)  # fmt: skip
_MARK = "/claudecode/hook.py"
#: Seconds that Claude Code gives a hook.
_TIMEOUT = 10


def path_of(scope: Scope, project: Path | None = None) -> Path:
    """The settings file: this project's own and private one, the project's shared one, or the user's."""
    if scope == "user":
        return Path(os.environ.get("CLAUDE_CONFIG_DIR") or "~/.claude").expanduser() / "settings.json"
    folder = (project or Path.cwd()) / ".claude"
    return folder / ("settings.local.json" if scope == "local" else "settings.json")


def command() -> str:
    """What Claude Code's shell runs. An exit code of another program, as where this Python is gone, must not
    stop Claude Code."""
    return f"{shlex.quote(sys.executable)} -I -S {shlex.quote(str(Path(hook.__file__).resolve()))} || true"


def install(path: Path) -> bool:
    """Put the hooks into the file; False if they were there as they are now.

    Raises:
        UsageError: the file is not a settings file.
        LogError: it cannot be read or written.
    """
    settings = _read(path)
    wanted = command()
    if installed(path) == dict.fromkeys(_EVENTS, wanted):
        return False
    _without(settings)
    hooks = settings.setdefault("hooks", {})
    for event in _EVENTS:
        group: dict[str, Any] = {"hooks": [{"type": "command", "command": wanted, "timeout": _TIMEOUT}]}
        if event in _TOOL_EVENTS:
            group = {"matcher": "*", **group}
        hooks.setdefault(event, []).append(group)
    _write(path, settings)
    return True


def remove(path: Path) -> bool:
    """Take the hooks out; False if there were none. A file with nothing else in it goes, too.

    Raises:
        as `install`.
    """
    settings = _read(path)
    if not _without(settings):
        return False
    if settings:
        _write(path, settings)
    else:
        path.unlink()
    return True


def installed(path: Path) -> dict[str, str]:
    """The events that have a hook of ours, with the command.

    Raises:
        as `install`.
    """
    found: dict[str, str] = {}
    for event, groups in _hooks(_read(path), path).items():
        for group in groups:
            for one in group["hooks"]:
                if _is_ours(one):
                    found[event] = one["command"]
    return found


def _without(settings: dict[str, Any]) -> bool:
    """Take our hooks out of `settings`, with the lists that are empty then."""
    hooks: dict[str, Any] = settings.get("hooks", {})
    found = False
    for event, groups in list(hooks.items()):
        left = []
        for group in groups:
            kept = [one for one in group["hooks"] if not _is_ours(one)]
            if kept or not group["hooks"]:
                left.append({**group, "hooks": kept})
        if left != groups:
            found = True
            hooks[event] = left
            if not left:
                del hooks[event]
    if found and not hooks:
        del settings["hooks"]
    return found


def _is_ours(one: Any) -> bool:
    said = one.get("command") if isinstance(one, dict) else None
    return isinstance(said, str) and _MARK in said.replace("\\", "/")


def _read(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise LogError(f"{path}: cannot be read ({error})") from None
    try:
        value = json.loads(text) if text.strip() else {}
    except ValueError as error:
        raise UsageError(f"{path}: no JSON ({error}); it was left as it is") from None
    if not isinstance(value, dict):
        raise UsageError(f"{path}: no settings file, it holds no JSON object; it was left as it is")
    _hooks(value, path)
    return value


def _hooks(settings: dict[str, Any], path: Path) -> dict[str, list[dict[str, Any]]]:
    hooks = settings.get("hooks", {})
    fits = isinstance(hooks, dict) and all(
        isinstance(groups, list)
        and all(isinstance(group, dict) and isinstance(group.get("hooks"), list) for group in groups)
        for groups in hooks.values()
    )
    if not fits:
        raise UsageError(f"{path}: its 'hooks' are not as Claude Code has them; it was left as it is")
    return hooks  # type: ignore[no-any-return]


def _write(path: Path, settings: dict[str, Any]) -> None:
    """Whole or not at all, where the file really is, with the rights it had."""
    path = path.resolve()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fd, made = tempfile.mkstemp(dir=path.parent, prefix=".lctl-")
        try:
            with os.fdopen(fd, "w", encoding="utf-8") as file:
                file.write(json.dumps(settings, indent=2, ensure_ascii=False) + "\n")
            Path(made).chmod(path.stat().st_mode & 0o7777 if path.exists() else 0o644)
            Path(made).replace(path)
        except BaseException:
            Path(made).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise LogError(f"{path}: cannot be written ({(error.strerror or str(error)).lower()})") from None
