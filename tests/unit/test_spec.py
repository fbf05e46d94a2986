"""The specification, its schema, its vectors and the code say the same."""

from __future__ import annotations

import json
import os
import re
import runpy
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from lctl.codec import open_log, validate
from lctl.events import CORE_TYPES, TAPE_TYPES, Event
from lctl.payloads import PAYLOADS, check
from tests.unit.codec.samples import SPEC_EVENTS
from tests.unit.test_payloads import SPEC_FRAGMENTS, WRITERS, WRONG

ROOT = Path(__file__).parents[2]
SPEC = ROOT / "spec"
TEXT = (SPEC / "lctl-4.0.md").read_text(encoding="utf-8")
VECTORS = sorted((SPEC / "vectors").glob("*.json"))
SHARED = Path(os.environ.get("LCTL_SHARED", ROOT.parent / "shared"))
ORIGINAL = SHARED / "seeds" / "003-lctl-v4-spec.txt"


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((SPEC / "lctl-4.0.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(loaded)
    return loaded


def test_the_schema_is_what_the_code_generates() -> None:
    """After a change of a payload: python spec/generate.py"""
    generated = runpy.run_path(str(SPEC / "generate.py"))["text"]()
    assert (SPEC / "lctl-4.0.schema.json").read_text() == generated


def valid(schema: dict[str, Any], event: dict[str, Any]) -> bool:
    document = {"lctl": "4.0", "chain": {"id": "x"}, "events": [event]}
    return bool(jsonschema.Draft202012Validator(schema).is_valid(document))


def test_schema_and_check_agree(schema: dict[str, Any]) -> None:
    """What one finds fault with the other does, and they pass the same."""
    good = [
        *SPEC_FRAGMENTS,
        *WRITERS,
        *((e["type"], e["data"]) for e in SPEC_EVENTS),
        ("llm_trace", {"x": 1}),
    ]
    for type, data in good:
        assert valid(schema, {"seq": 1, "type": type, "data": data, "unknown": 1}), (type, data)
    for type, data, _ in WRONG:
        assert not valid(schema, {"seq": 1, "type": type, "data": data}), (type, data)
    for key, value in (("agent", 5), ("timestamp", "now"), ("timestamp", 5), ("step", "one"), ("data", None)):
        event = {"seq": 1, "type": "x", key: value}
        assert not valid(schema, event)
        assert check(Event.from_dict(event))


def test_the_text_names_every_type_and_every_key() -> None:
    """Annex B lists what the payloads have, no less and no more types."""
    annex = TEXT[TEXT.index("## B.") : TEXT.index("## C.")]
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", annex, re.MULTILINE))
    assert set(rows) == set(PAYLOADS)
    schema = json.loads((SPEC / "lctl-4.0.schema.json").read_text())
    for type, kind in PAYLOADS.items():
        definition = schema["$defs"][kind.__name__]
        for key in definition["properties"]:
            assert re.search(rf"\b{key}\b", rows[type]), f"{type}.{key} is not in annex B"
        for key in definition["required"]:
            assert f"`{key}`!" in rows[type], f"{type}.{key} is required"


def test_the_example_opens_as_the_events_it_shows() -> None:
    """Part 2 of the protocol, as printed, is a log without a problem."""
    example = next(block for block in blocks(TEXT, "yaml") if "security-review-001" in block)
    log = open_log(example.encode())
    assert [e.to_dict() for e in log.events()] == SPEC_EVENTS
    assert log.id == "security-review-001"
    assert validate(log) == []


def snippets_run(text: str) -> None:
    """The three functions of Part 2, as printed, on events that lctl read."""
    example = next(block for block in blocks(text, "yaml") if "security-review-001" in block)
    events = [e.to_dict() for e in open_log(example.encode()).events()]
    seen: list[int] = []
    names: dict[str, Any] = {"apply_event": lambda state, event: seen.append(event["seq"])}
    exec(next(block for block in blocks(text, "python") if "def replay_to" in block), names)
    assert names["replay_to"](events, 3) == {"facts": {}, "agents": [], "current_step": None}
    assert seen == [1, 2, 3]
    assert [e["seq"] for e in names["events_to_trace"](events)] == [1, 4, 6]
    assert names["events_to_metrics"](events) == {
        "total_duration": 30050,
        "total_tokens": 700,
        "error_count": 0,
    }


def test_the_functions_of_the_text_run_as_printed() -> None:
    """Anyone may copy them and give them what lctl reads."""
    snippets_run(TEXT)


@pytest.mark.skipif(not ORIGINAL.exists(), reason=f"the original text is not at {ORIGINAL}")
def test_the_original_text_runs_as_printed() -> None:
    """The same of the protocol's first text, and every YAML log in it opens."""
    original = ORIGINAL.read_text(encoding="utf-8")
    snippets_run(original)
    opened = 0
    for block in blocks(original, "yaml"):
        if not re.search(r"^(events:|- seq:)", block, re.MULTILINE) or "|" in block:
            continue
        log = open_log(block.encode())
        assert len(log) > 0
        assert all(not check(event) for event in log.events())
        opened += 1
    assert opened >= 7


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: path.stem)
def test_a_vector_is_a_valid_log_with_a_state_for_each_event(path: Path, schema: dict[str, Any]) -> None:
    """Its log opens without a problem (but those it is about), and each seq has what is compared."""
    vector = json.loads(path.read_text(encoding="utf-8"))
    assert vector["name"] == path.stem
    assert vector["about"]
    log = open_log(json.dumps(vector["log"]).encode())
    assert log.problems == []
    if vector["name"] not in ("unknown", "facts-modified"):  # those show data that does not fit
        jsonschema.Draft202012Validator(schema).validate(vector["log"])
        assert validate(log) == []
    assert [entry["seq"] for entry in vector["expect"]] == [event.seq for event in log.events()]
    for n, entry in enumerate(vector["expect"], 1):
        assert entry.keys() >= {"seq", "facts", "open_steps", "steps", "totals"}
        assert entry["totals"]["events"] == n
        assert set(map(str, entry["open_steps"])) <= set(entry["steps"])
        still = {int(seq) for seq, step in entry["steps"].items() if step["end_seq"] is None}
        assert still == set(entry["open_steps"])


def test_every_family_has_a_vector() -> None:
    """No family of the protocol is without one."""
    used = {event["type"] for path in VECTORS for event in json.loads(path.read_text())["log"]["events"]}
    assert used >= CORE_TYPES | TAPE_TYPES
    assert used >= {"stream_start", "stream_chunk", "stream_end", "message"}
