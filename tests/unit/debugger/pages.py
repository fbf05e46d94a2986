"""What an exported page holds, as the page itself takes it apart."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Mapping
from typing import Any


def held(page: str) -> dict[str, Any]:
    """The answers in the page, as the server would give them."""
    packed = re.search(r'<script id="lctl-data" type="application/gzip;base64">([^<]*)</script>', page)
    assert packed is not None
    found: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(packed[1])))
    for name in ("events", "call", "diffs", "exchanges"):
        found[name] = {key: json.loads(text) for key, text in found[name].items()}
    return unpacked({**found, "messages": [*map(json.loads, found["messages"])]})


def unpacked(data: Mapping[str, Any]) -> dict[str, Any]:
    """Messages and requests, which are there once, in all their places."""
    messages = data["messages"]

    def at(place: int | None) -> Any:
        return None if place is None else messages[place]

    def part(one: Any) -> Any:
        if isinstance(one, list):
            return {"kind": "same", "left": at(one[0]), "right": at(one[1]), "unified": [], "lost": 0}
        return {**one, "left": at(one["left"]), "right": at(one["right"])}

    def event(one: dict[str, Any]) -> dict[str, Any]:
        copy, exchanges = one["copy"], one["exchanges"]
        if "call" in copy:
            one = {**one, "copy": {"lctl": copy["lctl"], **data["copies"][str(copy["call"])]}}
        if isinstance(exchanges, int):
            one = {**one, "exchanges": data["exchanges"][str(exchanges)]}
        return one

    return {
        **data,
        "call": {
            step: {**one, "prompt": [*map(at, one["prompt"])], "answers": [*map(at, one["answers"])]}
            for step, one in data["call"].items()
        },
        "diffs": {key: {**one, "parts": [*map(part, one["parts"])]} for key, one in data["diffs"].items()},
        "events": {seq: event(one) for seq, one in data["events"].items()},
    }


def path_to(data: Mapping[str, Any], id: str) -> list[Any]:
    """The messages up to one, as the page follows them."""
    talk, messages = data["talk"], data["messages"]
    n = next(n for n, place in enumerate(talk["places"]) if messages[place]["id"] == id)
    found = []
    while n >= 0:
        found.append(messages[talk["places"][n]])
        n = talk["above"][n]
    return found[::-1]
