"""What a tool's body did that others wait for, as its event holds it.

Each is noted when it is done (`lctl.session.concurrency.signals`), with the way that leads to the object from
the call's arguments, the object whose method the tool is, or the variables around its function. What no way
leads to (a library's own) is not kept. With it stands what the call had changed by then: who goes on by
it looks at that. Where a rerun serves the call, all this is done again, each in its turn.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import ref

from lctl.guard import guard
from lctl.session.concurrency import lanes, turns
from lctl.session.concurrency.signals import is_waited_for
from lctl.session.faithful import Decoder, Encoder, Given, Unfaithful
from lctl.session.faithful.coding import encode_parts
from lctl.session.faithful.objects import attributes_of, is_programs
from lctl.session.faithful.scopes import ATOMS, DICTS, Scope, scope_of
from lctl.session.tooling.receiving import MOST, Message, messages
from lctl.session.tooling.resignalling import do

if TYPE_CHECKING:
    from lctl.clock import Clock
    from lctl.session.concurrency.underway import Moment
    from lctl.session.tooling.toolcalls import ToolCall

#: Of a call's `tape`.
NAME = "signals"
#: Objects that are looked through for those that others wait for; the outermost first.
_NODES = 500
#: Things in one of them.
_WIDE = 1_000
#: By module and name of the class of what is around another, where it has that.
_INSIDE = {
    ("queue", "SimpleQueue"): "_lctl_kept",
    ("_queue", "SimpleQueue"): "_lctl_kept",
    ("anyio._backends._asyncio", "Event"): "_event",
    ("anyio._backends._trio", "Event"): "_Event__original",
}
#: Signals of one call with which it is kept what it had changed by then.
_TOLD = 50

Way = tuple[Any, ...]


class Signals:
    """Those of one call.

    Args:
        outer: of the call in whose body this one is made: a rerun that serves that one does not make this.
        orders: other things keep their order with it in a rerun.
    """

    __slots__ = (
        "_call",
        "_clock",
        "_given",
        "_handed",
        "_is_over",
        "_kept",
        "_last",
        "_moment",
        "_orders",
        "_outer",
        "_pending",
        "_ways",
    )

    def __init__(
        self,
        call: ToolCall,
        given: Given,
        outer: Signals | None,
        clock: Clock,
        moment: Moment,
        orders: bool,
    ) -> None:
        self._call: ToolCall | None = call
        self._given, self._outer = given, outer
        self._clock, self._moment, self._orders = clock, moment, orders
        self._kept: list[Message] = []
        self._ways: dict[int, tuple[Any, Way]] | None = None  # holds them, so that ids stay theirs
        self._handed: list[tuple[int, str]] = []
        self._last: dict[str, Any] | None = None
        self._pending: list[Any] = []
        self._is_over = False

    @property
    def is_begun(self) -> bool:
        """Whether anything was looked for."""
        return self._ways is not None

    def begin(self) -> None:
        """The body is about to run, and may end one of the futures there are (`asyncio`'s tell nobody)."""
        self._ways = self._find()
        self._pending = [one for one, _ in self._ways.values() if hasattr(one, "done") and not one.done()]

    def note(self, thing: Any, what: str, args: tuple[Any, ...], is_handed: bool = False) -> None:
        """Args: is_handed: it is handed to the event loop whose thread will do it."""
        if self._outer is not None:
            self._outer.note(thing, what, args, is_handed)
        if self._is_over or len(self._kept) >= MOST:
            return
        ways = self._ways
        if ways is None:
            ways = self._ways = self._find()
        known = ways.get(id(thing))
        if known is None:
            return
        if (id(thing), what) in self._handed:
            self._handed.remove((id(thing), what))
            return
        if is_handed:
            self._handed.append((id(thing), what))
        if thing in self._pending:
            self._pending.remove(thing)
        self._keep(known[1], what, args)

    def _find(self) -> dict[int, tuple[Any, Way]]:
        return {} if self._call is None else dict(_found(self._call.roots()))

    def _keep(self, way: Way, what: str, args: tuple[Any, ...]) -> None:
        parts = [list(way), what, list(args)]
        try:
            made = encode_parts(parts, Encoder.value, Decoder.value, self._given)
        except Unfaithful:
            return  # a rerun that waits for it says so
        ms = (self._clock.monotonic_ns() - self._moment.ns) // 1000 / 1000
        self._moment.alone = False
        turn = turns.since() if turns.counting and self._orders else None
        content: dict[str, Any] = {"given": len(self._given.nodes), "of": made}
        if len(self._kept) < _TOLD:
            from lctl.session.tooling.toolresults import changes_of  # which needs this module

            changed = None if self._call is None else changes_of(self._call, self._given)
            if changed != self._last:
                self._last = changed
                content["changed"] = changed
        self._kept.append(Message(ms, turn, content))

    def end(self) -> None:
        """The body has ended."""
        if self._is_over:
            return
        for one in self._pending:
            if one.done() and not one.cancelled() and self._ways is not None:
                error = one.exception()
                what, arg = ("result", one.result()) if error is None else ("error", error)
                self._keep(self._ways[id(one)][1], what, (arg,))
        self.close()

    def close(self) -> None:
        """Lanes that the body started may live on."""
        self._is_over = True
        self._call, self._ways, self._pending = None, None, []

    def tape(self) -> list[list[Any]] | None:
        """For the `tape` of the call; None where there were none."""
        return [list(message) for message in self._kept] or None


class Signal(NamedTuple):
    """One of a recorded call.

    Attributes:
        do: does it again.
    """

    message: Message
    do: Callable[[], None]


def signals_of(
    tape: Mapping[str, Any],
    roots: list[Any],
    given: Given,
    changes: Callable[[Mapping[str, Any]], Callable[[], None] | None],
) -> list[Signal]:
    """Of a `tape`, done to what the ways lead to now. Args: changes: does what a tape says was changed."""
    owed: dict[int, int] = {}
    return [
        Signal(
            message, partial(_again, message.content, _thing(message.content, roots, given), owed, changes)
        )
        for message in messages(tape, NAME)
    ]


def _thing(content: Any, roots: list[Any], given: Given) -> tuple[Any, str, list[Any]] | None:
    """The object, what is done with it, and with what; None where it is not to be found."""
    if type(content) is not dict or content.get("given", 0) != len(given.nodes):
        return None
    try:
        way, what, args = Decoder(given).value(content.get("of"))
        node: Any = roots
        for step in way:
            node = dict(_parts(node))[step]
    except Exception:  # what is there now is another thing
        return None
    return (node, what, args) if is_waited_for(type(node)) else None


def _again(
    content: Any,
    found: tuple[Any, str, list[Any]] | None,
    owed: dict[int, int],
    changes: Callable[[Mapping[str, Any]], Callable[[], None] | None],
) -> None:
    changed = content.get("changed") if type(content) is dict else None
    change = changes(changed) if type(changed) is dict else None
    if change is not None:
        change()
    if found is None:
        return
    token = lanes.enter(lanes.current().body(0, "signals"))  # held to no order, as the body was
    try:
        with guard("what a tool did that others wait for"):
            do(*found, owed)
    finally:
        lanes.leave(token)


def _found(roots: list[Any]) -> Iterator[tuple[int, tuple[Any, Way]]]:
    """What others wait for, by id, with the shortest way to it."""
    queue: deque[tuple[Way, Any]] = deque([((), roots)])
    seen = {id(roots)}
    while queue and len(seen) < _NODES:
        way, node = queue.popleft()
        if is_waited_for(type(node)) and _inside(node) is None:
            yield id(node), (node, way)
            continue
        for step, part in _parts(node):
            if type(part) not in ATOMS and id(part) not in seen:
                seen.add(id(part))
                queue.append(((*way, step), part))


def _parts(node: Any) -> Iterable[tuple[Any, Any]]:
    """What an object is made of, by key, index or name; of a function, the variables around it."""
    kind = type(node)
    if kind in DICTS:
        return list(node.items()) if len(node) <= _WIDE else ()
    if issubclass(kind, list | tuple | deque | set | frozenset):
        return list(enumerate(node)) if len(node) <= _WIDE else ()
    if kind is Scope:
        return list(node.all().items())
    if kind is MethodType:
        return (("self", node.__self__),)
    if kind is partial:
        return (("func", node.func), ("args", node.args), ("keywords", node.keywords))
    if kind is ref:
        return (("of", node()),)
    if kind is FunctionType:
        scope = scope_of(node)
        return () if scope is None else (("scope", scope),)
    kept = _inside(node)
    if kept is not None:
        return (("kept", kept),)
    return list(attributes_of(node).items()) if is_programs(kind) else ()


def _inside(node: Any) -> Any:
    """What is done with another is done with this one: of the program's `queue.SimpleQueue`
    (`lctl.session.concurrency.simplequeues`), and of an event of anyio's."""
    name = _INSIDE.get((type(node).__module__, type(node).__name__))
    return None if name is None else getattr(node, name, None)
