"""Where a session is recorded, and how it begins: once, however often it is started."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lctl.conversation.hydrated import Hydrated
from lctl.conversation.sessions import Sessions
from lctl.elsewhere import is_elsewhere
from lctl.errors import LogNotFound, RecordingError, StoreAway, UsageError
from lctl.record.recorder import Draft
from lctl.session.conversing import Follower
from lctl.session.default import get_session
from lctl.session.durable.ids import new_id
from lctl.session.durable.tooling import tools_data
from lctl.session.durable.writing import as_stored, messages_data, recorded_as, same_message
from lctl.session.session import LCTLSession

Log = LCTLSession | str | os.PathLike[str] | None


def opened(log: Log, session_id: str | None = None) -> tuple[LCTLSession, bool]:
    """The recording a session goes into, and whether it was opened for it: the one given, the file given
    (gone on with if it is there), the chain of the session in the store given, else the running one, else a
    new one."""
    if isinstance(log, LCTLSession):
        return log, False
    if is_elsewhere(log):
        return _in_store(str(log), session_id), True
    if log is not None:
        return LCTLSession(path=Path(log)), True
    running = get_session()
    return (LCTLSession(), True) if running is None else (running, False)


def taken_up(log: Log, session_id: str | None) -> tuple[LCTLSession, bool]:
    """As `opened`, for a session that must be there.

    Raises:
        LogNotFound: there is no such log, or no such session in the store.
    """
    if is_elsewhere(log):
        from lctl.stores.opening import located

        return LCTLSession(store=located(str(log), session_id)), True
    if isinstance(log, str | os.PathLike) and not Path(log).exists():
        raise LogNotFound(f"{os.fspath(log)}: no such file; there is no session in it to take up")
    return opened(log)


def _in_store(address: str, session_id: str | None) -> LCTLSession:
    from lctl.stores.opening import located

    if session_id is not None:
        try:
            return LCTLSession(store=located(address, session_id, create=True))
        except (LogNotFound, StoreAway):
            pass  # it begins here; if it turns out to be there, it is stored beside that one
    return LCTLSession(store=address)


def start_data(
    session_id: str,
    *,
    conversation_id: str | None,
    trigger: Any,
    model: Any,
    tools: Any,
    state: Any,
    extra: Mapping[str, Any],
) -> dict[str, Any]:
    """The data of a session_start, seeds left out."""
    data: dict[str, Any] = {"session_id": session_id}
    if conversation_id is not None:
        data["conversation_id"] = conversation_id
    if trigger is not None:
        data["trigger"] = _trigger(trigger)
    if model is not None:
        data["model"] = model_data(model)
    data |= tools_data(tools)
    data |= {key: value for key, value in extra.items() if value is not None}
    if state is not None:
        data["state"] = state
    return data


def _trigger(trigger: Any) -> Any:
    if isinstance(trigger, str):
        return {"type": trigger}
    if isinstance(trigger, Mapping):
        return dict(trigger)
    try:
        kind, id = trigger
    except (TypeError, ValueError):
        raise UsageError(
            f"trigger={trigger!r}: it is ('email', 'msg-17'), or a type alone: 'email'"
        ) from None
    return {"type": kind, "id": id}


def model_data(model: Any) -> dict[str, Any]:
    """`model` of a session's start.

    Raises:
        UsageError: it is neither an id nor a mapping.
    """
    if isinstance(model, str):
        return {"id": model}
    if isinstance(model, Mapping):
        return dict(model)
    raise UsageError(f"model={model!r}: it is an id, or {{'id': ..., 'context_window': ...}}")


def seeds_in(given: Iterable[Any]) -> list[Any]:
    """The messages that `seed_messages` gives.

    Raises:
        UsageError: it is one message, and no list of them.
    """
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise UsageError(f"seed_messages={given!r:.80}: it is a list of messages, such as [{given!r:.80}]")
    return list(given)


def begin(
    follower: Follower, log: LCTLSession, data: dict[str, Any], seeds: Sequence[Any], agent: str | None
) -> Hydrated:
    """The session that `data` starts: a new one, or the one of that id that is there already.

    Raises:
        UsageError: there is one of that id that began otherwise.
        RecordingError: its beginning could not be recorded.
    """
    id = data["session_id"]
    messages = messages_data(seeds)
    with follower.writing_of(id):
        sessions = follower.sessions
        if id in sessions and sessions[id].start_data:
            known = sessions[id]
            _check_same(log, known, data, messages)
            if known.status == "failed":
                log.emit("session_start", dict(known.start_data), agent=agent)
            _missing_seeds(sessions, log, known, messages, agent)
            return sessions[id]
        seq = _record(log, {"conversation_id": new_id("conv", log), **data}, messages, agent)
        id = recorded_as(log, seq, "session_id", id)
        if id not in sessions:
            raise RecordingError(f"{log.path}: session {id} could not begin; 'lctl doctor' says why")
        return sessions[id]


def _record(log: LCTLSession, data: dict[str, Any], seeds: list[dict[str, Any]], agent: str | None) -> int:
    """The start and the seeds, in one write; the seq of the start."""
    place = log.frame()
    who = agent or place.agent
    data["seed_messages"] = [{"message_id": f"{data['session_id']}/{n}"} for n in range(1, len(seeds) + 1)]

    def build(first: int) -> list[Draft]:
        drafts: list[Draft] = [("session_start", who, data, place.step)]
        drafts += [("message", who, _seed(data, seed, n), place.step) for n, seed in enumerate(seeds, 1)]
        return drafts

    return log.emit_many(build)


def _seed(data: Mapping[str, Any], seed: Mapping[str, Any], number: int) -> dict[str, Any]:
    id = data["session_id"]
    return {
        "message_id": f"{id}/{number}",
        "parent_id": f"{id}/{number - 1}" if number > 1 else None,
        "conversation_id": data["conversation_id"],
        "session_id": id,
        "message_number": number,
        **seed,
    }


def _missing_seeds(
    sessions: Sessions, log: LCTLSession, known: Hydrated, seeds: list[dict[str, Any]], agent: str | None
) -> None:
    """The process may have died while its beginning was being written."""
    for number, seed in enumerate(seeds, 1):
        if f"{known.id}/{number}" not in sessions.forest.numbers and known.forked_from is None:
            data = {"session_id": known.id, "conversation_id": known.conversation}
            log.emit("message", _seed(data, seed, number), agent=agent)


def _check_same(log: LCTLSession, known: Hydrated, data: dict[str, Any], seeds: list[dict[str, Any]]) -> None:
    start = known.start_data
    given = as_stored(log, data)
    other: list[str] = [
        key
        for key in ("conversation_id", "model", "trigger", "tool_names")
        if key in given and start.get(key) != given[key]
    ]
    if len(seeds) != known.seed_count and seeds:
        other.append(f"seed_messages ({len(seeds)} and not {known.seed_count})")
    there = known.seed_messages
    for n, (one, seed) in enumerate(zip(there, seeds, strict=False), 1):
        if not same_message(one, as_stored(log, seed)):
            other.append(f"seed message {n}")
    if other:
        raise UsageError(
            f"{log.path}: session {known.id} began at event {known.start_seq} with another "
            f"{', '.join(other)}; start one with another id, or fork it"
        )
