"""The same in threads: one sends, the main one reads, with a limit of time now and then."""

import json
import os
import threading

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

with connect(os.environ["LIVE"].replace("http", "ws") + "/realtime?model=m") as live:
    asked = threading.Event()

    def ask() -> None:
        for n in range(3):
            live.send(json.dumps({"type": "note", "n": n}))
        live.send(b"\0\1\2" * 50)
        live.send(json.dumps({"type": "response.create"}))
        asked.set()

    thread = threading.Thread(target=ask)
    thread.start()
    waited = 0
    while True:
        try:
            message = live.recv(timeout=0.2)
        except TimeoutError:
            waited += 1
            if waited == 1:
                live.send(json.dumps({"type": "patience"}))
            continue
        except ConnectionClosed as end:
            print("closed", end.rcvd.code, end.rcvd.reason)
            break
        print(message if isinstance(message, str) else message[:5])
    thread.join()
    print(live.close_code, live.state.name)
