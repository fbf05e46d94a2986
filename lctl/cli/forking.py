"""`lctl fork`: a recorded program again, from the tape up to an event, live and changed behind it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from lctl.analysis.wording import count, dollars, plain, seconds
from lctl.cli import DIFFERENCE, OK
from lctl.cli.options import disk_options, log_option, screened
from lctl.cli.rerunning import _TargetCommand
from lctl.cli.screen import Column, Piece, Screen
from lctl.cli.text import plural
from lctl.errors import LctlError, UsageError

if TYPE_CHECKING:
    from lctl.codec import Log
    from lctl.patch import Edit
    from lctl.rerun.exactness.certificate import Certificate
    from lctl.run.forking import Prepared
    from lctl.run.sweep import Trial, Variant

_CHOICES = ["live", "recorded", "dry-run", "ask"]


@click.command(cls=_TargetCommand)
@click.argument("target", default="last")
@click.option("--at", type=int, metavar="N", help="The last event that comes from the tape; 0: none does.")
@click.option("--set", "sets", multiple=True, metavar="EDIT", help="Change what is sent: model=gpt-4.1-mini.")
@click.option(
    "--result",
    "results",
    multiple=True,
    metavar="EDIT",
    help='Replace what comes back: \'tool:read={"text": ""}\'.',
)
@click.option("--edit", "in_editor", is_flag=True, help="Change event N in $EDITOR.")
@click.option("--vary", multiple=True, metavar="EDIT", help="One of several values; repeat it for each.")
@click.option("--repeat", type=click.IntRange(1), default=1, metavar="K", help="Run each variant K times.")
@click.option("--check", metavar="CMD", help="Exit code 0 of this command passes a run; it reads the output.")
@click.option("--jobs", type=click.IntRange(1), default=4, show_default=True, help="So many runs at once.")
@click.option("--yes", is_flag=True, help="Do not ask before spending.")
@click.option("--tools", type=click.Choice(_CHOICES), help="How every tool runs behind N.")
@click.option("--tool-policy", multiple=True, metavar="NAME=HOW", help="How one tool runs: grep=live.")
@click.option("--pdb", is_flag=True, help="A debugger in the live program at N; 'continue' goes on, live.")
@click.option("--all-live", is_flag=True, help="Nothing behind N comes from the tape, in no thread or task.")
@click.option(
    "--on-miss",
    type=click.Choice(["stop", "live"]),
    default="stop",
    show_default=True,
    help="What a call before N gets that the tape does not hold.",
)
@disk_options
@click.option("--allow", multiple=True, metavar="WHAT", help="Let through what the guard would refuse.")
@log_option("Write the fork's log here.")
@screened("Print the certificate as JSON; of several runs, one line each.")
def fork(screen: Screen, target: str, words: tuple[str, ...] = (), **options: Any) -> int:
    """Run the program of TARGET again: from the tape up to event N, live behind it, with changes.

    \b
      lctl fork last --at 41 --set model=gpt-4.1-mini
      lctl fork last --at 41 --set 'prompt.system+=Ask first.'
      lctl fork last --at 17 --result 'tool:read_file={"text": ""}'
      lctl fork last --at 41 --vary model=gpt-4.1 --vary model=gpt-4.1-mini --repeat 5 --check ./test.sh

    Only the strand of the program that event N is in goes live, and what follows from it; others stay on
    the tape. An edit holds from N on; 'agent=NAME EDIT', 'all EDIT' and '@M EDIT' say otherwise
    (spec/patch.md). Tools whose names say that they only look run; others are asked about, and
    without a terminal not run. The fork is a whole log of its own; the recording stays as it is.
    """
    from lctl.cli.target import opened

    log = opened(target, reruns=False, local=True)
    at, edits = _asked(log, options)
    prepared = _prepare(log, at, edits, words, options)
    for note in prepared.notes:
        sys.stderr.write(f"lctl: {plain(note)}\n")
    if options["vary"] or options["repeat"] > 1 or options["check"]:
        if options["pdb"]:
            raise UsageError("--pdb is for one run, not for a sweep")
        return _sweep(screen, log, at, edits, words, options, prepared)
    return _once(screen, prepared)


def _asked(log: Log, options: dict[str, Any]) -> tuple[int, list[Edit]]:
    """Where, and what is changed."""
    from lctl.rerun.forks.forking import edits_of

    at = options["at"]
    if at is None:
        raise UsageError(
            "--at N is missing: the last event that comes from the tape (lctl replay shows them)"
        )
    edits = [*edits_of(options["sets"]), *edits_of(options["results"], results=True)]
    if options["in_editor"]:
        from lctl.run.eventedit import edit_event, edits_between

        event = log.event(at)
        made = edits_between(log, event, edit_event(event))
        for edit in made:
            sys.stderr.write(f"lctl: {plain(str(edit), 200)}\n")
        edits += made
        if any(edit.side == "input" for edit in made):
            at -= 1  # a tool's arguments are changed before it is called
    return at, edits


def _prepare(
    log: Log, at: int, edits: list[Edit], words: tuple[str, ...], options: dict[str, Any]
) -> Prepared:
    from lctl.run.forking import prepare

    tools = ([options["tools"]] if options["tools"] else []) + list(options["tool_policy"])
    return prepare(
        log,
        at,
        edits,
        tools=tools,
        all_live=options["all_live"],
        on_miss=options["on_miss"],
        files=options["files"],
        writes=options["writes"],
        allow=options["allow"],
        output=options["output"],
        words=words,
        pdb=options["pdb"],
    )


# -- one run -----------------------------------------------------------------------------------


def _once(screen: Screen, prepared: Prepared) -> int:
    from lctl.run import again

    made, code = again.run(prepared.program, prepared.settings, aside=screen.json)
    if not made:
        raise LctlError("no certificate: the program was killed, or is no Python that has lctl installed")
    if screen.json:
        screen.json_value({**made[0].to_dict(), "code": code, "edits": list(prepared.settings.edits)})
    else:
        for line in _lines(made[0], prepared):
            sys.stderr.write(f"{line}\n")
    if made[0].stopped is not None or made[0].unaddressed or prepared.early(made[0]) is not None:
        return DIFFERENCE
    return code


def _lines(made: Certificate, prepared: Prepared) -> list[str]:
    """What came from where, in a few lines."""
    from lctl.rerun.exactness.reporting import changed, on_disk

    found = [] if made.stopped is None else [f"lctl: fork stopped: {made.stopped}", ""]
    counts = [
        f"{getattr(made, name)} {word}"
        for name, word in (
            ("exact", "from the tape"),
            ("drift", "from the tape though changed"),
            ("edited", "edited"),
            ("live", "live"),
            ("executed", "tools and reads run"),
            ("dry", "tools not run (dry run)"),
        )
        if getattr(made, name)
    ]
    said = ", ".join(counts) or "nothing asked"
    where = f"event {prepared.point.prefix} of {plain(made.of, 80)}"
    found.append(f"lctl: forked at {where}: {said} ({made.seconds:.2f} s)")
    if made.recalled:
        tools = plural(made.recalled, "tool call")
        how = "as the same call gave it (--tools dry-run, live: not)"
        found.append(f"  from the tape behind the fork point: {tools}, {how}")
    early = prepared.early(made)
    if early is not None:
        found.append(f"  not the recording, though before the fork point: {plain(str(early), 300)}")
    if made.stopped is None:
        found += [f"  an edit changed nothing: {plain(one, 300)}" for one in made.unaddressed]
    found += [f"  unused: {one}" for one in made.unused[:5]]
    found += [f"  blocked: {one}" for one in made.blocked[:5]]
    found += on_disk(made)
    if early is not None:
        found += changed(made)
    if made.log:
        found.append(f"  {made.log}  (lctl diff {plain(str(prepared.log.path))} {made.log})")
    return found


# -- many runs ---------------------------------------------------------------------------------


def _sweep(
    screen: Screen,
    log: Log,
    at: int,
    edits: list[Edit],
    words: tuple[str, ...],
    options: dict[str, Any],
    prepared: Prepared,
) -> int:
    from lctl.patch import parse_edit
    from lctl.run import sweep as sweeping

    if options["output"]:
        raise UsageError("--output names one file; the runs of a sweep each get one of their own")
    chosen = sweeping.variants([parse_edit(text) for text in options["vary"]])

    def make(variant: Variant) -> Prepared:
        return _prepare(log, at, [*edits, *variant.edits], words, options)

    for variant in chosen:
        make(variant)  # what cannot begin is said before anything is spent
    guess = sweeping.estimate(prepared, chosen, options["repeat"])
    cost = "at unknown cost" if guess.cost is None else f"about {dollars(guess.cost)}"
    sys.stderr.write(
        f"lctl: {plural(guess.runs, 'run')}, up to {plural(guess.calls, 'model call')}, "
        f"{count(guess.tokens)} tokens, {cost}\n"
    )
    if not options["yes"] and sweeping.terminal_needed() and not click.confirm("Run them?", err=True):
        return OK
    trials: list[Trial] = []
    for trial in sweeping.sweep(
        make, chosen, repeat=options["repeat"], check=options["check"], jobs=options["jobs"]
    ):
        trials.append(trial)
        if screen.json:
            screen.json_line(_document(trial))
        else:
            _say(trial)
    if not screen.json:
        _table(screen, chosen, trials)
    return OK if all(trial.passed for trial in trials) else DIFFERENCE


def _say(trial: Trial) -> None:
    mark = "✓" if trial.passed else "✗"
    where = trial.forked.certificate.log if trial.forked is not None else ""
    why = f"  {plain(trial.why, 120)}" if trial.why else ""
    sys.stderr.write(f"  {mark} {plain(str(trial.variant), 60)} #{trial.number}  {where}{why}\n")


def _table(screen: Screen, chosen: list[Variant], trials: list[Trial]) -> None:
    columns = [
        Column("VARIANT", flexible=True),
        Column("PASSED", right=True),
        Column("CALLS", right=True),
        Column("TOKENS", right=True),
        Column("COST", right=True),
        Column("TIME", right=True),
    ]
    rows: list[list[Piece]] = []
    for variant in chosen:
        mine = [trial for trial in trials if trial.variant == variant]
        passed = sum(trial.passed for trial in mine)
        costs = [trial.cost for trial in mine]
        total = None if any(cost is None for cost in costs) else sum(cost or 0.0 for cost in costs)
        rows.append(
            [
                plain(str(variant), 80),
                (
                    f"{passed}/{len(mine)}",
                    "green" if passed == len(mine) else "red" if not passed else "yellow",
                ),
                count(sum(trial.calls for trial in mine)),
                count(sum(trial.tokens.total for trial in mine)),
                "?" if total is None else dollars(total),
                seconds(1000 * sum(trial.seconds for trial in mine) / max(1, len(mine))),
            ]
        )
    screen.table(columns, rows)


def _document(trial: Trial) -> dict[str, Any]:
    made = trial.forked.certificate if trial.forked is not None else None
    return {
        "variant": [str(edit) for edit in trial.variant.edits],
        "run": trial.number,
        "passed": trial.passed,
        "why": trial.why or None,
        "log": made.log if made is not None else None,
        "calls": trial.calls,
        "tokens": trial.tokens.total,
        "cost": trial.cost,
        "certificate": made.to_dict() if made is not None else None,
    }
