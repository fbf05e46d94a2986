"""Files of rows, each a conversation: every row is read by its own shape, whatever the others are.

`lctl export -f hf` writes lists of messages and prompts with their completions into one file.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple

from lctl.errors import NotImportable
from lctl.importing.draft import Draft
from lctl.importing.source import Source


class Place(NamedTuple):
    """Where a row's conversation is put.

    Attributes:
        number: which of the file's it is, from 1; None of the only one.
        trains: the file's rows are training data: what an answer is worth that says nothing of it.
    """

    number: int | None
    trains: bool


#: Reads a row that has the shape: into the draft, at its place.
Reader = Callable[[Draft, Place], None]
_SHAPES = ("sharegpt", "trainingrows", "messagelists")


def read_rows(source: Source, draft: Draft, own: str, missing: str, wanted: str) -> None:
    """Every row by its shape, that of the module `own` before the others; those of none are lost.

    Raises:
        NotImportable: no row has any.
    """
    modules = [
        import_module(f"lctl.importing.{name}") for name in sorted(_SHAPES, key=lambda one: one != own)
    ]
    found: list[Reader] = []
    for row in source.rows:
        reader = next((made for module in modules if (made := module.reader(row)) is not None), None)
        if reader is None:
            draft.lose(missing, row.where)
        else:
            found.append(reader)
    if not found:
        raise NotImportable(f"{source.name}: {wanted}")
    for n, reader in enumerate(found, 1):
        reader(draft, Place(None if len(found) == 1 else n, own != "messagelists"))


def conversation_name(draft: Draft, place: Place, name: str) -> str | None:
    """What a row's conversation is called: as it says, if none before it is; None of the only one."""
    if place.number is None:
        return None
    named = name or f"c{place.number}"
    return f"{named}/{place.number}" if f"{named}/m1" in draft else named
