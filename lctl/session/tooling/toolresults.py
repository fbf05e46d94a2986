"""What a tool call gave: as its event holds it, and made again from that.

`output` and `error` are for reading. Where they are not the very value that was given, the event's `tape`
holds it (see `lctl.session.faithful`):

    given       how many objects the arguments were made of; what follows refers to them by number
    after       [number, content] of each argument the call changed
    within      what it changed deep in the objects beside its arguments: by the way that leads there
    owner       what it changed of the object whose method it is; never keeps the call from being served
    output      the value, or the items of a generator
    returned    what a generator returned beyond its items
    error       the exception
    shared      [way in the result, way from there, number of what is around the call] of the objects in it
                that are the program's own (`lctl.session.faithful.sharing`)
    inside      [first, last] seqs of the events recorded by the tool's own body
    wrote       [stream, characters written to it before, text] of what its body wrote to stdout and stderr
    received    [milliseconds since its start, turn of the loop, message] of what came from outside meanwhile,
                beside its result; null instead of the milliseconds: before its start
    signals     [milliseconds since its start, turn of the loop, what] of what its body did that others wait
                for (`lctl.session.tooling.signalling`)
    chance      in which state it left generators of random numbers that it drew from, by their names
                (`lctl.session.tooling.generators`)
    items       [milliseconds since its start, turn of the loop, place there] of each item of an async
                generator
    gives       "generator", "async generator" or "coroutine": what a tool that is none itself gave
    executed    why none of this could be kept: a rerun runs the tool again
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from lctl.interrupts import RAISED, let_through
from lctl.session import hooks, jsonable
from lctl.session.concurrency.comings import comings
from lctl.session.faithful import Decoder, Encoder, Given, Unfaithful, owners, sharing
from lctl.session.faithful.coding import encode_parts
from lctl.session.faithful.depths import Depth, all_written
from lctl.session.tooling import generators
from lctl.session.tooling.plainness import is_plain, is_plain_error
from lctl.session.tooling.receiving import messages
from lctl.session.tooling.served import Outcome, Served
from lctl.session.tooling.signalling import Signal, signals_of
from lctl.session.tooling.wrote import pieces

if TYPE_CHECKING:
    from lctl.session.tooling.toolcalls import ToolCall

_PARTS = ("after", "within", "output", "returned", "error")
#: Of a `tool_call` event: how the call ended.
_FIELDS = ("output", "error", "paused", "closed_early", "tape")
#: Of a generator tool's items that are kept.
MOST_ITEMS = 1000

#: "tool: why" of the calls that a rerun must make again, with how many there were.
executed: dict[str, int] = {}


class RecordedToolError(Exception):
    """Stands for a tool's exception of which the log holds no more than name and text."""


class Items:
    """What a generator gave, item by item, each as it was when it was given.

    Attributes:
        shown: plain copies, for `output`.
        count: all of them; `shown` has the first thousand.
    """

    def __init__(self, given: Given) -> None:
        self.shown: list[Any] = []
        self.count = 0
        self._given = given
        self._made: list[Any] | None = None
        self._why: str | None = None

    def add(self, value: Any) -> None:
        self.count += 1
        if self.count > MOST_ITEMS:
            return
        plain = is_plain(value, self._given.index)
        if self._made is None and not plain:
            self._made = self.shown[:]
        self.shown.append(jsonable.plain(value))
        if self._made is not None and self._why is None:
            try:
                self._made.append(encode_parts(value, Encoder.value, Decoder.value, self._given))
            except Unfaithful as reason:
                self._why = str(reason)

    @property
    def tape(self) -> list[Any] | None:
        """JSON for the items, where `output` is not enough.

        Raises:
            Unfaithful: there were too many, or one cannot be kept.
        """
        if self.count > MOST_ITEMS:
            raise Unfaithful(f"a stream of more than {MOST_ITEMS} items")
        if self._why is not None:
            raise Unfaithful(self._why)
        return self._made


def tape_of(
    tool: str, given: Given, parts: dict[str, Any], items: Items | None = None, is_shown: bool = True
) -> dict[str, Any] | None:
    """The `tape` of a call; None where none is needed.

    Args:
        parts: what it gave: "output", or "returned" of a generator beyond its items, or "error".
        is_shown: the event's `output` is this one, and not a reading of it.
    """
    changed, deeper = given.changed(), given.deeper()
    kept = dict(parts)
    if is_shown and "output" in parts and is_plain(parts["output"], given.index):
        if not changed and not deeper:
            return None
        if type(parts["output"]) not in (list, dict):
            del kept["output"]
    if is_plain_error(parts.get("error")):
        del kept["error"]
    if changed:
        kept["after"] = [(n, given.content(n)) for n in changed]
    ways = [{**kept, "within": deeper}, kept] if deeper else [kept]  # what is deep hinders nothing else
    why = ""
    for each in ways:
        try:
            streamed = None if items is None else items.tape
            made: dict[str, Any] = {} if streamed is None else {"output": streamed}
            if each:
                made |= encode_parts(
                    each,
                    lambda encoder, values: _written(encoder, given, values),
                    lambda decoder, tape: _read(decoder, given, tape),
                    given,
                )
            return {"given": len(given.nodes), **made} if made else None
        except Unfaithful as reason:
            why = str(reason)
        except RAISED as error:  # raised by a value's own code
            let_through(error)
            why = f"a result that cannot be looked at ({type(error).__name__})"
    told = f"{tool}: {why}"
    executed[told] = executed.get(told, 0) + 1
    return {"executed": why}


