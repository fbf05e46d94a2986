"""`python -m benchmarks [ID-PREFIX ...] [--write]`: every target of the design, measured in one run.

Prints target, measured, ratio, and pass or short, beside the peers named in each row. `--write` puts
the table into docs/benchmarks.md with the date and the machine. Figures of different runs are not
comparable; ratios within one run are what the targets are about.
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import sys
import time
from datetime import date
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks import Row

MODULES = (
    *("recording", "calls", "growing", "reading", "differing", "rerunning"),
    *("conversing", "hydrating", "graphs", "training", "facts", "stores", "debugging", "browsing"),
)
COLUMNS = ("id", "what", "target", "measured", "ratio", "result")


def machine() -> str:
    """The machine in one line: CPU, cores, Python, and how fast it is now."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if "model name" in line
        ]
        cpu = names[0] if names else cpu
    python = f"CPython {platform.python_version()}, {pace():.0f} ns a step of a plain loop"
    return f"{cpu}, {os.cpu_count()} cores, {platform.system()}, {python}"


def pace() -> float:
    """Nanoseconds of CPU; on a shared machine it halves and doubles from hour to hour, and so does every
    figure without a peer."""
    found = []
    for _ in range(3):
        start, sum = time.process_time_ns(), 0
        for n in range(1_000_000):
            sum += n & 7
        found.append((time.process_time_ns() - start) / 1_000_000)
    return min(found)


def collect(wanted: list[str]) -> list[Row]:
    """Rows of the modules named, and the rows of the others whose id begins with a wanted one."""
    ids = tuple(w for w in wanted if w not in MODULES)
    rows: list[Row] = []
    for name in MODULES:
        if wanted and name not in wanted and not ids:
            continue
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        measured = importlib.import_module(f"benchmarks.{name}").measure()
        rows += (
            measured if not wanted or name in wanted else [row for row in measured if row.id.startswith(ids)]
        )
    return rows


def cells(row: Row) -> tuple[str, ...]:
    ratio = "" if row.ratio is None else f"{row.ratio:.3g}"
    result = "" if row.passed is None else ("pass" if row.passed else "short")
    return (row.id, row.what, row.target, row.measured, ratio, result)


def render(rows: list[Row]) -> None:
    table = Table(*COLUMNS, title=f"lctl benchmarks, {date.today()}, {machine()}")
    for row in rows:
        style = {True: "green", False: "red", None: "dim"}[row.passed]
        table.add_row(*cells(row), style=style)
    Console(width=max(120, Console().width)).print(table)


def write(rows: list[Row], path: Path) -> None:
    lines = [
        "# Benchmarks",
        "",
        f"Measured on {date.today()}: {machine()}.",
        "Ratios are within this one run; made by `python -m benchmarks --write`.",
        "",
        "| " + " | ".join(COLUMNS) + " |",
        "|" + "---|" * len(COLUMNS),
        *("| " + " | ".join(cell.replace("|", "\\|") for cell in cells(row)) + " |" for row in rows),
        "",
    ]
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(lines))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("only", nargs="*", help="ids or modules to measure, e.g. R2 reading")
    parser.add_argument("--write", action="store_true", help="also write docs/benchmarks.md")
    arguments = parser.parse_args()
    rows = collect(arguments.only)
    render(rows)
    if arguments.write:
        write(rows, Path(__file__).parents[1] / "docs" / "benchmarks.md")


if __name__ == "__main__":
    main()
