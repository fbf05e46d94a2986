"""Bundles: one session taken out of its log as a log of its own, and brought in elsewhere under other ids."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import orjson

from lctl.clock import system_clock, system_ids
from lctl.codec import open_log
from lctl.conversation.restoring import names_in
from lctl.errors import NotALog, RecordingError, UsageError
from lctl.events import TAPE_TYPES
from lctl.record.journal import JournalStore
from lctl.session import naming
from lctl.session.durable.ids import new_id
from lctl.session.redaction.redact import Redactor
from lctl.session.session import LCTLSession

if TYPE_CHECKING:
    from lctl.session.durable.reading import Reading

Raw = dict[str, Any]

#: Keys of an event's data that name a message, a session, a conversation.
_MESSAGES = ("message_id", "parent_id", "fork_of", "copy_of", "turn_id", "prompt", "message", "about")
_LISTS = ("carry", "replaces", "messages", "nested")
_CONVERSATIONS = ("conversation_id", "parent_conversation_id")


def export(session: Reading, path: str | os.PathLike[str], redactor: Redactor | None) -> Path:
    """Write the session, and of those it was forked from what it begins with, to a new log.

    Raises:
        UsageError: the file exists.
        RecordingError: it cannot be written.
    """
    place = Path(path)
    origin = session.recording
    header = origin.store.chain if origin is not None else session.origin_chain.log.chain
    chain = {"id": f"{header.get('id') or 'chain'}:{session.id}", "bundle": {"session_id": session.id}}
    events = renumbered(_events(session))
    if redactor is not None:
        events = (redactor.event(event) or event for event in events)
    return write(place, chain, events)


def write(place: Path, chain: Raw, events: Iterator[Raw]) -> Path:
    if place.exists():
        raise UsageError(f"{place}: there is a file already; give another path")
    part = place.with_name(f".{place.name}.{os.getpid()}.part")
    store = JournalStore(part, chain)
    try:
        for event in events:
            store.append(orjson.dumps(event, option=orjson.OPT_NON_STR_KEYS))
        from lctl.session.ending import tail

        store.close(tail(store))
        part.replace(place)
    except OSError as error:
        raise RecordingError(f"{place}: cannot be written ({error.strerror or error})") from error
    finally:
        store.forget()
        part.unlink(missing_ok=True)
    return place


def load(path: str | os.PathLike[str], to: str | os.PathLike[str] | None) -> tuple[LCTLSession, str]:
    """A new log with the bundle's events, all ids new; and the session's id in it.

    Raises:
        LogError: the bundle cannot be read, or holds no session.
        UsageError: `to` exists.
    """
    bundle = open_log(path)
    events = [event.to_dict() for event in bundle.events()]
    started = [str(e["data"].get("session_id")) for e in events if e["type"] == "session_start"]
    told = bundle.chain.get("bundle")
    id = str(told.get("session_id")) if isinstance(told, dict) else next(iter(started[-1:]), "")
    if id not in started:
        raise NotALog(f"{bundle.name}: holds no session; session.export writes one that does")
    ids = _NewIds(events)
    name = str(bundle.chain.get("name") or naming.program())
    chain = {
        "id": system_ids.chain_id(name),
        "name": name,
        "imported": {"chain_id": bundle.id, "session_id": id},
    }
    place = Path(to) if to is not None else _free(naming.default_path(name, system_clock))
    place.parent.mkdir(parents=True, exist_ok=True)
    write(place, chain, (ids.event(event) for event in events))
    return LCTLSession(path=place), ids.sessions[id]


def _free(place: Path) -> Path:
    found, n = place, 2
    while found.exists():
        found, n = naming.with_suffix(place, str(n)), n + 1
    return found


# -- which events --------------------------------------------------------------------------------


def _events(session: Reading) -> Iterator[Raw]:
    """Of the session's log those that are about it, in order, with the large content that they name."""
    wanted: set[int] = set()
    named: set[Any] = set()
    for event in _own(session):
        wanted.add(event["seq"])
        data = event.get("data") or {}
        named.update(names_in(data))
        if isinstance(data.get("call"), dict):
            named.add(data["call"].get("tokens_ref"))
    for event in session.raw_events():
        if event["type"] == "blob":
            hash = (event.get("data") or {}).get("hash")
            if hash in named:
                named.remove(hash)
                yield event
        elif event["seq"] in wanted:
            yield event


def _own(session: Reading) -> Iterator[Raw]:
    """Of the session's log the events that are about it, in order."""
    members = dict(session.members())  # session id -> up to which event
    messages = _messages(session)
    steps: set[int] = set()
    for event in session.raw_events():
        seq, type, data = event["seq"], event["type"], event.get("data") or {}
        if type in TAPE_TYPES:
            continue
        whose = data.get("session_id")
        inside = event.get("step") in steps
        if whose is not None and whose in members:
            wanted = seq <= members[whose]
        elif type in ("message", "stream_start", "stream_chunk", "stream_end", "message_alias"):
            wanted = inside or str(data.get("message_id") or f"#{seq}") in messages
        else:
            wanted = inside
        if not wanted:
            continue
        if type == "step_start":
            steps.add(seq)
        yield event


