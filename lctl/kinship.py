"""Which run a chain came of. Ids are free (`--chain nightly`), so several runs may have the same one.

A link names its parent's id, and as `run` a digest of its `seed`, which no other run has. The seed itself
stays in the log: of it ids are made that nobody outside should know beforehand. Links of older logs have no
`run`: of several runs of that id, the newest that had begun when the child began is taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

#: What `run` of a link looks like.
MARK = "[0-9a-f]{12}"
_MARK = re.compile(MARK)
_TEXT = re.compile(rf"(.+?):(\d+)(?::([\d.~a-f/st]*\.[\d.~a-f/st]*))?(?:@({MARK}))?", re.DOTALL)


class Link(NamedTuple):
    """What a chain's header says of the one it came of. `run`: its mark, "" where that is not told."""

    id: str
    run: str = ""

    def agrees(self, other: Link) -> bool:
        """Both may be to one run."""
        return self.id == other.id and (not self.run or not other.run or self.run == other.run)


class Born(NamedTuple):
    """A run, as far as kinship goes. `began`: seconds since the epoch."""

    id: str
    chain: Mapping[str, Any]
    began: float


def mark_of(chain: Mapping[str, Any]) -> str:
    """What tells a run from others of its id; "" of a log without a seed."""
    seed = chain.get("seed")
    return sha256(seed.encode("utf-8", "surrogatepass")).hexdigest()[:12] if isinstance(seed, str) else ""


def link_to(chain: Mapping[str, Any], id: str, seq: int) -> dict[str, Any]:
    """The link to event `seq` of a chain, for the header of one that comes of it."""
    mark = mark_of(chain)
    return {"id": id, "seq": seq, **({"run": mark} if mark else {})}


def text_of(link: Mapping[str, Any]) -> str:
    """A link, for the environment of a process: `<chain id>:<seq>:<lane>@<mark>`, as far as it has them."""
    lane, run = link.get("lane"), link.get("run")
    return f"{link['id']}:{link['seq']}{f':{lane}' if lane else ''}{f'@{run}' if run else ''}"


def link_of(text: str) -> dict[str, Any]:
    """The link of such a text; {} of another."""
    found = _TEXT.fullmatch(text)
    if found is None:
        return {}
    link = {"id": found[1], "seq": int(found[2]), "run": found[4], "lane": found[3]}
    return {key: value for key, value in link.items() if value is not None}


def link_in(said: Any) -> Link | None:
    """A header's `parent`, read."""
    if not isinstance(said, Mapping) or not said.get("id"):
        return None
    run = said.get("run")
    return Link(str(said["id"]), run if isinstance(run, str) and _MARK.fullmatch(run) else "")


def parent_of(chain: Mapping[str, Any]) -> Link | None:
    """The chain it was forked from, or whose program started its own."""
    link = link_in(chain.get("parent"))
    if link is not None and not link.run and "fork" in chain:
        return Link(link.id, mark_of(chain))  # a fork has the seed of what was forked
    return link


def origin_of(chain: Mapping[str, Any]) -> Link | None:
    """As `parent_of`; of a rerun, what was run again."""
    again = chain.get("rerun")
    if isinstance(again, Mapping) and again.get("of"):
        return Link(str(again["of"]), mark_of(chain))  # and so has a rerun
    return parent_of(chain)


def starter_of(chain: Mapping[str, Any]) -> Link | None:
    """The chain whose program started its own; None of forks and reruns."""
    said = chain.get("parent")
    if {"fork", "rerun"} & chain.keys() or not isinstance(said, Mapping) or said.get("fork"):
        return None
    return parent_of(chain)


def names(link: Link | None, chain: Mapping[str, Any], id: str | None = None) -> bool:
    """Whether the link may be to that chain, as far as the two tell."""
    given = str(chain.get("id") or "") if id is None else id
    return link is not None and link.agrees(Link(given, mark_of(chain)))


def is_to(said: Any, chain: Mapping[str, Any]) -> bool:
    """As `names`, of a header's `parent`."""
    return names(link_in(said), chain)


def parents(
    known: Sequence[Born], relation: Callable[[Mapping[str, Any]], Link | None] = origin_of
) -> list[int | None]:
    """Of each run the place of the one it came of, if that is there."""
    by_id: dict[str, list[int]] = {}
    by_mark: dict[str, list[int]] = {}
    for at, one in enumerate(known):
        by_id.setdefault(one.id, []).append(at)
        if mark := mark_of(one.chain):
            by_mark.setdefault(mark, []).append(at)
    found: list[int | None] = []
    for at, one in enumerate(known):
        link = relation(one.chain)
        if link is None:
            found.append(None)
            continue
        exact = [n for n in by_mark.get(link.run, ()) if n != at and _is_called(known[n], link.id)]
        fitting = exact or [
            n
            for n in by_id.get(link.id, ())
            if one.id != link.id and names(link, known[n].chain, known[n].id)
        ]
        found.append(_nearest(known, fitting, one.began))
    return found


def _is_called(one: Born, id: str) -> bool:
    """By that id, or by the one a store gave it which has another chain of that id."""
    if one.id == id:
        return True
    above = one.chain.get("parent")
    return isinstance(above, Mapping) and bool(above.get("conflict")) and above.get("id") == id


def _nearest(known: Sequence[Born], fitting: Sequence[int], began: float) -> int | None:
    """The newest that had begun by then. None had where clocks differ: then the one that came first."""
    before = [n for n in fitting if known[n].began <= began]
    if before:
        return max(before, key=lambda n: known[n].began)
    return min(fitting, key=lambda n: known[n].began, default=None)


def family(root: Born, known: Sequence[Born]) -> list[tuple[int, int]]:
    """The runs of `known` that the root started, and those that these started, parents first: of each its
    place in `known`, and its parent's in this list, counted from 1; 0 is the root."""
    below: dict[int, list[int]] = {}
    everyone = [root, *known]
    for at, above in enumerate(parents(everyone, starter_of)):
        if above is not None:
            below.setdefault(above, []).append(at)
    copies: dict[tuple[str, str | int], list[int]] = {}
    for at, one in enumerate(everyone):
        copies.setdefault(_same(one, at), []).append(at)
    found: list[tuple[int, int]] = []
    waiting = [(at, 0) for at in copies[_same(root, 0)]]
    seen = {at for at, _ in waiting}
    for at, place in waiting:  # grows while it is gone through
        for child in sorted(below.get(at, ()), key=lambda n: (everyone[n].id, everyone[n].began)):
            if child not in seen:
                found.append((child - 1, place))
                again = copies[_same(everyone[child], child)]
                seen.update(again)
                waiting += [(n, len(found)) for n in again]
    return found


def _same(one: Born, at: int) -> tuple[str, str | int]:
    """What a run and copies of its log have in common."""
    return one.id, mark_of(one.chain) or at
