"""One message of a graph: a dict whose changes are recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import ref

import orjson

from lctl.conversation.identity import identity
from lctl.conversation.sdkobjects import SCALARS, no_message, own_copy
from lctl.session import jsonable

if TYPE_CHECKING:
    from lctl.session.messagegraph.graph import MessageGraph

T = TypeVar("T")
_MISSING: Any = object()


def as_dict(value: Any) -> dict[str, Any]:
    """A message of its own, of whatever was appended.

    Raises:
        TypeError: it is no message.
    """
    if not isinstance(value, dict) and isinstance(value, Mapping):
        value = dict(value)
    why = None if isinstance(value, dict | str) else no_message(value)
    if why is not None and hasattr(value, "model_dump"):
        raise TypeError(why)
    made = own_copy(value)
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
        if not SCALARS.issuperset(map(type, self.values())):
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
        dict.__setitem__(self, key, own_copy(value))
        self._changed()

    def __delitem__(self, key: str) -> None:
        dict.__delitem__(self, key)
        self._changed()

    def update(self, *others: Any, **values: Any) -> None:
        dict.update(self, own_copy(dict(*others, **values)))
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
        made: dict[str, Any] = own_copy(dict(self))
        return made

    def __copy__(self) -> dict[str, Any]:
        return dict(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)
