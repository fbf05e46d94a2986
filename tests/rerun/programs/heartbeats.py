"""A thread that beats until an event is set, one that looks whether it is, and a timer that is cancelled."""

import threading
import time

from common_openai import ask
from openai import OpenAI

client = OpenAI()
stop = threading.Event()
beats: list[float] = []
looks: list[str] = []


def beat() -> None:
    while not stop.wait(0.05):
        beats.append(time.monotonic())


def look() -> None:
    while not stop.is_set():
        looks.append(ask(client, f"look {len(looks)}"))


threads = [threading.Thread(target=beat), threading.Thread(target=look)]
for thread in threads:
    thread.start()
for number in range(3):
    print(ask(client, f"question {number}"))
    time.sleep(0.07)
stop.set()
for thread in threads:
    thread.join()
print(ask(client, f"{len(beats)} beats, {beats}"), looks)
timer = threading.Timer(30, print, ("never",))
timer.start()
print(ask(client, "last"), stop.is_set())
timer.cancel()
timer.join()
stop.clear()
print(stop.wait(0.05))
