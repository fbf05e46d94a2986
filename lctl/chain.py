"""A chain: the events of one log, and every state they lead to."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cached_property
from importlib import import_module
from typing import Any

import orjson

from lctl.codec import Log, open_log, write_log
from lctl.codec.conversion import form
from lctl.codec.lines import encode_value
from lctl.conversation.folding import fold_event
from lctl.conversation.forest import Forest
from lctl.conversation.node import Node
from lctl.conversation.reading import Events, Reader
from lctl.conversation.sessions import Sessions, sessions_of
from lctl.conversation.tree import Tree
from lctl.errors import UsageError
from lctl.events import VERSION, Event
from lctl.state.model import State
from lctl.state.summary import tail_of
from lctl.state.timeline import Timeline
from lctl.values import index_number

Path = str | os.PathLike[str]


class Chain:
    """One chain, complete and frozen.

        chain = Chain.load("run.lctl.json")
        chain.at(10).facts["F1"].confidence

    Args:
        id: of the chain.
        events: events, or dicts of them.
    """

    def __init__(self, id: str = "", events: Iterable[Event | Mapping[str, Any]] = ()) -> None:
        raw = [event.to_dict() if isinstance(event, Event) else event for event in events]
        self.log = _opened({"lctl": VERSION, "chain": {"id": id}, "events": raw})

    @classmethod
    def of(cls, log: Log) -> Chain:
        """The chain of an opened log."""
        chain = cls.__new__(cls)
        chain.log = log
        return chain

    @classmethod
    def load(cls, path: Path) -> Chain:
        """The chain in a file of any form and version lctl reads; "-" is standard input.

        Raises:
            LogError: as `lctl.codec.open_log`.
        """
        return cls.of(open_log(path))

    def save(self, path: Path) -> None:
        """Write the chain, with its final state and summary; the form follows the name (.yaml, .jsonl, else
        JSON). "-" is standard output.

        Raises:
            LogError: the path cannot be written.
        """
        suffix = os.path.splitext(os.fspath(path))[1].lstrip(".").lower()  # noqa: PTH122  (a path may be text)
        write_log(
            self.log,
            path,
            format=form(suffix) if suffix in ("yaml", "yml", "jsonl", "ndjson") else "json",
            tail=tail_of(self.log, self.log.chain),
        )

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Chain:
        """The chain of a decoded document: {"lctl", "chain", "events"}.

        Raises:
            NotALog: it is not one.
            UnsupportedVersion: it is one of a version not read here.
        """
        return cls.of(_opened(document))

    def to_dict(self) -> dict[str, Any]:
        """The document: version, chain and events, unknown keys included."""
        events = [event.to_dict() for event in self.events]
        return {"lctl": VERSION, "chain": dict(self.log.chain), **self.log.extra, "events": events}

    @property
    def id(self) -> str:
        """ "" when the log names none."""
        return self.log.id

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """All events, decoded and kept. For a long chain use `timeline`, or `log.events(start, stop)`."""
        return tuple(self.log.events())

    @cached_property
    def timeline(self) -> Timeline:
        """States in any order, read as far as needed."""
        return Timeline(self.log)

    def at(self, seq: int) -> State:
        """The state after event `seq`.

        Raises:
            UsageError: `seq` is no number.
        """
        number = index_number(seq)
        if number is None:
            raise UsageError(f"{self.log.name}: at({seq!r}): it takes the number of an event, such as 12")
        return self.timeline.at(number)

    @property
    def state(self) -> State:
        """The state at the end."""
        return self.timeline.last

    @cached_property
    def tree(self) -> Tree:
        """Every branch of every conversation, at any seq."""
        return tree_of(self.log)

    @cached_property
    def sessions(self) -> Sessions:
        """The sessions of the chain, at any seq."""
        return sessions_of(self.log, self.tree.forest)

    def path(self, message_id: str, *, strict: bool = True) -> list[Node]:
        """The messages from the root of a conversation to one of them.

        Raises:
            UsageError: there is no such message.
            BrokenChain: a message on the way is not in the log. With strict=False, what there is below it.
        """
        return self.tree.path(message_id, strict=strict)

    def transcript(self, message_id: str, *, strict: bool = True) -> list[dict[str, Any]]:
        """What a model reads whose context ends with that message: each one as its provider wrote it.

        Raises:
            UsageError, BrokenChain: as `path`.
        """
        return self.tree.transcript(message_id, strict=strict)

    def __len__(self) -> int:
        return len(self.log)

    def _repr_html_(self) -> str:
        """The debugger's page, in a notebook."""
        # By name: the page stands on everything, and nothing stands on it.
        return str(import_module("lctl.debugger.exporting").frame_of(self.log))

    def __repr__(self) -> str:
        return f"<Chain {self.id or self.log.name}: {len(self)} event{'' if len(self) == 1 else 's'}>"


def _opened(document: Mapping[str, Any]) -> Log:
    return open_log(encode_value(dict(document), option=orjson.OPT_NON_STR_KEYS))


def tree_of(log: Events) -> Tree:
    """The conversations of an opened log. A message's text is read from the log when asked for."""
    forest = Forest(Reader(log), str(getattr(log, "name", "")))
    for event in log.events():
        fold_event(forest, event.seq, event.type, event.agent, event.data, event.step)
    return Tree(forest)


def load(path: Path) -> Chain:
    """As `Chain.load`."""
    return Chain.load(path)
