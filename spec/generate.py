"""Writes `lctl-4.0.schema.json` from the payload structs: python spec/generate.py

The schema is for other languages and editors; lctl itself never reads it. A test compares it with the
code, so a change of a payload without this command does not pass.
"""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from typing import Any

import msgspec

from lctl.payloads import PAYLOADS

TARGET = Path(__file__).with_name("lctl-4.0.schema.json")
#: Keys of the log that are words of Python.
_RENAMED = {"from_agent": "from", "to_agent": "to"}
_TIME = r"^$|^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:?\d\d)?$"


def schema() -> dict[str, Any]:
    """A log as one JSON document. What is not named is allowed: unknown types, unknown keys."""
    kinds, components = msgspec.json.schema_components(PAYLOADS.values(), ref_template="#/$defs/{name}")
    payloads = dict(zip(PAYLOADS, kinds, strict=True))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:lctl:4.0",
        "title": "LCTL 4.0",
        "description": "A log: the chain it belongs to and its events, numbered without a gap.",
        "type": "object",
        "properties": {
            "lctl": {"type": "string", "pattern": r"^4\.\d+$"},
            "chain": {"$ref": "#/$defs/Chain"},
            "events": {"type": "array", "items": {"$ref": "#/$defs/Event"}},
            "state": {"type": "object", "description": "What a fold of the events gives; derived."},
            "summary": {"type": "object", "description": "Counts and sums for listings; derived."},
            "hash": {"$ref": "#/$defs/Hash"},
        },
        "required": ["lctl", "chain", "events"],
        "$defs": {
            "Chain": _chain(),
            "Event": _event(payloads),
            "Hash": _hash(),
            **{name: _described(components[name]) for name in sorted(components)},
        },
    }


def _chain() -> dict[str, Any]:
    parent = {
        "type": "object",
        "description": "The chain this one was forked from (its first event is parent.seq + 1), or whose "
        "program started its own.",
        "properties": {
            "id": {"type": "string"},
            "seq": {"type": "integer", "minimum": 0},
            "run": {
                "type": "string",
                "description": "Which chain of that id: the beginning of the SHA-256 of its seed.",
            },
        },
        "required": ["id", "seq"],
    }
    return {
        "type": "object",
        "properties": {"id": {"type": "string"}, "name": {"type": "string"}, "parent": parent},
        "required": ["id"],
    }


def _event(payloads: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "description": "One numbered entry. `step` is the seq of the step_start it happened in; on a "
        "step_start that of the step around it; on a step_end that of the step it ends.",
        "properties": {
            "seq": {"type": "integer", "minimum": 1},
            "type": {"type": "string", "minLength": 1, "examples": list(payloads)},
            "timestamp": {"type": "string", "pattern": _TIME},
            "agent": {"type": "string"},
            "step": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "data": {"type": "object"},
        },
        "required": ["seq", "type"],
        "allOf": [
            {
                "if": {"properties": {"type": {"const": name}}, "required": ["type"]},
                "then": {"properties": {"data": reference}},
            }
            for name, reference in payloads.items()
        ],
    }


def _hash() -> dict[str, Any]:
    return {
        "type": "object",
        "description": "SHA-256 over each event line followed by a line feed, commas left out.",
        "properties": {
            "algorithm": {"type": "string"},
            "events": {"type": "string"},
            "count": {"type": "integer", "minimum": 0},
        },
        "required": ["algorithm", "events", "count"],
    }


def _described(component: dict[str, Any]) -> dict[str, Any]:
    """Moves what a docstring says of each attribute to that attribute."""
    about, _, attributes = inspect.cleandoc(component["description"]).partition("\n\nAttributes:\n")
    component["description"] = " ".join(about.split())
    for entry in re.split(r"\n(?=    \w)", "\n" + attributes):
        names, _, said = entry.strip().partition(": ")
        for name in filter(None, names.split(", ")):
            component["properties"][_RENAMED.get(name, name)]["description"] = " ".join(said.split())
    return component


def text() -> str:
    return json.dumps(schema(), indent=2) + "\n"


if __name__ == "__main__":
    TARGET.write_text(text())
