"""States in JSON: whole, to be restored from; and what stands at the end of a log's file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from lctl.errors import LogError
from lctl.state.blocks import decode_lines
from lctl.state.builder import Builder
from lctl.state.model import State, Tokens
from lctl.state.reducer import initial, reduce
from lctl.state.source import EventSource
from lctl.state.timeline import Timeline


def state_to_dict(state: State) -> dict[str, Any]:
    """The whole state in plain JSON values; keys of mappings by seq are texts.

    `state_from_dict` gives the same state back, and folding goes on from it.
    """
    return {name: _json(getattr(state, name)) for name in state.__struct_fields__}


def _json(value: Any) -> Any:
    if isinstance(value, Tokens):
        return value.to_dict()
    if isinstance(value, msgspec.Struct):
        return {name: _json(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, Mapping):
        return {str(key): _json(one) for key, one in value.items()}
    if isinstance(value, str | int | float) or value is None:
        return value
    return [_json(one) for one in value]


def state_from_dict(raw: Mapping[str, Any]) -> State:
    """The state `state_to_dict` was given.

    Raises:
        LogError: it is not such a dict.
    """
    try:
        state = msgspec.convert(raw, State, str_keys=True)
    except msgspec.ValidationError as error:
        raise LogError(f"not a state of this version: {error}; fold the events instead") from None
    replace = msgspec.structs.replace
    sequences = {
        name: tuple(value)
        for name in State.__struct_fields__
        if isinstance(value := getattr(state, name), list)
    }
    return replace(
        state,
        **sequences,
        steps={seq: replace(step, children=tuple(step.children)) for seq, step in state.steps.items()},
        facts={id: replace(fact, history=tuple(fact.history)) for id, fact in state.facts.items()},
    )


def summary_of(state: State) -> dict[str, Any]:
    """The chain in a few numbers, enough to list it: no key grows with its length.

    `models` has calls, errors, wall_ms and tokens of each, so that a reader can price them.
    `outcome`: of the top-level step the newest step is in; "open" while one is; "error" where an error came
    after that step's end, as of a program that died, or "interrupted" where that is Ctrl-C;
    null without steps and errors. In a log's tail its writer adds `lost`: events that it could not record.
    """
    totals = state.totals
    return {
        "events": totals.events,
        "first_timestamp": state.first_timestamp,
        "last_timestamp": state.last_timestamp,
        "duration_ms": totals.duration_ms,
        "agents": list(state.agents),
        "models": {name: _usage(usage) for name, usage in state.models.items()},
        "tools": {name: usage.calls for name, usage in state.tools.items()},
        "steps": totals.steps,
        "open_steps": len(state.open_steps),
        "llm_calls": totals.llm_calls,
        "tool_calls": totals.tool_calls,
        "errors": totals.errors,
        "messages": totals.messages,
        "facts": len(state.facts),
        "tokens": totals.tokens.to_dict(),
        "outcome": outcome_of(state),
    }


def _usage(usage: Any) -> dict[str, Any]:
    return {
        "calls": usage.calls,
        "errors": usage.errors,
        "wall_ms": usage.wall_ms,
        "tokens": usage.tokens.to_dict(),
    }


def outcome_of(state: State) -> str | None:
    """How a run ended: `outcome` of its summary."""
    if state.open_steps:
        return "open"
    newest = max(state.steps, default=None)
    late = "interrupted" if state.errors and state.errors[-1] == state.interrupted else "error"
    if newest is None:
        return late if state.errors else None
    step = state.steps[newest]
    while step.parent is not None:
        step = state.steps[step.parent]
    is_late = step.end_seq is not None and state.errors and state.errors[-1] > step.end_seq
    return late if is_late else step.outcome


def tail_of(source: EventSource | Iterable[bytes], chain: Mapping[str, Any]) -> dict[str, Any]:
    """`state` and `summary` as they stand at the end of a log's file.

    `state` is what the protocol puts there: the facts as they stand, and the seq up to which that holds.

    Args:
        source: a log, or its event lines in order.
        chain: the log's chain, of which the id is used.
    """
    state = _final(source, str(chain.get("id") or ""))
    facts = {
        id: {
            "text": fact.text,
            "confidence": fact.confidence,
            **({} if fact.source is None else {"source": fact.source}),
            "agent": fact.agent,
        }
        for id, fact in state.facts.items()
    }
    return {
        "state": {"checkpoint_seq": state.seq, "facts": facts, "open_steps": list(state.open_steps)},
        "summary": summary_of(state),
    }


def _final(source: EventSource | Iterable[bytes], chain_id: str) -> State:
    if isinstance(source, Iterable):
        builder = Builder(initial(chain_id))
        for block in decode_lines(source):
            reduce(builder, block)
        return builder.frozen()
    return Timeline(source).last
