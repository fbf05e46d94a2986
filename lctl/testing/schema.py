"""Values that fit a JSON Schema, for structured output and tool arguments of seeded answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

_DEPTH = 6  # a recursive schema ends here, where it allows ending


def value_for(schema: Any, random: Random, words: Sequence[str], *, name: str = "") -> Any:
    """A value that fits `schema`, the same for the same `random` state.

    Covers what the providers' structured output takes: objects, arrays, enums, const, references,
    unions, numeric and length bounds, the common string formats. `words` give the texts.
    """
    return _Values(schema if isinstance(schema, dict) else {}, random, words).value(schema, name, 0)


class _Values:
    def __init__(self, root: Mapping[str, Any], random: Random, words: Sequence[str]) -> None:
        self.root = root
        self.random = random
        self.words = words or ("value",)

    def value(self, schema: Any, name: str, depth: int) -> Any:
        if not isinstance(schema, dict):
            return self.text({}, name)
        if "$ref" in schema:
            return self.value(self.resolve(schema["$ref"]), name, depth + 1)
        if "const" in schema:
            return schema["const"]
        if schema.get("enum"):
            return self.random.choice(schema["enum"])
        for union in ("anyOf", "oneOf"):
            if schema.get(union):
                return self.value(self.pick(schema[union], depth), name, depth + 1)
        if schema.get("allOf"):
            merged: dict[str, Any] = {}
            for part in schema["allOf"]:
                merged |= self.resolve(part["$ref"]) if "$ref" in part else part
            return self.value(merged, name, depth + 1)
        return self.typed(self.kind(schema, depth), schema, name, depth)

    def kind(self, schema: Mapping[str, Any], depth: int) -> str:
        kind = schema.get("type")
        if isinstance(kind, list):
            return (
                "null"
                if depth >= _DEPTH and "null" in kind
                else next((k for k in kind if k != "null"), "null")
            )
        if kind is None:
            return "object" if "properties" in schema else "array" if "items" in schema else "string"
        return str(kind)

    def typed(self, kind: str, schema: Mapping[str, Any], name: str, depth: int) -> Any:
        match kind:
            case "object":
                wanted = schema.get("properties") or {}
                required = schema.get("required", ())
                kept = wanted if depth < _DEPTH else {k: v for k, v in wanted.items() if k in required}
                return {key: self.value(inner, key, depth + 1) for key, inner in kept.items()}
            case "array":
                least = int(schema.get("minItems") or 0)
                most = min(int(schema.get("maxItems") or 3), max(least, 3))
                count = least if depth >= _DEPTH else self.random.randint(min(max(least, 1), most), most)
                return [self.value(schema.get("items"), name, depth + 1) for _ in range(count)]
            case "integer":
                return self.random.randint(*_integers(schema))
            case "number":
                low, high = _bounds(schema, 0.0, 1.0)
                return round(self.random.uniform(low, high), 2) if high - low > 0.02 else low
            case "boolean":
                return self.random.random() < 0.5
            case "null":
                return None
        return self.text(schema, name)

    def text(self, schema: Mapping[str, Any], name: str) -> str:
        known = _FORMATS.get(str(schema.get("format")))
        if known is not None:
            return known
        few = self.random.sample(list(self.words), min(len(self.words), 3))
        text = " ".join(few)
        least, most = int(schema.get("minLength") or 0), schema.get("maxLength")
        while len(text) < least:
            text += f" {self.random.choice(self.words)}"
        return text if most is None else text[: int(most)]

    def pick(self, options: Sequence[Any], depth: int) -> Any:
        plain = [o for o in options if isinstance(o, dict) and o.get("type") != "null"]
        if depth >= _DEPTH or not plain:
            ends = [o for o in options if isinstance(o, dict) and "$ref" not in o]
            return (ends or options)[-1]
        return self.random.choice(plain)

    def resolve(self, reference: str) -> dict[str, Any]:
        found: Any = self.root
        for key in reference.lstrip("#").strip("/").split("/"):
            found = found.get(key.replace("~1", "/").replace("~0", "~"), {}) if key else found
        return found if isinstance(found, dict) else {}


def _bounds(schema: Mapping[str, Any], low: float, span: float) -> tuple[float, float]:
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    least = schema.get("minimum", above)
    most = schema.get("maximum", below)
    if least is None:
        least = min(low, most - span) if most is not None else low
    if most is None:
        most = least + span
    return float(least), float(most)


def _integers(schema: Mapping[str, Any]) -> tuple[int, int]:
    low, high = _bounds(schema, 1, 99)
    least, most = int(low), int(high)
    least += schema.get("exclusiveMinimum") == least
    most -= schema.get("exclusiveMaximum") == most
    return least, max(least, most)


_FORMATS = {
    "date": "2026-03-14",
    "time": "15:09:26",
    "date-time": "2026-03-14T15:09:26Z",
    "email": "ada@example.com",
    "uri": "https://example.com/a",
    "url": "https://example.com/a",
    "uuid": "3f2b8c1e-5a4d-4e6f-9b7a-0c1d2e3f4a5b",
    "ipv4": "192.0.2.7",
    "hostname": "example.com",
}
