"""What sessions begin with, and what is said of them."""

from __future__ import annotations

from lctl.conversation.sessions import Sessions

SYSTEM = {"role": "system", "content": "Be brief."}


SEEDS = [
    {**SYSTEM, "is_new": False, "timestamp": 1700000000, "details": {"source": "template"}},
    {"role": "user", "content": "Hello", "is_new": True, "timestamp": 1700000001},
]


def codes(sessions: Sessions) -> list[str]:
    return [note.code for note in sessions.diagnostics]
