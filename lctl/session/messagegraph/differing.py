"""What a changed list keeps of the path it was on, and what is new in it."""

from __future__ import annotations

from typing import NamedTuple


class New(NamedTuple):
    """A message that was not there."""

    key: bytes


class Kept(NamedTuple):
    """Messages of the old path, from place `first` up to before `stop`, in their order."""

    first: int
    stop: int


Piece = New | Kept


class Change(NamedTuple):
    """What follows the first `start` messages of the path, which stay."""

    start: int
    pieces: list[Piece]


def compare(old: list[bytes], first: int, stop: int, new: list[bytes]) -> Change:
    """`old` with the keys from `first` to before `stop` replaced by `new`."""
    if first == stop == len(old) and len(new) == 1:
        return Change(first, [New(new[0])])
    low, high = 0, len(new)
    while first < stop and low < high and old[first] == new[low]:
        first, low = first + 1, low + 1
    while first < stop and low < high and old[stop - 1] == new[high - 1]:
        stop, high = stop - 1, high - 1
    pieces: list[Piece] = []
    if low < high:
        where = _places(old, first, stop)
        reached = first - 1  # the last place that was taken
        for key in new[low:high]:
            places = where.get(key)
            if places is None:
                pieces.append(New(key))
                continue
            place = next((place for place in places if place > reached), places[0])
            before = pieces[-1] if pieces else None
            if isinstance(before, Kept) and before.stop == place:
                pieces[-1] = Kept(before.first, place + 1)
            else:
                pieces.append(Kept(place, place + 1))
            reached = place
    if stop < len(old):
        before = pieces[-1] if pieces else None
        if isinstance(before, Kept) and before.stop == stop:
            pieces[-1] = Kept(before.first, len(old))
        else:
            pieces.append(Kept(stop, len(old)))
    return Change(first, pieces)


def _places(old: list[bytes], first: int, stop: int) -> dict[bytes, list[int]]:
    where: dict[bytes, list[int]] = {}
    for place in range(first, stop):
        where.setdefault(old[place], []).append(place)
    return where


def kind_of(change: Change, length: int) -> str | None:
    """The reason a path of that length is left by this change (the words of the training rules); None
    where it only goes on."""
    if change.start >= length:
        return None
    added = 0
    for piece in change.pieces:
        if isinstance(piece, Kept):
            gone = piece.first - change.start
            break
        added += 1
    else:
        gone = length - change.start
    if added == 0:
        return "delete"
    if gone <= 0:
        return "insert"
    return "compaction" if gone >= 2 and added < gone else "edit"
