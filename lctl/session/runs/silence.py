"""Who silences whom: the variable that says whether a layer above reports what happens here.

A transport that reports an exchange runs the layers beneath it with `REPORTED` set. They record
nothing, and what they start for themselves is no part of the program's structure (`lanes.of_spawn`).
"""

from __future__ import annotations

from contextvars import ContextVar

#: What is set while a layer above reports.
REPORTED = "reported"

_silenced: ContextVar[bool | str] = ContextVar("lctl_silenced", default=False)

# Each is one call of Python's own, which no interrupt cuts in two. But one may come behind it: so who sets it
# does that inside of the `try` whose `finally` puts back what was there before.
#: True where the user asked for silence, or `REPORTED`. A user's silence within that changes nothing.
silenced = _silenced.get
silence = _silenced.set
end_silence = _silenced.reset
