"""`lctl verify` and `lctl validate`: is this what was recorded, and is it what the protocol says?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from lctl.cli import DIFFERENCE, OK
from lctl.cli.options import screened, target
from lctl.cli.screen import Piece, Screen
from lctl.cli.text import plain, plural

if TYPE_CHECKING:
    from lctl.codec import Log, Problem, Verification


@click.command()
@target()
@click.option("--sealed", is_flag=True, help="Fail also when there is no hash to hold the events against.")
@screened()
def verify(screen: Screen, target: str, sealed: bool) -> int:
    """Check that the events of TARGET are the ones that were written.

    They are held against the rolling hash that closing a log writes, against those in checkpoints, and
    against the order of their numbers. Exits with 1 when something contradicts.
    """
    from lctl.cli.target import opened
    from lctl.codec import verify as verified

    log = opened(target, problems=False)
    found = verified(log)
    has_seal = found.expected is not None
    if screen.json:
        screen.json_value(
            {
                "ok": found.ok,
                "sealed": has_seal,
                "events": found.events,
                "checkpoints": found.checkpoints,
                "hash": found.hash,
                "expected": found.expected,
                "first_bad": found.first_bad,
                "problems": [_problem(problem) for problem in found.problems],
            }
        )
    else:
        _say(screen, log, found)
    return OK if found.ok and (has_seal or not sealed) else DIFFERENCE


def _say(screen: Screen, log: Log, found: Verification) -> None:
    for problem in found.problems:
        screen.line(("✗ ", "red"), plain(str(problem)))
    if not found.ok:
        where = f" from event {found.first_bad} on" if found.first_bad is not None else ""
        screen.line(f"{plain(log.name)} is not as recorded{where}.")
    elif found.expected is not None:
        screen.line(
            ("✓ ", "green"), f"{plural(found.events, 'event')} as recorded", (f"  sha256 {found.hash}", "dim")
        )
    else:
        sealed = f"; {plural(found.checkpoints, 'checkpoint')} agree" if found.checkpoints else ""
        screen.line(("✓ ", "green"), f"{plural(found.events, 'event')} in order{sealed}.")
        reason = "The log was not closed, so it" if log.open else "The log"
        screen.line((f"{reason} carries no hash to hold them against.", "dim"))


@click.command()
@target()
@click.option(
    "--strict",
    is_flag=True,
    help="Count doubts as problems, and contracts that nothing in the log is of.",
)
@click.option(
    "--contracts", multiple=True, metavar="PATH", help="Check contracts instead: a file, or a folder of them."
)
@click.option("-n", "--limit", type=click.IntRange(1), default=50, show_default=True, help="Lines to print.")
@screened()
def validate(screen: Screen, target: str, strict: bool, contracts: tuple[str, ...], limit: int) -> int:
    """Check every event of TARGET against the protocol, or against contracts.

    A problem is an event that is not as the protocol says; a doubt is one that does not fit those before
    it, like the end of a step that never began. Types and keys that lctl does not know are allowed. Exits
    with 1 when there is a problem.
    """
    from lctl.cli.target import opened
    from lctl.codec import validate as validated

    log = opened(target, problems=False)
    if contracts:
        from lctl.cli.contracting import check_contracts

        return check_contracts(screen, log, contracts, limit, strict=strict)
    problems, doubts = validated(log), _doubts(log)
    if strict:
        problems, doubts = problems + doubts, []
    unknown = _unknown(log)
    if screen.json:
        screen.json_value(
            {
                "ok": not problems,
                "events": len(log),
                "problems": [_problem(problem) for problem in problems],
                "doubts": [_problem(doubt) for doubt in doubts],
                "unknown_types": unknown,
            }
        )
        return DIFFERENCE if problems else OK
    screen.line(f"Validating {plural(len(log), 'event')}...")
    _list(screen, ("✗ ", "red"), problems, limit)
    _list(screen, ("! ", "yellow"), doubts, limit)
    if unknown:
        names = ", ".join(f"{plain(name, 40)} ({n})" for name, n in list(unknown.items())[:8])
        screen.line((f"Kept, though unknown to this lctl: {names}", "dim"))
    if problems:
        screen.line(f"{plural(len(problems), 'problem')} in {plural(len(log), 'event')}.")
        return DIFFERENCE
    screen.line("All events valid." if len(log) else "There are no events to check.")
    return OK


def _doubts(log: Log) -> list[Problem]:
    """What folding the events could not take at its word, beyond what is wrong in an event by itself."""
    from lctl.chain import Chain
    from lctl.codec import Problem
    from lctl.state.reducer import fold

    found = [one for one in fold(log.events()).diagnostics if one.code not in _OF_ONE_EVENT]
    said = {(one.seq, one.code) for one in found}
    chain = Chain.of(log)
    tree = chain.tree
    more = [*tree.diagnostics, *chain.sessions.diagnostics]
    # a gap in the numbers of a session is told by both
    found += {(one.seq, one.text): one for one in more if (one.seq, one.code) not in said}.values()
    doubts = [Problem(one.seq, None, one.text) for one in found]
    for node in tree.orphans:
        above = tree.declared_parent(node.number) or "?"
        doubts.append(Problem(node.seq, None, f"message {node.id} hangs on {above}, which is not in the log"))
    return sorted(doubts, key=lambda one: one.seq or 0)


#: Diagnostics that `lctl.codec.validate` has already said in its own words.
_OF_ONE_EVENT = frozenset(
    {"seq_gap", "seq_order", "data_not_object", "bad_value", "missing_id", "confidence_range"}
)


def _list(screen: Screen, mark: Piece, problems: Sequence[Problem], limit: int) -> None:
    for problem in problems[:limit]:
        screen.line(mark, plain(str(problem)))
    if len(problems) > limit:
        screen.line((f"… {len(problems) - limit:,} more; --limit shows them", "dim"))


def _problem(problem: Problem) -> dict[str, object]:
    return {"seq": problem.seq, "line": problem.line, "text": problem.text}


def _unknown(log: Log) -> dict[str, int]:
    from lctl.events import KNOWN_TYPES

    return dict(Counter(event.type for event in log.events() if event.type not in KNOWN_TYPES).most_common())
