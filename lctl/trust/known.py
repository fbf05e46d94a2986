"""The facts of a ledger by id. One of which there is only its first event is made when it is looked at: of
100,000 facts most never are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from lctl.trust.standing import Standing

#: seq, agent and data of the event that added a fact.
First = tuple[int, str, Mapping[str, Any]]


class Facts(Mapping[str, Standing]):
    """In the order they were added.

    Args:
        make: a fact of its id and its first event.
    """

    __slots__ = ("_make", "cells")

    def __init__(self, make: Callable[[str, First], Standing]) -> None:
        self._make = make
        self.cells: dict[str, First | Standing] = {}

    def get(self, id: str, default: Any = None) -> Any:
        cell = self.cells.get(id)
        if cell is None:
            return default
        if type(cell) is tuple:
            cell = self.cells[id] = self._make(id, cell)
        return cell

    def __getitem__(self, id: str) -> Standing:
        found: Standing | None = self.get(id)
        if found is None:
            raise KeyError(id)
        return found

    def __contains__(self, id: object) -> bool:
        return id in self.cells

    def __iter__(self) -> Iterator[str]:
        return iter(self.cells)

    def __len__(self) -> int:
        return len(self.cells)

    def texts(self) -> list[str]:
        """The text of each, in order."""
        return [
            (said if type(said := cell[2].get("text")) is str else _text(said))
            if type(cell) is tuple
            else cell.text  # type: ignore[union-attr]
            for cell in self.cells.values()
        ]


def _text(value: object) -> str:
    return "" if value is None else str(value)
