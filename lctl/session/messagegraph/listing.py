"""The list operations of a graph: each does what a list's does, then says what has changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Self, SupportsIndex, cast

from lctl.session.messagegraph.message import Message, as_dict
from lctl.session.messagegraph.registry import mark


class Listing(list[dict[str, Any]]):
    """A list whose items are `Message`s of its own: what is put into it is copied.

    One message object stands at one place: put in a second time it is copied as well.
    """

    def changed(self, first: int, stop: int, count: int) -> None:
        """The items from `first` to before `stop` have been replaced by `count` others."""
        raise NotImplementedError

    def rearranged(self) -> None:
        """Anything may have changed."""
        raise NotImplementedError

    def owned(self, message: Message) -> bool:
        """Whether the message was made for this list."""
        raise NotImplementedError

    def made(self, message: dict[str, Any], at: int) -> Message:
        raise NotImplementedError

    def own(self) -> Iterator[Message]:
        """Its messages, for lctl itself: nobody is about to send them."""
        return cast("Iterator[Message]", list.__iter__(self))

    def place_of(self, message: Message) -> int:
        """Where this very object is; -1 where it is not (any more)."""
        at = message.at
        if 0 <= at < len(self) and list.__getitem__(self, at) is message:
            return at
        for at, item in enumerate(self.own()):
            if item is message:
                message.at = at
                return at
        return -1

    def _taken(self, values: Iterable[Any], at: int, leaving: Iterable[dict[str, Any]] = ()) -> list[Message]:
        """The values as messages of this list, the first of which will be at `at`."""
        free = {id(item) for item in leaving}
        taken: list[Message] = []
        for value in values:
            if (
                isinstance(value, Message)
                and self.owned(value)
                and (id(value) in free or self.place_of(value) < 0)
                and all(item is not value for item in taken)
            ):
                value.at = at + len(taken)
                value.refresh()  # it may have been changed inside since it was recorded
                taken.append(value)
            else:
                taken.append(self.made(as_dict(value), at + len(taken)))
        return taken

    # -- adding --------------------------------------------------------------------------------

    def append(self, message: Any) -> None:
        """Take a copy of a message: a dict, or what an SDK gave (`response.choices[0].message`).

        Raises:
            TypeError: it is no message.
        """
        at = len(self)
        if isinstance(message, Message):
            made = self._taken((message,), at)[0]
        else:
            made = self.made(as_dict(message), at)
        list.append(self, made)
        self.changed(at, at, 1)

    def extend(self, messages: Iterable[Any]) -> None:
        at = len(self)
        values: list[Any] = []
        try:
            values.extend(messages)
        finally:  # what came before an error of the iterable is in the list, as in any
            taken = self._taken(values, at)
            list.extend(self, taken)
            self.changed(at, at, len(taken))

    def insert(self, index: SupportsIndex, message: Any) -> None:
        at = index.__index__()
        at = max(0, at + len(self)) if at < 0 else min(at, len(self))
        taken = self._taken((message,), at)
        list.insert(self, at, taken[0])
        self.changed(at, at, 1)

    def __iadd__(self, messages: Iterable[Any]) -> Self:  # type: ignore[override, misc]
        self.extend(messages)
        return self

    def __imul__(self, count: SupportsIndex) -> Self:
        times = count.__index__()
        if times <= 0:
            self.clear()
        else:
            self.extend([*self.own()] * (times - 1))
        return self

    # -- replacing and removing ------------------------------------------------------------------

    def __setitem__(self, index: Any, value: Any) -> None:
        if not isinstance(index, slice):
            at = index.__index__()
            at = at + len(self) if at < 0 else at
            if not 0 <= at < len(self):
                raise IndexError("list assignment index out of range")
            list.__setitem__(self, at, self._taken((value,), at, (list.__getitem__(self, at),))[0])
            self.changed(at, at + 1, 1)
            return
        leaving = list.__getitem__(self, index)
        first, stop, step = index.indices(len(self))
        if step == 1:
            stop = max(first, stop)
            taken = self._taken(list(value), first, leaving)
            list.__setitem__(self, index, taken)
            self.changed(first, stop, len(taken))
        else:
            list.__setitem__(self, index, self._taken(list(value), first, leaving))
            self.rearranged()

    def __delitem__(self, index: SupportsIndex | slice) -> None:
        if isinstance(index, slice):
            first, stop, step = index.indices(len(self))
            list.__delitem__(self, index)
            if step == 1:
                self.changed(first, max(first, stop), 0)
            else:
                self.rearranged()
            return
        at = index.__index__()
        at = at + len(self) if at < 0 else at
        list.__delitem__(self, index)
        self.changed(at, at + 1, 0)

    def pop(self, index: SupportsIndex = -1) -> dict[str, Any]:
        at = index.__index__()
        at = at + len(self) if at < 0 else at
        popped = list.pop(self, index)
        self.changed(at, at + 1, 0)
        return popped

    def remove(self, value: Any) -> None:
        del self[self.index(value)]

    def clear(self) -> None:
        count = len(self)
        list.clear(self)
        self.changed(0, count, 0)

    # -- order -----------------------------------------------------------------------------------

    def sort(self, *, key: Any = None, reverse: bool = False) -> None:
        # A list is empty while it is sorted; the key function may look at this one.
        ordered = sorted(self.own(), key=key, reverse=reverse)
        list.__setitem__(self, slice(None), ordered)
        self.rearranged()

    def reverse(self) -> None:
        list.reverse(self)
        self.rearranged()

    # -- reading ---------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[dict[str, Any]]:
        mark(self.reference)  # type: ignore[attr-defined]
        return list.__iter__(self)
