"""What a timer of the system's calls again and again, in a sleep and in a loop at rest: it computes, and asks."""

import asyncio
import signal
import time

from common_limits import compute
from common_openai import ask
from openai import OpenAI


class Late(Exception):
    pass


client = OpenAI()
beats: list[str] = []


def count(*_: object) -> None:
    compute(0.05)
    beats.append("beat")


def beat(*_: object) -> None:
    compute(0.02)
    time.sleep(0.01)
    beats.append(ask(client, f"{len(beats)} beats"))


def late(*_: object) -> None:
    raise Late


def begin(handler: object) -> None:
    beats.clear()
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.4, 0.4)


def end() -> None:
    signal.setitimer(signal.ITIMER_REAL, 0)
    print(ask(client, f"{len(beats)} beats in the end"), beats)


async def main() -> None:
    for handler in count, beat:
        begin(handler)
        await asyncio.sleep(1.4)
        end()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGALRM, beat)
    signal.setitimer(signal.ITIMER_REAL, 0.4, 0.4)
    await asyncio.sleep(1.4)
    end()
    loop.remove_signal_handler(signal.SIGALRM)
    begin(late)
    await asyncio.sleep(5)


for handler in count, beat:
    begin(handler)
    time.sleep(1.4)
    end()
try:
    asyncio.run(main())
except Late:
    end()
