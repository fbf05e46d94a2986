"""Values of any type at any place of a log: no command breaks off, and none calls it a bug of its own."""

from __future__ import annotations

import copy
import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from lctl.events import EventType
from tests.seeds import some
from tests.unit.cli.conftest import Cli, Result
from tests.unit.cli.richlog import CHAIN, SUMMARY, rich

#: Odd values in one log.
_MANY = 60
TABLES = ("facts", "steps", "tools", "messages", "errors", "events")
FORMS = (
    *("json", "yaml", "csv", "steps-csv", "chrome", "html", "report", "transcript", "messages", "otlp"),
    *("calls", "openai", "hf", "axolotl", "sharegpt", "dpo", "dpo-openai", "kto", "markdown", "samples-html"),
)
COMMANDS = [
    *("replay {}", "replay {} --json", "replay {} --full", "replay {} --to-seq 5 --json"),
    *("replay {} --filter data.tool:grep", "show {}", "show {} --json", "show {} 8", "show {} 31 --json"),
    *("tail {}", "tail {} --json", "stats {}", "stats {} --full --json", "bottleneck {}"),
    *("bottleneck {} --full --json", "diff odd.json {} --full", "diff {} {} --json", "tree {}"),
    *("tree {} --json", "branches {}", "branches {} --json", "transcript {}", "transcript {} --json"),
    *("what-if {} --drop 3", "what-if {} --drop 11 --json", "what-if {} --at 23 --set data.confidence=0.3"),
    *("confidence {} --causes", "confidence {} --plot", "confidence {} --json", "errors {}"),
    *("errors {} --json", "agents {}", "agents {} --json", "verify {}", "validate {}", "validate {} --json"),
    *(
        "samples {}",
        "samples {} --to-seq 9 --json",
        "doctor --no-import {}",
        "query {} --json SELECT_*_FROM_facts",
    ),
    *(f"query {{}} --csv SELECT_*_FROM_{one}" for one in TABLES),
    *(f"convert {{}} --to {form}" for form in ("json", "jsonl", "yaml")),
    *(f"export {{}} -f {form}" for form in FORMS),
    *(f"export {{}} --partial -f {form}" for form in ("transcript", "messages")),
    "export {} -f otlp-proto -o odd.bin",
]
if importlib.util.find_spec("pyarrow") is not None:
    COMMANDS.append("export {} -f parquet -o odd.parquet")

_ABSENT = object()
#: What may stand where something else is meant.
ODD: tuple[Any, ...] = ("text", 7, 2**70, ["x"], {"a": 1}, None, _ABSENT)

Path_ = tuple[Any, ...]
Change = tuple[Path_, Any]


def _places(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """Every place in a value, itself first."""
    yield path
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield from _places(inner, (*path, key))


def _document() -> dict[str, Any]:
    return {"lctl": "4.0", "chain": CHAIN, "events": rich(), "summary": SUMMARY}


def _changes() -> list[Change]:
    """Each place of the log with each odd value, in an order that mixes them."""
    places = [path for path in _places(_document()) if len(path) > 1 and path[2:] != ("seq",)]
    found = [(path, odd) for path in places for odd in ODD]
    Random(1).shuffle(found)
    return found


def _changed(changes: list[Change]) -> dict[str, Any]:
    """The log with some of them, as far as one leaves room for the next."""
    made: Any = copy.deepcopy(_document())
    for (*way, last), odd in changes:
        held = made
        for key in way:
            held = held[key] if _has(held, key) else None
        if _has(held, last) and odd is not _ABSENT:
            held[last] = odd
        elif _has(held, last) and isinstance(held, dict):
            del held[last]
    return made  # type: ignore[no-any-return]


def _has(held: Any, key: Any) -> bool:
    if isinstance(held, list):
        return isinstance(key, int) and key < len(held)
    return isinstance(held, dict) and key in held


def _journal(made: dict[str, Any]) -> str:
    """As lctl writes a log, closed: an event a line."""
    head = json.dumps({"lctl": made["lctl"], "chain": made["chain"]}, separators=(",", ":"))
    lines = ",\n".join(json.dumps(event, separators=(",", ":")) for event in made["events"])
    seal = {"algorithm": "sha256", "events": "0" * 64, "count": len(made["events"])}
    tail = json.dumps({"state": {}, "summary": made["summary"], "hash": seal}, separators=(",", ":"))
    return f'{head[:-1]},"events":[\n{lines}\n],{tail[1:]}\n'


def _told(lctl: Cli, place: Path, text: str) -> Iterator[tuple[str, Result]]:
    (place / "log.lctl.json").write_text(text)
    for command in COMMANDS:
        yield (
            command,
            lctl(*(word.replace("_", " ") for word in command.replace("{}", "log.lctl.json").split())),
        )


def _survive(lctl: Cli, place: Path, text: str, changes: list[Change]) -> None:
    for command, got in _told(lctl, place, text):
        assert got.code in (0, 1, 2, 3), (command, got.err, changes)
        assert "Traceback" not in got.err


@pytest.fixture
def other(place: Path) -> Path:
    (place / "odd.json").write_text(_journal(_document()))
    return place


def test_the_log_is_rich() -> None:
    """An event of each type; a new one belongs in it."""
    assert {event["type"] for event in rich()} == {str(one) for one in EventType}


def test_every_command_reads_it_as_it_is(other: Path, lctl: Cli) -> None:
    """Else the rest of this file says little."""
    for command, got in _told(lctl, other, _journal(_document())):
        assert got.code in (0, 1), (command, got.err)


def test_odd_values_here_and_there(other: Path, lctl: Cli) -> None:
    """A sample of the places and values of the next test: many in a log, once a line each, once in all."""
    changes = _changes()
    _survive(lctl, other, _journal(_changed(changes[:20])), changes[:20])
    _survive(lctl, other, json.dumps(_changed(changes[-20:])), changes[-20:])


@pytest.mark.slow
@pytest.mark.parametrize("part", range(2))
def test_every_odd_value_at_every_place(part: int, other: Path, lctl: Cli) -> None:
    """Some at a time, so that most of each log is as it should be and is read. LCTL_ODDS asks for a part of
    the logs (see `tests.seeds`)."""
    changes = _changes()
    for first in some(range(part * _MANY, len(changes), 2 * _MANY), "LCTL_ODDS"):
        few = changes[first : first + _MANY]
        _survive(lctl, other, _journal(_changed(few)), few)
