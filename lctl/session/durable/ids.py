"""Ids that lctl makes up for sessions, conversations and messages.

They are unlike any other, and made of what a rerun has, too: what the log's header holds of chance, and where
in the program they are asked for. So the recorded ones come again, whichever thread asks first.
"""

from __future__ import annotations

import uuid
from hashlib import sha256

from lctl.session.concurrency import lanes
from lctl.session.session import LCTLSession


def new_id(kind: str, log: LCTLSession | None = None) -> str:
    """`sess_1f0c...`, `conv_...`. A log without chance in its header, or that is not there yet, gets a UUID;
    a rerun of that knows what was drawn, and puts the recorded one in its place (see `recorded_as`)."""
    seed = None if log is None else log.store.chain.get("seed")
    if log is not None and isinstance(seed, str):
        lane = lanes.current()
        # A log that is gone on with has had the same places before.
        place = f"{seed}:{log.found}:{lane.path}:{lane.number(kind)}"
        id = f"{kind}_{sha256(place.encode()).hexdigest()[:16]}"
        if id not in log.made_up:  # lanes of libraries' own strands have one name
            log.made_up.add(id)
            return id
    return f"{kind}_{uuid.uuid4().hex[:16]}"
