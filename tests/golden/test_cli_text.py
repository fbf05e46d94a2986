"""What each command prints for fixed logs, into a pipe and on a terminal."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.golden import logs
from tests.golden.conftest import Golden
from tests.unit.cli.conftest import Cli, lctl, place

__all__ = ["lctl", "place"]  # fixtures


@pytest.fixture
def made(place: Path) -> Path:
    """The logs, in the working directory."""
    logs.written(place / "chain.lctl.json", logs.security_review())
    first, second = logs.versions()
    logs.written(place / "chain-v1.lctl.json", first, "v1")
    logs.written(place / "chain-v2.lctl.json", second, "v2")
    logs.written(place / "assistant.lctl.json", logs.assistant(), "assistant-1")
    logs.written(place / "conversation.lctl.json", logs.conversation(), "conversation-1")
    logs.written(place / "unfinished.lctl.json", logs.assistant()[:5], "assistant-2", closed=False)
    logs.written(place / "empty.lctl.json", [], "empty")
    logs.written(place / "one.lctl.json", logs.security_review()[:1], "one")
    logs.written(place / "unknown.lctl.json", logs.unknown_only(), "unknown")
    return place


COMMANDS = {
    "replay": "replay chain.lctl.json",
    "replay-to": "replay --to-seq 10 chain.lctl.json",
    "replay-range": "replay --from-seq 9 --to-seq 12 chain.lctl.json",
    "replay-filter": "replay --filter agent:security-* chain.lctl.json",
    "replay-types-full": "replay --types fact_added,checkpoint --full chain.lctl.json",
    "replay-assistant": "replay assistant.lctl.json",
    "show": "show chain.lctl.json",
    "show-call": "show assistant.lctl.json 12",
    "show-tool": "show assistant.lctl.json 11 --event",
    "show-state": "show chain.lctl.json 8 --state",
    "tail": "tail -n 3 chain.lctl.json",
    "stats": "stats chain.lctl.json",
    "stats-full": "stats --full assistant.lctl.json",
    "bottleneck": "bottleneck chain.lctl.json",
    "diff": "diff chain-v1.lctl.json chain-v2.lctl.json",
    "diff-same": "diff chain.lctl.json chain.lctl.json",
    "diff-far": "diff chain.lctl.json assistant.lctl.json",
    "verify": "verify chain.lctl.json",
    "validate": "validate chain.lctl.json",
    "convert-jsonl": "convert --to jsonl chain-v1.lctl.json",
    "convert-yaml": "convert --to yaml one.lctl.json",
    "tree": "tree conversation.lctl.json",
    "tree-to-seq": "tree --to-seq 20 conversation.lctl.json",
    "tree-review": "tree assistant.lctl.json",
    "branches": "branches conversation.lctl.json",
    "branches-diff": "branches conversation.lctl.json --diff a1 t1",
    "transcript": "transcript conversation.lctl.json",
    "export-csv": "export --format csv assistant.lctl.json",
    "export-chrome": "export --format chrome assistant.lctl.json",
    "export-report": "export --format report assistant.lctl.json",
    "export-transcript": "export --format transcript assistant.lctl.json",
    "export-steps": "export --format steps-csv assistant.lctl.json",
    "export-messages": "export --format messages assistant.lctl.json",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_into_a_pipe(name: str, made: Path, lctl: Cli, golden: Golden) -> None:
    """The text of a command when its output is not a terminal: no colour, nothing cut."""
    got = lctl(*COMMANDS[name].split())
    assert got.err == ""
    assert "\x1b" not in got.out
    golden(f"{name}.txt", got.out)


@pytest.mark.parametrize(
    "name", ["stats", "show", "show-call", "diff", "validate", "tail", "tree", "branches"]
)
def test_on_a_terminal(
    name: str, made: Path, lctl: Cli, golden: Golden, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same on a terminal of 80 columns, with colour; no line is longer than the terminal."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm-256color")
    got = lctl(*COMMANDS[name].split(), terminal=True)
    golden(f"{name}-terminal.txt", got.out)
    bare = re.sub(r"\x1b\[[0-9;]*m", "", got.out)
    assert "\x1b" not in bare


@pytest.mark.parametrize("log", ["empty", "one", "unknown", "unfinished"])
def test_unusual_logs(log: str, made: Path, lctl: Cli, golden: Golden) -> None:
    """An empty log, one event, only unknown types, a log that is not finished: each prints sensibly."""
    out = []
    for command in (
        "replay",
        "show",
        "tail",
        "stats",
        "bottleneck",
        "verify",
        "validate",
        "export --format report",
    ):
        got = lctl(*command.split(), f"{log}.lctl.json")
        assert got.code == 0, (command, got.err)
        out.append(f"$ lctl {command} {log}.lctl.json\n{got.out}{got.err}")
    golden(f"log-{log}.txt", "\n".join(out))
