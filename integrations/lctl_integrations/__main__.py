"""`python -m lctl_integrations [--check]`: the table of integrations in README.md and integrations/README.md.

The table is made from the integrations themselves; `--check` only says whether the files have it as it is.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

from lctl.instrument.entries import integration_at
from lctl.instrument.registry import OURS

ROOT = Path(__file__).parents[2]
FILES = ("README.md", "integrations/README.md")
START, END = "<!-- integrations: start -->", "<!-- integrations: end -->"


def table() -> str:
    """Library, versions and what is recorded of it, a row for each integration, by name."""
    rows = []
    for target in OURS.values():
        integration = integration_at(target)
        said = (import_module(target.partition(":")[0]).__doc__ or "").partition("\n")[0]
        rows.append((integration.name, integration.supported, said.partition(": ")[2].rstrip(".")))
    lines = ["| library | versions | recorded beyond its model calls |", "|---|---|---|"]
    lines += [f"| {name} | `{versions}` | {what} |" for name, versions, what in sorted(rows)]
    return "\n".join(lines)


def written(text: str) -> str:
    """A file's text with the table between its markers.

    Raises:
        ValueError: it has no markers.
    """
    head, start, rest = text.partition(START)
    _, end, tail = rest.partition(END)
    if not start or not end:
        raise ValueError(f"no {START} ... {END}")
    return f"{head}{START}\n{table()}\n{END}{tail}"


def main(arguments: list[str]) -> int:
    stale = []
    for name in FILES:
        path = ROOT / name
        text = path.read_text()
        if written(text) != text:
            stale.append(name)
            if "--check" not in arguments:
                path.write_text(written(text))
    for name in stale:
        print(f"{name}: {'not up to date' if '--check' in arguments else 'written'}")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
