"""A program that records into a store: `python writing.py STORE EVENTS [PAUSE]`. Prints what it recorded."""

from __future__ import annotations

import sys
import time

from lctl.session import LCTLSession


def main(store: str, events: int, pause: float = 0.0) -> None:
    session = LCTLSession(store=store)
    print(session.chain_id, flush=True)
    for n in range(1, events + 1):
        session.add_fact(f"F{n}", f"fact {n} of {session.chain_id}", 0.5)
        if pause:
            time.sleep(pause)
    print(session.store.events_hash(), session.lost, flush=True)
    session.close()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]) if sys.argv[3:] else 0.0)
