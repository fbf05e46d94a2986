"""What streamed messages say: chunks in order, and what was wrong with them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from typing import Any


class Chunks:
    """The pieces of one streamed message as they came, joined when asked for.

    `index` tells the place of a piece where the sender gave one: a piece delivered again is passed over,
    one that came early is put where it belongs. A piece is text, a part or list of parts, or a mapping of
    what it adds to the message (`tool_calls` in the form of deltas).

    Args:
        opening: what the message said when it began.
    """

    __slots__ = ("_contents", "_indexes", "_known", "_seqs", "ended", "opening", "ordered")

    def __init__(self, opening: Any = None) -> None:
        self.opening = opening
        self._seqs: list[int] = []
        self._indexes: list[int] = []
        self._contents: list[Any] = []
        self._known: set[int] | None = None
        self.ordered = True
        self.ended = False

    def __len__(self) -> int:
        return len(self._seqs)

    @property
    def last(self) -> int:
        """Seq of the piece that came last; 0 before the first."""
        return self._seqs[-1] if self._seqs else 0

    def add(self, seq: int, index: int | None, content: Any) -> bool:
        """Keep a piece; False if it is there already."""
        count = len(self._seqs)
        place = count if index is None else index
        if place != count or self._known is not None:
            if self._known is None:
                self._known = set(self._indexes)
            if place in self._known:
                return False
            self._known.add(place)
            if self._indexes and place < self._indexes[-1]:
                self.ordered = False
        self._contents.append(content)
        self._indexes.append(place)
        self._seqs.append(seq)  # last: a reader in another thread counts by it
        return True

    def missing(self) -> int:
        """How many pieces before the last one never came."""
        return max(self._indexes, default=-1) + 1 - len(self._indexes)

    def text(self, seq: int) -> str:
        """The words they say up to event `seq`."""
        content = self.said(seq).get("content")
        if isinstance(content, list):
            return "".join(part["text"] for part in content if isinstance(part.get("text"), str))
        return content or ""

    def said(self, seq: int) -> dict[str, Any]:
        """`content`, and `tool_calls` if there were any, as the pieces up to event `seq` have it."""
        count = bisect_right(self._seqs, seq)
        pieces: Iterable[Any] = self._contents[:count]
        if not self.ordered:
            order = sorted(range(count), key=self._indexes.__getitem__)
            pieces = [self._contents[n] for n in order]
        if self.opening:
            pieces = [self.opening, *pieces]
        try:
            return {"content": "".join(pieces)}
        except TypeError:  # not only text
            return _assembled(pieces)


def _assembled(pieces: Iterable[Any]) -> dict[str, Any]:
    """The message that deltas of several kinds make."""
    words: list[str] = []
    parts: list[dict[str, Any]] = []
    calls: dict[Any, dict[str, Any]] = {}
    for piece in pieces:
        if isinstance(piece, Mapping) and "type" not in piece:
            called = piece.get("tool_calls")
            for call in called if isinstance(called, list | tuple) else ():
                _extend(calls, call)
            piece = piece.get("content")
        for part in piece if isinstance(piece, list | tuple) else (piece,):
            if isinstance(part, str):
                words.append(part)
            elif isinstance(part, Mapping):
                _add_part(parts, part)
            elif part is not None:
                words.append(str(part))
    text = "".join(words)
    said: dict[str, Any] = {"content": text}
    if parts:
        said["content"] = [{"type": "text", "text": text}, *parts] if text else parts
    elif calls and not text:
        said["content"] = None
    if calls:
        said["tool_calls"] = list(calls.values())
    return said


def _add_part(parts: list[dict[str, Any]], part: Mapping[str, Any]) -> None:
    """Text goes on with the text part before it; any other part stands for itself."""
    last = parts[-1] if parts else {}
    if isinstance(part.get("text"), str) and last.get("type") == part.get("type") and "text" in last:
        last["text"] += part["text"]
    else:
        parts.append(dict(part))


def _extend(calls: dict[Any, dict[str, Any]], delta: Any) -> None:
    """A delta of a tool call: its arguments go on with those of the same index."""
    if not isinstance(delta, Mapping):
        return
    key = delta.get("index", delta.get("id"))
    key = key if isinstance(key, int | str) else None
    call = calls.get(key)
    if call is None:
        calls[key] = call = {k: v for k, v in delta.items() if k != "index"}
        if isinstance(call.get("function"), Mapping):
            call["function"] = dict(call["function"])
        return
    for name, value in delta.items():
        if name == "function" and isinstance(value, Mapping):
            function = call.setdefault("function", {})
            if not isinstance(function, dict):
                function = call["function"] = {}
            for inner, more in value.items():
                if inner == "arguments" and isinstance(function.get(inner), str):
                    function[inner] += more if isinstance(more, str) else ""
                elif more is not None:
                    function[inner] = more
        elif name == "arguments" and isinstance(call.get(name), str):
            call[name] += value if isinstance(value, str) else ""
        elif name != "index" and value is not None:
            call[name] = value
