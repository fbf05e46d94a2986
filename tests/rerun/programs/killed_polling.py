"""Polls by limits of time, which nothing on the tape tells, until somebody kills it."""

import threading
import time


def watch():
    while not threading.Event().wait(0.1):
        print("watched", flush=True)


time.sleep(0.1)
threading.Thread(target=watch).start()
while not threading.Event().wait(0.07):
    print("looked", flush=True)
