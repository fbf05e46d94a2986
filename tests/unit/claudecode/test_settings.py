"""`lctl claude`: hooks in Claude Code's settings, and out of them again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.claudecode.sessions import SESSION, fire, worked
from tests.unit.cli.conftest import Cli, lctl, place

__all__ = ["lctl", "place"]

_THEIRS: dict[str, Any] = {
    "permissions": {"allow": ["Bash(ls:*)"]},
    "hooks": {
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "./check.sh"}]}],
    },
}


def settings(place: Path, name: str = "settings.local.json") -> Path:
    path = place / ".claude" / name
    path.parent.mkdir(exist_ok=True)
    return path


def test_init_merges_is_idempotent_and_can_be_undone(place: Path, lctl: Cli) -> None:
    """What others have there stays, in its order; after remove the settings are as they were."""
    path = settings(place)
    path.write_text(json.dumps(_THEIRS))
    path.chmod(0o600)
    assert lctl("claude", "init").code == 0
    first = path.read_bytes()
    hooks = json.loads(first)["hooks"]
    assert hooks["PreToolUse"][0] == _THEIRS["hooks"]["PreToolUse"][0]
    assert hooks["PreToolUse"][1]["matcher"] == "*"
    assert set(hooks) >= {"SessionStart", "UserPromptSubmit", "PostToolUse", "SubagentStop", "SessionEnd"}
    assert "already" in lctl("claude", "init").out
    assert path.read_bytes() == first
    assert path.stat().st_mode & 0o777 == 0o600
    assert lctl("claude", "remove").code == 0
    assert json.loads(path.read_text()) == _THEIRS
    assert "no hooks" in lctl("claude", "remove").out


def test_a_hook_of_another_installation_is_replaced(place: Path, lctl: Cli) -> None:
    path = settings(place)
    old = {"type": "command", "command": "/old/python -I -S /old/lctl/claudecode/hook.py"}
    path.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [old]}]}}))
    lctl("claude", "init")
    assert "/old/" not in path.read_text()
    assert len(json.loads(path.read_text())["hooks"]["Stop"]) == 1


def test_a_file_that_was_not_there_is_gone_again(place: Path, lctl: Cli) -> None:
    for scope, name in (("local", "settings.local.json"), ("project", "settings.json")):
        assert lctl("claude", "init", "--scope", scope).code == 0
        assert settings(place, name).exists()
        assert lctl("claude", "remove", "--scope", scope).code == 0
        assert not settings(place, name).exists()


def test_the_users_own_settings(place: Path, lctl: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(place / "home"))
    assert lctl("claude", "init", "--scope", "user").code == 0
    assert "hook.py" in (place / "home" / "settings.json").read_text()


@pytest.mark.parametrize("text", ['{"hooks": ', "[]", '{"hooks": []}', '{"hooks": {"Stop": [1]}}'])
def test_settings_that_are_broken_are_left_alone(place: Path, lctl: Cli, text: str) -> None:
    path = settings(place)
    path.write_text(text)
    done = lctl("claude", "init")
    assert done.code == 2 and "left as it is" in done.err and done.err.count("\n") == 1
    assert path.read_text() == text


def test_status_collects_and_says_where_hooks_are(
    place: Path, lctl: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of a session that was killed before its turn ended."""
    monkeypatch.setenv("LCTL_CLAUDE_NO_COLLECT", "1")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(place / "home"))
    lctl("claude", "init")
    fire(worked(place).hooks[:-2], place)
    said = json.loads(lctl("claude", "status", "--json").out)
    assert [len(one["events"]) for one in said["hooks"]] == [12, 0, 0]
    (session,) = said["sessions"]
    assert (session["session"], session["hooks"], session["written"]) == (SESSION, 13, True)
    assert "file:parser.py" in lctl("show", "last").out
    assert "1 recorded session" in lctl("claude", "status").out


def test_a_session_that_is_not_there(place: Path, lctl: Cli) -> None:
    done = lctl("claude", "collect", "nowhere")
    assert done.code == 2 and "no hook of this session" in done.err
