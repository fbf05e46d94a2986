"""The API's OpenAPI document, made of the types of its questions and answers."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import msgspec

from lctl._version import __version__
from lctl.debugger.asking import Route
from lctl.debugger.shapes.common import Failed
from lctl.debugger.shapes.findings import ForkConfirmed, ForkStop, ForkStopped
from lctl.debugger.table import ROUTES

_REF = "#/components/schemas/{name}"
_STREAMS = (
    ("get", "/api/live", "A run as it grows: events batch and note", None),
    ("get", "/api/runs/live", "The folder as it changes: events runs", None),
    ("post", "/api/fork/run", "Run a prepared fork: events started, output, ended", ForkConfirmed),
)


@cache
def document() -> dict[str, Any]:
    """OpenAPI 3.1."""
    types = [Failed, ForkConfirmed, ForkStop, ForkStopped]
    types += [route.answer for route in ROUTES if route.answer is not None]
    types += [route.asked for route in ROUTES if route.method == "POST"]
    schemas, components = msgspec.json.schema_components(types, ref_template=_REF)
    by_type = dict(zip(types, schemas, strict=True))
    paths: dict[str, Any] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, by_type)
    for method, path, summary, asked in _STREAMS:
        paths[path] = {method: _stream(summary, None if asked is None else by_type[asked])}
    stopped = {"summary": "Stop a fork that is run", "responses": _responses(by_type[ForkStopped], by_type)}
    paths["/api/fork/stop"] = {"post": {**stopped, "requestBody": _json(by_type[ForkStop])}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "lctl debugger", "version": __version__},
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _operation(route: Route, by_type: dict[Any, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {
        "summary": route.summary,
        "operationId": re.sub(r"\W+", "_", route.path.removeprefix("/api/").strip("{}")).strip("_"),
    }
    if route.method == "POST":
        made["requestBody"] = _json(by_type[route.asked])
    else:
        made["parameters"] = _parameters(route)
    if route.answer is None:
        failed = _json(by_type[Failed])
        made["responses"] = {
            "200": {"description": "its bytes", "content": {"*/*": {}}},
            "default": {"description": "why not", "content": failed["content"]},
        }
    else:
        made["responses"] = _responses(by_type[route.answer], by_type)
    return made


def _parameters(route: Route) -> list[dict[str, Any]]:
    schema = msgspec.json.schema(route.asked)
    while "$ref" in schema:
        schema = schema["$defs"][schema["$ref"].rsplit("/", 1)[-1]]
    required = set(schema.get("required", ()))
    return [
        {
            "name": name,
            "in": "path" if f"{{{name}}}" in route.path else "query",
            "required": name in required,
            "schema": one,
        }
        for name, one in schema.get("properties", {}).items()
    ]


def _responses(schema: Any, by_type: dict[Any, Any]) -> dict[str, Any]:
    return {
        "200": {"description": "the answer", "content": _json(schema)["content"]},
        "default": {"description": "why not", "content": _json(by_type[Failed])["content"]},
    }


def _json(schema: Any) -> dict[str, Any]:
    return {"required": True, "content": {"application/json": {"schema": schema}}}


def _stream(summary: str, asked: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "summary": summary,
        "responses": {"200": {"description": "server-sent events", "content": {"text/event-stream": {}}}},
    }
    return made if asked is None else {**made, "requestBody": _json(asked)}
