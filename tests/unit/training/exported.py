"""Rows of a talk in a form."""

from __future__ import annotations

from typing import Any

import orjson

from lctl.training.exporting import Export
from lctl.training.formats import FORMS
from tests.unit.training.fixtures import Talk

ROWS = tuple(FORMS)
Messages = list[dict[str, Any]]


def exported(talk: Talk, format: str, **options: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The rows and the manifest."""
    export = Export(talk.tree, format, **options)
    rows = [orjson.loads(piece) for piece in export.pieces()]
    return rows, export.manifest("x")


def call(id: str, arguments: Any) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": "grep", "arguments": arguments}}
