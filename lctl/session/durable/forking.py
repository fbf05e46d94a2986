"""`session.fork`: another session that begins with this one's messages, in a log of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lctl.clock import system_clock, system_ids
from lctl.errors import UsageError
from lctl.kinship import link_to
from lctl.record.recorder import Draft
from lctl.session import naming, opening
from lctl.session.durable.beginning import model_data
from lctl.session.durable.cut import Cut, find_cut
from lctl.session.durable.ids import new_id
from lctl.session.durable.tooling import tools_data
from lctl.session.durable.writing import recorded_as
from lctl.session.session import LCTLSession
from lctl.stores.source import StoredEvents
from lctl.values import items

if TYPE_CHECKING:
    from lctl.session.durable.reading import Reading, Repair, SystemPatch
    from lctl.stores.address import Address

#: What stands for the result of a tool call that the fork cuts off.
NOT_RUN = "[not executed: the session was forked before this tool had answered]"


R = TypeVar("R", bound="Reading")


def fork(
    source: R,
    at: int | str | None,
    seq: int | None,
    *,
    model: Any,
    system_patch: SystemPatch,
    tools: Any,
    repair: Repair,
    path: str | os.PathLike[str] | None,
    session_id: str | None,
    conversation_id: str | None,
) -> R:
    if repair not in ("error", "truncate", "synthesize"):
        raise UsageError(f"repair={repair!r}: it is one of error, truncate, synthesize")
    if system_patch is not None and not isinstance(system_patch, str) and not callable(system_patch):
        raise UsageError(f"system_patch={system_patch!r:.80}: it is a text, or a function of the old one")
    if at is not None and seq is not None:
        raise UsageError(f"at={at!r} and seq={seq!r}: a fork begins at one place; leave one of the two out")
    cut = find_cut(source, at, seq, repair)
    view = source.at(cut.seq)
    place, chain = _place(source, view, cut, path)
    id = session_id or new_id("sess")
    data = {
        key: view.start_data[key]
        for key in ("trigger", "model", "policy", "tool_names", "tools", "seed_messages")
        if view.start_data.get(key) is not None
    }
    data |= {
        "session_id": id,
        "conversation_id": conversation_id or new_id("conv"),
        "parent_conversation_id": view.conversation,
        **tools_data(tools),
        "forked_from": {
            "chain_id": chain["parent"]["id"],
            "session_id": view.id,
            "message_number": cut.number,
            "seq": cut.seq,
        },
    }
    if model is not None:
        data["model"] = model_data(model)
    for key, value in (("state", view.state), ("state_version", view.state_version)):
        if value is not None:
            data[key] = value
    patched = _patch(view, cut, data, system_patch)
    log = _copy(source, cut.seq, place, chain)
    try:
        drafts = _drafts(log, data, patched, cut)
        last = log.emit_many(lambda first: drafts) + len(drafts) - 1
        made = type(source).live(log, recorded_as(log, last, "session_id", id))
        made.owns = True
        made.source = source.at(None)
        if cut.calls:
            made.record(*_made_up(view, cut.calls), details={"synthesized": True})
    except BaseException:
        log.close()
        raise
    return made


# -- the new log ---------------------------------------------------------------------------------


def _place(
    source: Reading, view: Reading, cut: Cut, path: str | os.PathLike[str] | None
) -> tuple[Path | None, dict[str, Any]]:
    origin = source.recording
    header: Mapping[str, Any] = origin.store.chain if origin is not None else source.origin_chain.log.chain
    stored = origin is not None and origin.destination is not None
    where = None if stored else origin.path if origin is not None else _path_of(source.origin_chain.log.path)
    tip = view.node(cut.number)
    known = header.get("known_as") if opening.redirect is not None else None
    parent = link_to(header, str(known or header.get("id") or ""), cut.seq)
    if tip is not None:
        parent["message_id"] = tip.id
    name = str(header.get("name") or naming.program())
    chain: dict[str, Any] = {"id": system_ids.chain_id(name), "name": name, "parent": parent}
    chain |= {"seed": opening.seed(), "copied": cut.seq}
    place = Path(path) if path is not None else None
    if place is not None and opening.redirect is None and place.exists():
        raise UsageError(f"{place}: there is a file already; a fork has a log of its own")
    if where is not None:
        folder = place.parent if place is not None else where.parent
        parent["log"] = Path(os.path.relpath(where, folder)).as_posix()
    if place is None and where is not None:
        place = naming.with_suffix(where, "fork")
    return place, chain


def _path_of(path: str | None) -> Path | None:
    return Path(path) if path is not None and path != "-" else None


def _copy(source: Reading, seq: int, place: Path | None, chain: dict[str, Any]) -> LCTLSession:
    """A new log that holds the source's events up to `seq`, byte for byte; of a source in a store, in that
    store."""
    to = _store_of(source) if place is None else None
    if to is not None:
        from lctl.stores.recording import begin_with

        begin_with(to, chain, _lines(source, seq))
        return LCTLSession(str(chain["id"]), store=to)
    if place is None:
        place = naming.default_path(str(chain["name"]), system_clock)
    if opening.redirect is None and place.exists():
        place = _free(place)
    store = opening.store(chain, place, "process", system_clock, adopt=False)
    for block in _blocks(_lines(source, seq)):
        store.append(b",\n".join(block), len(block))
    store.forget()
    return LCTLSession(path=place)


def _store_of(source: Reading) -> Address | None:
    if source.recording is not None:
        return source.recording.destination
    events = source.origin_chain.log.source
    return events.store.address if isinstance(events, StoredEvents) else None


def _free(place: Path) -> Path:
    n = 2
    while naming.with_suffix(place, str(n)).exists():
        n += 1
    return naming.with_suffix(place, str(n))


def _lines(source: Reading, seq: int) -> Iterator[bytes]:
    if source.recording is not None:
        return source.recording.store.read(1, seq + 1)
    return source.origin_chain.log.lines(0, seq + 1)


def _blocks(lines: Iterator[bytes]) -> Iterator[list[bytes]]:
    block: list[bytes] = []
    for line in lines:
        block.append(line)
        if len(block) == 1000:
            yield block
            block = []
    if block:
        yield block


# -- what it begins with -------------------------------------------------------------------------


def _patch(view: Reading, cut: Cut, data: dict[str, Any], patch: SystemPatch) -> dict[str, Any] | None:
    """A system prompt that differs is another root, below which the messages are carried."""
    if patch is None:
        return None
    first = view.node(1)
    seeds = view.seed_messages
    old = first.text if seeds and first is not None and first.role in ("system", "developer") else None
    new = patch if isinstance(patch, str) else patch(old or "")
    if new == old:
        return None
    if old is None or first is None:
        raise UsageError(f"session {view.id} has no system message as its first seed; there is none to patch")
    root = {**seeds[0], "content": new}
    id = f"{data['session_id']}/1"
    message: dict[str, Any] = {"message_id": id, "parent_id": None, "fork_of": first.id, **root}
    message["conversation_id"] = data["conversation_id"]
    last = view.node(cut.number)
    ids = [id]
    if last is not None and last.number != first.number:
        way = view.tree.way(last.number)
        message["carry"] = [view.tree.node(way[1]).id, last.id]
        ids += [f"{id}+{n}" for n in range(1, len(way))]
    data["seed_messages"] = [{"message_id": one} for one in ids[: view.seed_count]]
    data["forked_from"]["message_id"] = ids[-1]
    return message


def _drafts(log: LCTLSession, data: dict[str, Any], patched: dict[str, Any] | None, cut: Cut) -> list[Draft]:
    drafts: list[Draft] = []
    if cut.streaming is not None:
        drafts.append(("stream_end", log.agent, {"message_id": cut.streaming, "status": "aborted"}, None))
    if patched is not None:
        drafts.append(("message", log.agent, patched, None))
    drafts.append(("session_start", log.agent, data, None))
    return drafts


def _made_up(view: Reading, calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Results of tool calls, in the dialect the calls were made in."""
    made: list[dict[str, Any]] = []
    parts: list[dict[str, Any]] = []
    for id in (call["id"] for call in calls):
        kind = _kind(view, id)
        if kind == "tool_use":
            parts.append({"type": "tool_result", "tool_use_id": id, "content": NOT_RUN, "is_error": True})
        elif kind == "function_call":
            made.append({"type": "function_call_output", "call_id": id, "output": NOT_RUN})
        else:
            made.append({"role": "tool", "tool_call_id": id, "content": NOT_RUN})
    return made + ([{"role": "user", "content": parts}] if parts else [])


def _kind(view: Reading, call_id: Any) -> str | None:
    """The type of the part of a message that called a tool: "tool_use" of Anthropic, "function_call" of the
    Responses API; None where the call stands beside the content."""
    for node in reversed(view.nodes):
        for part in items(node.data.get("content")):
            if isinstance(part, Mapping) and call_id in (part.get("id"), part.get("call_id")):
                return str(part.get("type"))
    return None
