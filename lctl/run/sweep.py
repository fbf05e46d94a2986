"""A fork run many times: each variant of its edits as often as asked, some at once, and how they came out."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import NamedTuple

from lctl.analysis.prices import Prices
from lctl.analysis.stats import stats
from lctl.clock import system_clock
from lctl.codec import Log, open_log
from lctl.errors import LctlError
from lctl.patch import Edit
from lctl.rerun.exactness.certificate import Certificate
from lctl.rerun.exactness.results import certificates
from lctl.rerun.settings import VARIABLE
from lctl.run.forking import Forked, Prepared
from lctl.session import naming
from lctl.state.model import Tokens

_naming = threading.Lock()
_named: set[Path] = set()


class Variant(NamedTuple):
    """One choice of the edits that are varied; the empty one is the fork as it is."""

    edits: tuple[Edit, ...]

    def __str__(self) -> str:
        return ", ".join(map(str, self.edits)) or "as given"


class Trial(NamedTuple):
    """One run of one variant.

    Attributes:
        passed: what --check says; without one, whether the program ended well.
        why: of a run that could not be made.
        calls: model calls that were sent.
        cost: dollars of those; None where a price is unknown.
    """

    variant: Variant
    number: int
    forked: Forked | None
    passed: bool
    why: str = ""
    calls: int = 0
    tokens: Tokens = Tokens()
    cost: float | None = None
    seconds: float = 0.0


class Estimate(NamedTuple):
    """What a sweep is likely to cost, by what the recorded calls behind the fork point used."""

    runs: int
    calls: int
    tokens: int
    cost: float | None


def variants(varied: Sequence[Edit]) -> list[Variant]:
    """Every combination: edits of one target are alternatives."""
    groups: dict[tuple[object, ...], list[Edit]] = {}
    for edit in varied:
        groups.setdefault((edit.root, edit.path, edit.scope), []).append(edit)
    return [Variant(chosen) for chosen in product(*groups.values())]


def estimate(prepared: Prepared, chosen: Sequence[Variant], repeat: int) -> Estimate:
    """From the recorded tokens of the calls that would be asked again, at each variant's model's price."""
    prices = Prices()
    used: list[tuple[str | None, Tokens, str]] = []
    from lctl.analysis.log import model_of, tokens_of

    steps = {entry.step for entry in prepared.live_calls}
    for event in prepared.log.events():
        if event.type == "step_end" and event.step in steps:
            tokens = tokens_of(event.data)
            if tokens is not None:
                used.append((model_of(event.data), tokens, event.timestamp))
    cost: float | None = 0.0
    given = [edit for text in prepared.settings.edits if (edit := _parsed(text)).root == "model"]
    for variant in chosen:
        named = [edit for edit in (*given, *variant.edits) if edit.root == "model" and edit.operator == "="]
        for model, tokens, at in used:
            one = prices.cost(str(named[-1].value) if named else model, tokens, at=at)
            cost = None if cost is None or one is None else cost + one * repeat
    runs = len(chosen) * repeat
    total = sum(tokens.total for _, tokens, _ in used) * runs
    return Estimate(runs, len(steps) * runs, total, cost)


def _parsed(text: str) -> Edit:
    from lctl.patch import parse_edit

    return parse_edit(text)


def sweep(
    make: Callable[[Variant], Prepared],
    chosen: Iterable[Variant],
    *,
    repeat: int = 1,
    check: str | None = None,
    jobs: int = 4,
    timeout: float | None = None,
) -> Iterator[Trial]:
    """Run each variant `repeat` times, `jobs` at once; each trial as it ends.

    Args:
        check: a shell command that is given the fork's log in LCTL_FORK_LOG and the program's output in
            LCTL_FORK_OUTPUT and on its standard input; exit code 0 passes.
        timeout: seconds that one run may take.
    """
    todo = [(variant, make(variant), number) for variant in chosen for number in range(1, repeat + 1)]
    with ThreadPoolExecutor(max_workers=max(1, jobs), thread_name_prefix="lctl-sweep") as pool:
        running = [pool.submit(_trial, *one, check, timeout) for one in todo]
        try:
            for done in as_completed(running):
                yield done.result()
        finally:
            for one in running:
                one.cancel()


def _trial(
    variant: Variant, prepared: Prepared, number: int, check: str | None, timeout: float | None
) -> Trial:
    with tempfile.TemporaryDirectory(prefix="lctl-sweep-") as folder:
        try:
            forked, error = _run(prepared, Path(folder), timeout)
        except subprocess.TimeoutExpired:
            return Trial(variant, number, None, False, f"took more than {timeout:g} s")
        except OSError as failure:
            return Trial(variant, number, None, False, (failure.strerror or str(failure)).lower())
        if forked is None:
            return Trial(variant, number, None, False, _last_line(error) or "no certificate")
        passed, why = forked.ok, _why(forked, error)
        if passed and check is not None:
            passed, why = _checked(check, forked, Path(folder))
    return _measured(variant, number, forked, passed, why)


def _run(prepared: Prepared, folder: Path, timeout: float | None) -> tuple[Forked | None, bytes]:
    results = folder / "results"
    results.mkdir()
    told = replace(prepared.settings, result=str(results), output=str(_log_path(prepared.log)))
    environment = {**prepared.program.environment, VARIABLE: told.text()}
    done = subprocess.run(
        prepared.program.argv,
        cwd=prepared.program.cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=timeout,
        check=False,
    )
    made: list[Certificate] = certificates(results)
    if not made:
        return None, done.stderr
    log = made[0].log
    if log and prepared.program.cwd is not None:
        made[0] = replace(made[0], log=str(prepared.program.cwd / log))
    forked = Forked(made[0], done.returncode, done.stdout, prepared.early(made[0]))
    return forked, done.stderr


def _log_path(log: Log) -> Path:
    """A name of its own for each run, also of those that begin in one second."""
    name = str(log.chain.get("name") or log.id or "run")
    with _naming:
        path = naming.default_path(f"fork-{name}", system_clock)
        place, n = path, 1
        while place in _named or place.exists():
            n += 1
            place = naming.with_suffix(path, str(n))
        _named.add(place)
    return place.absolute()


def _why(forked: Forked, error: bytes) -> str:
    made = forked.certificate
    if made.stopped is not None:
        return made.stopped.partition("\n")[0]
    if made.unaddressed:
        return made.unaddressed[0]
    if forked.early is not None:
        return f"not the recording, though before the fork point: {forked.early}"
    return _last_line(error) if forked.code else ""


def _last_line(text: bytes) -> str:
    lines = text.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else ""


def _checked(check: str, forked: Forked, folder: Path) -> tuple[bool, str]:
    output = folder / "output"
    output.write_bytes(forked.output)
    environment = {**os.environ, "LCTL_FORK_LOG": str(forked.path), "LCTL_FORK_OUTPUT": str(output)}
    done = subprocess.run(
        check, shell=True, env=environment, input=forked.output, capture_output=True, check=False
    )
    said = _last_line(done.stderr) or _last_line(done.stdout)
    return done.returncode == 0, "" if done.returncode == 0 else said or f"check: exit code {done.returncode}"


def _measured(variant: Variant, number: int, forked: Forked, passed: bool, why: str) -> Trial:
    try:
        found = stats(open_log(forked.path))
    except (LctlError, OSError) as error:
        return Trial(variant, number, forked, False, str(error))
    calls = found.llm_calls - found.inherited_calls
    cost = found.cost if calls else 0.0
    seconds = forked.certificate.seconds
    return Trial(variant, number, forked, passed, why, calls, found.tokens, cost, seconds)


def terminal_needed() -> bool:
    """Whether someone is there who can be asked."""
    return bool(sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty())


__all__ = ["Estimate", "Trial", "Variant", "estimate", "sweep", "variants"]
