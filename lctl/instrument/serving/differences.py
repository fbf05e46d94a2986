"""Where what the program says in a rerun is not what it said in the recording."""

from __future__ import annotations

from typing import Any


def difference(recorded: Any, said: Any, where: str) -> str:
    """The first place at which two values differ; "" where they are equal."""
    if isinstance(recorded, dict) and isinstance(said, dict):
        for key in [*recorded, *(key for key in said if key not in recorded)]:
            found = difference(recorded.get(key), said.get(key), f"{where}.{key}")
            if found:
                return found
        return ""
    if isinstance(recorded, list) and isinstance(said, list) and len(recorded) == len(said):
        pairs = enumerate(zip(recorded, said, strict=True))
        return next((found for n, (a, b) in pairs if (found := difference(a, b, f"{where}[{n}]"))), "")
    return "" if recorded == said else f"{where}: {recorded!r:.200}, now {said!r:.200}"
