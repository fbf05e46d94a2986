"""`lctl doctor --repeat`: a program run several times, and what came out differently, by line of its code."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lctl.analysis.wording import plain
from lctl.cli.text import plural
from lctl.errors import LctlError

if TYPE_CHECKING:
    from lctl.analysis.borders import Comparison, Finding
    from lctl.cli.screen import Piece, Screen
    from lctl.codec import Log

#: The two hash seeds: any will do, so long as they differ.
_SEED, _OTHER_SEED = "1", "2"

_ADVICE = {
    "model": "recorded, so a rerun has the same answer; temperature=0 and a seed make live ones more alike",
    "http": "recorded, so a rerun has the same answer",
    "tool": "recorded, so a rerun has the same result",
    "clock": "recorded; pass the time in as an argument to have it the same in live runs",
    "log": "recorded; the time of a log line of a library",
    "random": "recorded; random.seed(n), or Random(n) of your own, makes live runs alike",
    "uuid": "recorded; take ids from a counter, or uuid5 of what they name, to have them the same live",
    "environment": "recorded; it changed while the program was run",
    "stdin": "recorded",
    "host": "recorded",
    "process": "recorded; another one in each process",
}
_UNRECORDED = (
    "asked differently, although every recorded answer before it was the same: something is read that is "
    "not recorded (a file, a folder's listing, a database, a thread race); make it a tool with @lctl.tool"
)


class Run(NamedTuple):
    """One run: its log (None: nothing entered it), exit code, and a hash of what it wrote to stdout."""

    log: Log | None
    code: int
    output: str


class Result(NamedTuple):
    """What the runs showed.

    Attributes:
        found: of the runs with one hash seed.
        same_output: those wrote the same.
        hash_seed: another one changes what is asked or written; None where that cannot be told.
    """

    found: Comparison
    codes: list[int]
    same_output: bool
    hash_seed: bool | None

    @property
    def differs(self) -> bool:
        found = self.found
        return bool(
            found.findings
            or found.follow
            or self.hash_seed
            or not self.same_output
            or len(set(self.codes)) > 1
        )


def examine(screen: Screen, argv: list[str], repeat: int) -> int:
    """Run the program, say what differs; 1 if something does, else 0.

    Raises:
        LctlError: it cannot be started, or its log not be read.
    """
    chosen = os.environ.get("PYTHONHASHSEED", "random")
    seeds = [_SEED] * repeat + [_OTHER_SEED] if chosen == "random" else [chosen] * repeat
    more = " (once with another hash seed)" if chosen == "random" else ""
    _say(
        f"running {plain(' '.join(argv[1:]), 80)} {len(seeds)} times{more}: its calls are real and cost money"
    )
    with tempfile.TemporaryDirectory(prefix="lctl-doctor-") as folder:
        runs = [_run(argv, Path(folder) / f"{n}.lctl.json", seed) for n, seed in enumerate(seeds, 1)]
        result = _result(runs, repeat)
    if screen.json:
        screen.json_value(_report(result))
    else:
        _print(screen, result)
    return int(result.differs)


def _run(argv: list[str], path: Path, seed: str) -> Run:
    from lctl.codec import open_log
    from lctl.run.environment import Recording, environment

    inner = environment(Recording(path=path, record="full"))
    # LCTL_RUN is a process id that none has: the log is for whichever Python records first.
    inner |= {"PYTHONHASHSEED": seed, "LCTL_QUIET": "1", "LCTL_RUN": "0", "LCTL_DIR": str(path.parent)}
    written = sha256()
    try:
        with subprocess.Popen(argv, env=inner, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            while piece := process.stdout.read1(1 << 16):  # type: ignore[attr-defined]
                written.update(piece)
    except OSError as error:
        raise LctlError(f"{argv[0]}: cannot be started ({error.strerror or error})") from None
    return Run(open_log(path) if path.exists() else None, process.returncode, written.hexdigest())


def _result(runs: list[Run], repeat: int) -> Result:
    from lctl.analysis.borders import Comparison, asks_otherwise, compare

    same, other = runs[:repeat], runs[repeat:]
    logs = [run.log for run in same if run.log is not None]
    found = compare(logs) if len(logs) == repeat else Comparison(0, (), 0, repeat)
    same_output = len({run.output for run in same}) == 1
    hash_seed: bool | None = False
    for run in other:
        if len(logs) == repeat and run.log is not None:
            hash_seed = asks_otherwise(logs, run.log)
        if not hash_seed and same_output:
            hash_seed = run.output != runs[0].output
    return Result(found, [run.code for run in runs], same_output, hash_seed)


def _report(result: Result) -> dict[str, Any]:
    found = result.found
    return {
        "runs": len(result.codes),
        "same": not result.differs,
        "exit_codes": result.codes,
        "same_output": result.same_output,
        "hash_seed_matters": result.hash_seed,
        "crossings": found.crossings,
        "findings": [
            {
                "kind": finding.kind,
                "name": finding.name,
                "place": finding.place,
                "agent": finding.agent,
                "times": finding.times,
                "seq": finding.seq,
                "recorded": finding.cause,
                "advice": _advice(finding),
            }
            for finding in found.findings
        ],
        "follow": found.follow,
    }


def _advice(finding: Finding) -> str:
    return _ADVICE.get(finding.kind, "recorded") if finding.cause else _UNRECORDED


def _print(screen: Screen, result: Result) -> None:
    found = result.found
    for finding in found.findings:
        place = finding.place or f"event {finding.seq}, agent {finding.agent}"
        times = "" if finding.times == 1 else f"  {finding.times} times"
        mark: Piece = ("~ ", "yellow") if finding.cause else ("✗ ", "red")
        screen.line(mark, (plain(place), "bold"), f"  {finding.kind} {plain(finding.name)}{times}")
        screen.line("    ", (_advice(finding), "dim"))
    if found.follow:
        screen.line(
            "  ", (f"{plural(found.follow, 'crossing')} differed after these, as may be expected", "dim")
        )
    if result.hash_seed:
        screen.line(
            ("✗ ", "red"), "the hash seed matters: the order of a set shows in what is asked or written"
        )
        screen.line(
            "    ", ("'lctl run' sets it and a rerun has the same; sort sets to have it so live", "dim")
        )
    elif result.hash_seed is None:
        screen.line("  ", ("whether the hash seed matters cannot be told from these runs", "dim"))
    if not result.same_output and not found.findings:
        screen.line(
            ("✗ ", "red"), "the output differs, and nothing recorded does: a file, a race, or an id in memory"
        )
    if len(set(result.codes)) > 1:
        screen.line(("✗ ", "red"), f"exit codes: {', '.join(map(str, result.codes))}")
    if not result.differs:
        screen.line(("✓ ", "green"), f"{plural(found.crossings, 'crossing')}, the same in every run")


def _say(text: str) -> None:
    sys.stderr.write(f"lctl: {text}\n")
    sys.stderr.flush()
