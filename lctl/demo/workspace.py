"""The agents' tools: they search and edit a copy of the sample in memory, and try an exploit on it."""

from __future__ import annotations

import re
import sqlite3
from typing import Any

import lctl
from lctl.demo.sample import FILES

_INJECTION = "' OR '1'='1"


class Workspace:
    """A working copy of the sample."""

    def __init__(self) -> None:
        self.files = dict(FILES)

    @lctl.tool
    def grep(self, pattern: str, file: str | None = None) -> dict[str, Any]:
        """Lines that match a regular expression, in one file or in all."""
        hits = [
            {"file": name, "line": number, "text": line.strip()}
            for name, source in self.files.items()
            if file in (None, name)
            for number, line in enumerate(source.splitlines(), 1)
            if re.search(pattern, line)
        ]
        return {"matches": len(hits), "hits": hits}

    @lctl.tool
    def apply_fix(self, file: str, line: int, replacement: str) -> dict[str, Any]:
        """Replace one line (by one or several), compile the file, and try the exploit before and after."""
        before = self.injected_rows()
        lines = self.files[file].splitlines()
        old = lines[line - 1]
        indent = old[: len(old) - len(old.lstrip())]
        lines[line - 1 : line] = [indent + new for new in replacement.splitlines()]
        self.files[file] = "\n".join(lines) + "\n"
        compile(self.files[file], file, "exec")
        return {"compiles": True, "replaced": old.strip(), "exploit_rows": [before, self.injected_rows()]}

    def injected_rows(self) -> int:
        """How many of two users `find_user` gives away to a classic injection."""
        namespace: dict[str, Any] = {}
        exec(compile(self.files["users.py"], "users.py", "exec"), namespace)
        db = sqlite3.connect(":memory:")
        try:
            db.execute("CREATE TABLE users (id INTEGER, name TEXT, digest TEXT)")
            db.executemany("INSERT INTO users VALUES (?, ?, '')", [(1, "ada"), (2, "grace")])
            return len(namespace["find_user"](db, _INJECTION))
        finally:
            db.close()


_GREP = {
    "type": "object",
    "properties": {
        "pattern": {"type": "string", "description": "a regular expression"},
        "file": {"type": "string", "description": "only in this file"},
    },
    "required": ["pattern"],
}
_APPLY_FIX = {
    "type": "object",
    "properties": {
        "file": {"type": "string"},
        "line": {"type": "integer"},
        "replacement": {"type": "string", "description": "the new line or lines, without indentation"},
    },
    "required": ["file", "line", "replacement"],
}
#: As chat completions and as responses take them.
GREP: Any = {"type": "function", "function": {"name": "grep", "parameters": _GREP}}
APPLY_FIX: Any = {"type": "function", "name": "apply_fix", "parameters": _APPLY_FIX, "strict": False}
