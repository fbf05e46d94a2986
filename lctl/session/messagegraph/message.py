"""One message of a graph: a dict whose changes are recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import ref

import orjson

from lctl.conversation.identity import identity
from lctl.session import jsonable

if TYPE_CHECKING:
    from lctl.session.messagegraph.graph import MessageGraph

T = TypeVar("T")
_SCALARS = frozenset({str, int, float, bool, type(None)})
_DEPTH = 64
_MISSING: Any = object()


def copied(value: Any, depth: int = 0) -> Any:
    """`value` with containers of its own, so that nobody else changes it. SDK objects become what their SDK
    would send; what is neither (a file, a path) stays what it is."""
    if type(value) in _SCALARS or depth > _DEPTH:
        return value
    if type(value) is dict and _SCALARS.issuperset(map(type, value.values())):
        return value.copy()
    if isinstance(value, dict):
        return {key: copied(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [copied(item, depth + 1) for item in value]
    if hasattr(value, "model_dump") and not isinstance(value, type):
        return dumped(value)
    return value


def dumped(value: Any) -> Any:
    """A pydantic object as the openai and anthropic clients send it."""
    left_out = getattr(value, "__api_exclude__", None)
    made = value.model_dump(exclude=left_out, exclude_unset=True, mode="json", warnings=False)
    if isinstance(made, dict) and made.get("type") == "message" and "stop_reason" in made:
        return {"role": made.get("role"), "content": made.get("content")}  # a whole Anthropic answer
    return made


def as_dict(value: Any) -> dict[str, Any]:
    """A message of its own, of whatever was appended.

    Raises:
        TypeError: it is no message.
    """
    if not isinstance(value, dict) and isinstance(value, Mapping):
        value = dict(value)
    made = copied(value)
    if not isinstance(made, dict):
        raise TypeError(
            f"a message is a dict, or an object with model_dump(), not {type(value).__name__}: {value!r:.80}"
        )
    return made


def key_of(message: dict[str, Any]) -> bytes:
    """Its `identity`, also where JSON has no form for a value."""
    try:
        orjson.dumps(message)
    except TypeError:
        message = jsonable.plain(message)
    return identity(message)


class Message(dict[str, Any]):
    """A message in a `MessageGraph`. Changing it is an edit of the graph.

    Attributes:
        home: reference to its graph; None of one that belongs to none.
        at: where it was in the graph when that was last known.
        key: identity of what it said when that was last recorded.
        seal: JSON of it then, where it has containers that can be changed unseen; else None.
    """

    __slots__ = ("at", "home", "key", "seal")

    def __init__(self, message: dict[str, Any], home: ref[MessageGraph] | None = None, at: int = 0) -> None:
        dict.__init__(self, message)
        self.home = home
        self.at = at
        self.refresh()

    def refresh(self) -> bool:
        """Look at what it says now; whether that is something else to a model."""
        self.seal = None
        if not _SCALARS.issuperset(map(type, self.values())):
            self.seal = self._sealed()
        before = getattr(self, "key", None)
        self.key = identity(self) if self.seal is None else key_of(self)
        return self.key != before

    def is_touched(self) -> bool:
        """Whether something inside it was changed since `refresh`."""
        return self.seal is not None and self._sealed() != self.seal

    def _sealed(self) -> bytes:
        try:
            return orjson.dumps(self)
        except TypeError:
            return orjson.dumps(jsonable.plain(dict(self)))

    def _changed(self) -> None:
        graph = self.home() if self.home is not None else None
        if graph is None:
            self.refresh()
        else:
            graph.edited(self)

    # -- what changes a dict -----------------------------------------------------------------

    def __setitem__(self, key: str, value: Any) -> None:
        dict.__setitem__(self, key, copied(value))
        self._changed()

    def __delitem__(self, key: str) -> None:
        dict.__delitem__(self, key)
        self._changed()

    def update(self, *others: Any, **values: Any) -> None:
        dict.update(self, copied(dict(*others, **values)))
        self._changed()

    def __ior__(self, other: Any) -> Message:  # type: ignore[override,misc]
        self.update(other)
        return self

    def setdefault(self, key: str, default: Any = None) -> Any:
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: str, default: T = _MISSING) -> Any | T:
        found = dict.pop(self, key) if default is _MISSING else dict.pop(self, key, default)
        self._changed()
        return found

    def popitem(self) -> tuple[str, Any]:
        found = dict.popitem(self)
        self._changed()
        return found

    def clear(self) -> None:
        dict.clear(self)
        self._changed()

    # -- copies are plain ----------------------------------------------------------------------

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        made: dict[str, Any] = copied(dict(self))
        return made

    def __copy__(self) -> dict[str, Any]:
        return dict(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)
