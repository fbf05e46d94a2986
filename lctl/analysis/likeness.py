"""How alike events are: of each of some, what it must have in common with its like."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from lctl.analysis.steptree import Side

Likeness = Callable[[Side, Sequence[int]], Sequence[Hashable]]


def whole(side: Side, some: Sequence[int]) -> Sequence[Hashable]:
    deep = side.deep
    return [deep[n] for n in some]


def place(side: Side, some: Sequence[int]) -> Sequence[Hashable]:
    """The same call at the same point of a conversation, whatever was answered."""
    keys, chains, mine = side.keys, side.chains, id(side)
    return [(n, mine) if chains[n] is None else (keys[n], chains[n]) for n in some]


def way(side: Side, some: Sequence[int]) -> Sequence[Hashable]:
    chains = side.chains
    return [chains[n] for n in some]


def own_way(side: Side, some: Sequence[int]) -> Sequence[Hashable]:
    chains, agents = side.chains, side.trace.agents
    return [(chains[n], agents[n]) for n in some]


def content(side: Side, some: Sequence[int]) -> Sequence[Hashable]:
    keys, inside = side.keys, side.inside
    return [(keys[n], inside[n]) for n in some]


def same_prompt(side: Side, some: Sequence[int]) -> Sequence[Hashable]:
    keys, prompts = side.keys, side.prompts
    return [(keys[n], prompts.get(n)) for n in some]


def same_start(side: Side, some: Sequence[int]) -> Sequence[Hashable]:
    keys = side.keys
    return [keys[n] for n in some]


def same_inside(side: Side, some: Sequence[int]) -> Sequence[Hashable]:
    inside, seqs, mine = side.inside, side.trace.seqs, id(side)
    return [inside[n] or ("nothing in it", seqs[n], mine) for n in some]


def same_name(side: Side, some: Sequence[int]) -> Sequence[Hashable]:
    types, agents, names = side.trace.types, side.trace.agents, side.trace.names
    return [hash((types[n], agents[n], names[n])) for n in some]


def is_named_alike(left: Side, n: int, right: Side, m: int) -> bool:
    """`same_name` of one of either side."""
    mine, other = left.trace, right.trace
    return (
        mine.names[n] == other.names[m]
        and mine.types[n] == other.types[m]
        and mine.agents[n] == other.agents[m]
    )


def same_agent(side: Side, some: Sequence[int]) -> Sequence[Hashable]:
    types, agents = side.trace.types, side.trace.agents
    return [(types[n], agents[n]) for n in some]


def under_another_agent(side: Side, some: Sequence[int]) -> Sequence[Hashable]:
    types, names = side.trace.types, side.trace.names
    return [(types[n], names[n]) for n in some]


LIKE_STEPS = (place, content, same_prompt, same_start, same_inside)
STEP_LEVELS = (same_prompt, same_start, same_inside, same_name, same_agent)
EVENT_LEVELS = (same_name, same_agent)
