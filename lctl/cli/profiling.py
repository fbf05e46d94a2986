"""`lctl agents`: how far each agent was right, over one run or many, and whether it kept to its profile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from lctl.analysis.wording import count, plain
from lctl.cli import DIFFERENCE, OK
from lctl.cli.options import screened
from lctl.cli.screen import Column, Piece, Screen

if TYPE_CHECKING:
    from lctl.trust.profiles import AgentType, Overreach, Record


@click.command()
@click.argument("targets", nargs=-1, metavar="[TARGET]...")
@click.option("--all", "everything", is_flag=True, help="Every recorded run.")
@click.option("--types", metavar="FILE", help="Agent types of your own: a YAML or JSON file.")
@screened()
def agents(screen: Screen, targets: tuple[str, ...], everything: bool, types: str | None) -> int:
    """Show how far each agent of TARGETs (default: the last run) was right, and what it used.

    Reliability counts outermost steps that succeeded or failed (not those that were stopped, nor what failed
    inside one: 'lctl errors' lists that), and facts that another agent or a consensus verified or refuted.
    Tools that an agent's profile does not cover are listed; then it exits with 1.
    """
    from lctl.analysis.together import together
    from lctl.cli.failing import logs_of
    from lctl.trust.policy import policy_of
    from lctl.trust.profiles import overreaches, records

    known = _types(types)
    logs = together(logs_of(targets, everything))
    found = records((policy_of(log.chain, log.extra), log.events(), told) for log, _, told in logs)
    beyond = [
        (name, one)
        for log, name, told in logs
        for one in overreaches(log.events(), known)
        if any(seq > told for seq in one.seqs)
    ]
    if screen.json:
        screen.json_value(_document(len(logs), found, beyond))
    else:
        _say(screen, found, beyond)
    return DIFFERENCE if beyond else OK


def _types(path: str | None) -> dict[str, AgentType] | None:
    if path is None:
        return None
    from pathlib import Path

    from lctl.codec.yamltext import composed
    from lctl.errors import UsageError
    from lctl.trust.profiles import agent_types

    try:
        document, _ = composed(Path(path).read_text(encoding="utf-8"), path)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8 text ({error.reason} at byte {error.start})") from None
    except ValueError as error:
        line, column, reason = error.args[0]
        raise UsageError(f"{path}:{line}:{column}: {reason}") from None
    if not isinstance(document, dict):
        raise UsageError(f"{path}: expected agent_types: and below it a name for each type")
    return agent_types(document)


def _say(screen: Screen, found: dict[str, Record], beyond: list[tuple[str, Overreach]]) -> None:
    if not found:
        screen.line("No agent ended a step or had a fact judged.")
    else:
        titles = ("STEPS", "FAILED", "VERIFIED", "REFUTED", "RELIABILITY")
        rows: list[list[Piece]] = [
            [
                plain(agent, 40),
                count(one.succeeded + one.failed),
                count(one.failed) if one.failed else "",
                count(one.verified) if one.verified else "",
                (count(one.refuted), "yellow") if one.refuted else "",
                "-" if one.reliability is None else f"{one.reliability:.2f}",
            ]
            for agent, one in sorted(found.items())
        ]
        screen.table([Column("AGENT"), *(Column(title, right=True) for title in titles)], rows)
        if any(one.failed for one in found.values()):
            said = "STEPS are outermost ones; what failed inside them: lctl errors"
            screen.line((said, "dim"))
    for run, one in beyond:
        where = ", ".join(map(str, one.seqs[:5])) + (", …" if len(one.seqs) > 5 else "")
        screen.line(
            ("! ", "yellow"),
            f"{plain(one.agent, 40)} ({plain(one.type, 30)}) used {plain(one.tool, 40)}: "
            f"{one.capability} is not among its capabilities",
            (f"  {plain(run, 40)} {where}", "dim"),
        )


def _document(runs: int, found: dict[str, Record], beyond: list[tuple[str, Overreach]]) -> dict[str, Any]:
    return {
        "runs": runs,
        "agents": [
            {
                "agent": one.agent, "succeeded": one.succeeded, "failed": one.failed,
                "verified": one.verified, "refuted": one.refuted, "reliability": one.reliability,
            }
            for one in found.values()
        ],
        "beyond": [
            {"run": run, "agent": one.agent, "type": one.type, "tool": one.tool, "capability": one.capability,
             "seqs": list(one.seqs)}
            for run, one in beyond
        ],
    }  # fmt: skip