def _messages(session: Reading) -> set[str]:
    """Ids of its messages and of all they come after or are copies of."""
    tree = session.tree
    found: set[int] = set()
    waiting = [node.number for _, node in session.numbered()]
    waiting += [
        tree[one["message_id"]].number for one in session.seed_references() if one["message_id"] in tree
    ]
    while waiting:
        for number in tree.way(waiting.pop(), strict=False):
            if number in found:
                break
            found.add(number)
            origin = tree.forest.origins.get(number)
            waiting += [origin] if origin is not None else []
            waiting += [node.number for node in tree.nested(tree.forest.ids[number])]
            waiting += [n for n in tree.forest.versions_at(number, tree.seq) if n not in found]
    return {tree.forest.ids[number] for number in found}


def renumbered(events: Iterator[Raw]) -> Iterator[Raw]:
    """The events as 1, 2, 3 ..., with what refers to their numbers."""
    numbers: dict[int, int] = {}
    for seq, event in enumerate(events, 1):
        numbers[event["seq"]] = seq
        data = dict(event.get("data") or {})
        if event["type"] == "message" and not data.get("message_id"):
            data["message_id"] = f"#{event['seq']}"
        if isinstance(data.get("stream"), int):
            data["stream"] = numbers.get(data["stream"], data["stream"])
        data.pop("tape", None)
        data.pop("events_hash", None)
        given = data.get("forked_from")
        if isinstance(given, Mapping) and isinstance(given.get("seq"), int):
            kept = [new for old, new in numbers.items() if old <= given["seq"]]
            data["forked_from"] = {**given, "seq": max(kept, default=0)}
        made = {**event, "seq": seq, "data": data}
        if event.get("step") is not None:
            if event["step"] in numbers:
                made["step"] = numbers[event["step"]]
            else:
                del made["step"]
        yield made


# -- other ids -----------------------------------------------------------------------------------


class _NewIds:
    """Names of one import: what the bundle calls a session, conversation or message, and its name here."""

    def __init__(self, events: list[Raw]) -> None:
        self._mark = token_hex(4)
        self.sessions: dict[str, str] = {}
        self.conversations: dict[str, str] = {}
        self._known: set[str] = set()
        for event in events:
            data = event.get("data") or {}
            if data.get("session_id") is not None:
                self.sessions.setdefault(str(data["session_id"]), new_id("sess"))
            for key in _CONVERSATIONS:
                if data.get(key) is not None:
                    self.conversations.setdefault(str(data[key]), new_id("conv"))
            if event["type"] in ("message", "stream_start", "stream_chunk", "stream_end"):
                self._known.add(str(data.get("message_id") or f"#{event['seq']}"))
            if event["type"] == "message_alias":
                self._known.add(str(data.get("alias")))

    def message(self, id: Any) -> Any:
        if not isinstance(id, str):
            return id
        if id not in self._known:
            base, plus, count = id.rpartition("+")  # a carried copy
            return f"{self.message(base)}+{count}" if plus and base in self._known else id
        whose, _, rest = id.rpartition("/")
        return f"{self.sessions[whose]}/{rest}" if whose in self.sessions else f"{id}~{self._mark}"

    def event(self, event: Raw) -> Raw:
        return {**event, "data": self._data(event.get("data") or {}, event["type"])}

    def _data(self, data: Raw, type: str) -> Raw:
        made = dict(data)
        _replace(made, ("session_id",), lambda id: self.sessions.get(id, id))
        _replace(made, _CONVERSATIONS, lambda id: self.conversations.get(id, id))
        if type == "message" and not made.get("message_id"):
            made.pop("message_id", None)
        keys = (*_MESSAGES, "alias") if type == "message_alias" else _MESSAGES
        _replace(made, [key for key in keys if isinstance(made.get(key), str)], self.message)
        for key in _LISTS:
            if isinstance(made.get(key), list):
                made[key] = [self.message(one) for one in made[key]]
        nested = made.get("nested_in")
        if isinstance(nested, dict):
            made["nested_in"] = {**nested, "message_id": self.message(nested.get("message_id"))}
        source = made.get("forked_from")
        if isinstance(source, dict):
            made["forked_from"] = self._data(source, "")
        if isinstance(made.get("seed_messages"), list):
            made["seed_messages"] = [
                {**one, "message_id": self.message(one["message_id"])} if _is_named(one) else one
                for one in made["seed_messages"]
            ]
        return made


def _is_named(seed: Any) -> bool:
    return isinstance(seed, dict) and "message_id" in seed


def _replace(data: Raw, keys: Any, name: Callable[[Any], Any]) -> None:
    for key in keys:
        if data.get(key) is not None:
            data[key] = name(data[key])
