"""What libraries write to standard error, which a rerun is exact without."""

from __future__ import annotations

import orjson


def said_by_libraries(line: bytes) -> str | None:
    """What libraries wrote to standard error, as text; None of any other event."""
    if b'"type":"output"' not in line[:64] or b'"by":"libraries"' not in line:
        return None
    return str(orjson.loads(line)["data"].get("text", ""))


def first_unlike(recorded: str, now: str) -> str:
    then, said = recorded.splitlines(), now.splitlines()
    n = next((n for n, pair in enumerate(zip(then, said, strict=False)) if pair[0] != pair[1]), None)
    n = min(len(then), len(said)) if n is None else n
    old, new = (repr(lines[n][:80]) if n < len(lines) else "nothing" for lines in (then, said))
    return f"line {n + 1}: {old} -> {new}"