def _written(encoder: Encoder, given: Given, parts: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name in _PARTS:
        if name == "after" and name in parts:
            made[name] = [[n, given.written(encoder, n, content)] for n, content in parts[name]]
        elif name == "within" and name in parts:
            changes = all_written(encoder, parts[name])
            if changes:
                made[name] = changes
        elif name in parts:
            made[name] = encoder.value(parts[name])
    return made


def _read(decoder: Decoder, given: Given, tape: Mapping[str, Any]) -> dict[str, Any]:
    parts: dict[str, Any] = {}
    for name in _PARTS:
        if name == "after" and name in tape:
            parts[name] = [(n, given.read(decoder, n, content)) for n, content in tape[name]]
        elif name == "within" and name in tape:
            parts[name] = [Depth.read(decoder, change) for change in tape[name]]
        elif name in tape:
            parts[name] = decoder.value(tape[name])
    return parts


def outcome(data: Mapping[str, Any], call: ToolCall) -> Outcome | None:
    """What the recorded call gave; None where only running the tool gives it.

    Args:
        data: of its `tool_call` event.
        call: the one that is being made now.

    Raises:
        Unfaithful: it stands for something that cannot be made here, or for other arguments.
    """
    tape = data.get("tape")
    if not isinstance(tape, Mapping):
        tape = {}
    if "executed" in tape:
        return None
    parts: dict[str, Any] = {}
    given = call.given if call.given is not None else Given(())
    if any(name in tape for name in _PARTS):
        if not given.has(tape.get("given", 0)):
            raise Unfaithful("a result that refers to arguments of another shape than those given now")
        parts = _read(Decoder(given), given, tape)
    error = parts.get("error")
    if error is None and data.get("error") is not None and "output" not in parts:
        error = _named_error(data["error"])
    if error is not None and not isinstance(error, BaseException):
        raise Unfaithful("an error that is no exception")
    signals = signals_of(tape, call.roots(), given, lambda changed: _changes_again(changed, call, given))
    change, items = _change(parts, tape, call, given), comings(tape)
    if items and signals:  # the turns that are known of it are those of its items
        change, signals = _together(change, signals), []
    return Outcome(
        value=parts["output"] if "output" in parts else data.get("output"),
        error=error,
        returned=parts.get("returned"),
        closed_early=bool(data.get("closed_early")),
        change=change,
        shared=None if call.owner is None else sharing.again(tape.get("shared"), call.owner),
        fields=fields(data),
        inside=[(first, last) for first, last in tape.get("inside", ())],
        gives=tape.get("gives"),
        wrote=pieces(tape),
        received=messages(tape),
        comings=items,
        signals=signals,
    )


def _together(change: Callable[[], None] | None, signals: list[Signal]) -> Callable[[], None]:
    def done() -> None:
        if change is not None:
            change()
        for signal in signals:
            signal.do()

    return done


def _change(
    parts: Mapping[str, Any], tape: Mapping[str, Any], call: ToolCall, given: Given
) -> Callable[[], None] | None:
    """Does to the arguments, and to what is around the call, what it did to them; None where that is none."""
    changes, deeper = parts.get("after", []), parts.get("within", [])
    owned = tape.get("owner") if call.owner is not None else None
    drawn = tape.get("chance")
    if not (changes or deeper or owned or drawn):
        return None

    def change() -> None:
        for n, content in changes:
            given.apply(n, content)
        for each in deeper:
            each.apply(given.nodes)
        if owned is not None and call.owner is not None:
            owners.change(owned, call.owner, given)
        generators.put(drawn)

    return change


def changes_of(call: ToolCall, given: Given) -> dict[str, Any] | None:
    """What a call that still runs has changed so far, for a tape; None of nothing, or nothing that can be
    kept."""
    changed, deeper = given.changed(), given.deeper()
    parts: dict[str, Any] = {"within": deeper} if deeper else {}
    if changed:
        parts["after"] = [(n, given.content(n)) for n in changed]
    made: dict[str, Any] = {}
    try:
        made = encode_parts(
            parts,
            lambda encoder, values: _written(encoder, given, values),
            lambda decoder, tape: _read(decoder, given, tape),
            given,
        )
    except RAISED as error:
        let_through(error)
    owned = None if call.owner is None else call.owner.tape(given)
    if owned is not None:
        made["owner"] = owned
    return made or None


def _changes_again(changed: Mapping[str, Any], call: ToolCall, given: Given) -> Callable[[], None] | None:
    return _change(_read(Decoder(given), given, changed), changed, call, given)


def fields(data: Mapping[str, Any]) -> dict[str, Any]:
    """What a `tool_call` event says of how the call ended."""
    return {name: data[name] for name in _FIELDS if name in data}


def _named_error(error: Any) -> BaseException:
    """An exception by its name and text, of logs that hold no more."""
    import builtins

    if not isinstance(error, Mapping):
        return RecordedToolError(str(error))
    name, message = str(error.get("type")), str(error.get("message") or "")
    cls = vars(builtins).get(name)
    if isinstance(cls, type) and issubclass(cls, Exception):
        try:
            return cls(message)
        except TypeError:
            pass
    return RecordedToolError(f"{name}: {message}")


def _report() -> dict[str, Any]:
    made = {"executed": executed, "surroundings_unseen": owners.unseen}
    return {name: dict(counts) for name, counts in made.items() if counts}


hooks.reports.append(_report)

__all__ = ["Outcome", "RecordedToolError", "Served", "executed", "outcome", "tape_of"]
