"""Names of files after what others have named: chains, tests."""

from __future__ import annotations

import hashlib

_LONGEST = 120  # bytes; what stands before and behind it (a date, an ending, a mark) has room then


def file_name(name: str, *, kept: str = "-_.~", instead: str = "-", empty: str = "unnamed") -> str:
    """`name` where a file system takes it; two names are never one file.

    Letters, digits and `kept` stay. If something else had to go, a hash of the whole name stands behind.
    """
    made = "".join(char if char.isalnum() or char in kept else instead for char in name).strip(".")
    made = made.encode("utf-8", "ignore")[:_LONGEST].decode("utf-8", "ignore")
    if made == name and made:
        return made
    whole = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{made or empty}~{whole[:8]}"
