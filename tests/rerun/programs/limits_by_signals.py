"""Limits of time that the system keeps, by a signal: in a sleep, around a call, in a computation; a beat."""

import signal
import time

from common_openai import ask
from openai import OpenAI


class Late(Exception):
    pass


def late(*_: object) -> None:
    raise Late


client = OpenAI()
signal.signal(signal.SIGALRM, late)
naps = 0
signal.setitimer(signal.ITIMER_REAL, 1.1)
try:
    while True:
        time.sleep(0.25)
        naps += 1
except Late:
    print(naps, ask(client, f"{naps} naps"))

signal.alarm(60)
time.sleep(0.1)
print(ask(client, "In time."), signal.alarm(0), signal.getitimer(signal.ITIMER_REAL))

signal.setitimer(signal.ITIMER_REAL, 0.3)
try:
    while True:
        pass
except Late:
    print("computed")

beats: list[int] = []
signal.signal(signal.SIGALRM, lambda *_: beats.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.2, 0.2)
time.sleep(0.7)
signal.setitimer(signal.ITIMER_REAL, 0)
print(ask(client, f"{len(beats)} beats"))
