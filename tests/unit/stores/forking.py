"""Records in threads, closes while they record, and forks children that record: `forking.py STORE`."""

from __future__ import annotations

import faulthandler
import os
import sys
import threading
import time

from lctl.session import LCTLSession

_HUNG = 2  # seconds a child may take


def _record(session: LCTLSession, stopping: threading.Event) -> None:
    while not stopping.is_set():
        session.add_fact("F1", "of the parent " * 10)


def _fork(session: LCTLSession, stopping: threading.Event, hung: list[int]) -> None:
    while not stopping.is_set():
        pid = os.fork()
        if not pid:
            faulthandler.dump_traceback_later(_HUNG, exit=True)
            session.add_fact("F1", "of the child")
            os._exit(0)
        hung[0] += os.waitpid(pid, 0)[1] != 0
        time.sleep(0.005)


def main(store: str) -> None:
    hung = [0]
    for n in range(6):
        session = LCTLSession(f"s{n}", store=store)
        session.__enter__()
        stopping = threading.Event()
        threads = [threading.Thread(target=_record, args=(session, stopping)) for _ in range(3)]
        threads.append(threading.Thread(target=_fork, args=(session, stopping, hung)))
        for thread in threads:
            thread.start()
        time.sleep(0.3)
        session.__exit__(None, None, None)
        stopping.set()
        for thread in threads:
            thread.join()
    print(f"children that hung: {hung[0]}")


if __name__ == "__main__":
    main(sys.argv[1])
