"""Tool definitions of every dialect as functions, the form most trainers read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from lctl.values import dicts, items

Data = Mapping[str, Any]

#: Types as Google's schemas spell them.
_TYPES = frozenset({"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"})


def functions(definitions: object, lost: Counter[str]) -> list[dict[str, Any]]:
    """The tools that are functions; others are counted in `lost`."""
    made: list[dict[str, Any]] = []
    for definition in items(definitions):
        made += _functions(definition, lost)
    return made


def _functions(definition: Any, lost: Counter[str]) -> Iterator[dict[str, Any]]:
    if not isinstance(definition, Mapping):
        lost["tool"] += 1
        return
    inner, bedrock = definition.get("function"), definition.get("toolSpec")
    declared = definition.get("functionDeclarations") or definition.get("function_declarations")
    if isinstance(inner, Mapping):
        yield _function(inner, inner.get("parameters"))
    elif isinstance(bedrock, Mapping):
        schema = bedrock.get("inputSchema")
        yield _function(bedrock, schema.get("json") if isinstance(schema, Mapping) else None)
    elif isinstance(declared, list):
        for one in dicts(declared):
            schema = one.get("parametersJsonSchema") or one.get("parameters_json_schema")
            yield _function(one, schema or _lowered(one.get("parameters")))
    elif "input_schema" in definition and definition.get("type", "custom") == "custom":
        yield _function(definition, definition["input_schema"])
    elif definition.get("type", "function") == "function" and "name" in definition:
        yield _function(definition, definition.get("parameters"))
    elif "cachePoint" in definition:
        lost["cache_control"] += 1
    else:
        lost[f"tool {definition.get('type') or next(iter(definition), 'of no known form')}"] += 1


def _function(said: Data, parameters: Any) -> dict[str, Any]:
    function = {key: said[key] for key in ("name", "description", "strict") if said.get(key) is not None}
    known = isinstance(parameters, Mapping)
    function["parameters"] = dict(parameters) if known else {"type": "object", "properties": {}}
    return {"type": "function", "function": function}


def _lowered(schema: Any) -> Any:
    """A schema with its types in JSON Schema's words: Google spells them in capitals."""
    if not isinstance(schema, Mapping):
        return schema
    made = dict(schema)
    if made.get("type") in _TYPES:
        made["type"] = made["type"].lower()
    for key in ("items", "additionalProperties"):
        made |= {key: _lowered(made[key])} if key in made else {}
    if isinstance(made.get("properties"), Mapping):
        made["properties"] = {name: _lowered(one) for name, one in made["properties"].items()}
    if isinstance(made.get("anyOf"), list):
        made["anyOf"] = [_lowered(one) for one in made["anyOf"]]
    return made
