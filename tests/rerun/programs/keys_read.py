"""Reads a terminal past `sys.stdin`: single keys, passwords, lines with readline's history, with a model asked
between."""

import asyncio
import getpass
import os
import pydoc
import readline
import select
import sys
import termios
import threading
import tty

import click
from common_openai import ask
from openai import OpenAI

client = OpenAI()


def press(prompt):
    print(prompt)
    before = termios.tcgetattr(0)
    try:
        tty.setcbreak(0)
        return sys.stdin.read(1)
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)


def look_around():
    """A worker answers while it is looked whether a key is there."""
    said = []
    worker = threading.Thread(target=lambda: said.append(ask(client, "beside")))
    worker.start()
    before = termios.tcgetattr(0)
    tty.setcbreak(0)
    looked, told = 0, False
    while True:
        if select.select([sys.stdin], [], [], 0.02)[0]:
            key = sys.stdin.read(1)
            if key == "q":
                break
            print("got", key, flush=True)
        looked += 1
        if said and not told:
            told = True
            print("after", looked, flush=True)
    termios.tcsetattr(0, termios.TCSADRAIN, before)
    worker.join()
    print(ask(client, f"looked {looked} times"))


async def wait_in_a_loop():
    loop, typed = asyncio.get_running_loop(), asyncio.Queue()
    before = termios.tcgetattr(0)
    tty.setcbreak(0)
    loop.add_reader(0, lambda: typed.put_nowait(os.read(0, 10)))
    print("loop:", flush=True)
    print(ask(client, f"typed {await typed.get()}"))
    loop.remove_reader(0)
    termios.tcsetattr(0, termios.TCSADRAIN, before)


async def chat():
    for _ in range(2):
        line = await asyncio.to_thread(input, "chat:")
        print(ask(client, line))


if "loop" in sys.argv or "chat" in sys.argv:
    asyncio.run(chat() if "chat" in sys.argv else wait_in_a_loop())
    sys.exit()
if "looks" in sys.argv:
    look_around()
    sys.exit()
click.echo("char:", nl=False)
print(ask(client, f"key {click.getchar()!r}"))
print(repr(press("cbreak:")))
secret = getpass.getpass("secret:")
hidden = click.prompt("hidden", hide_input=True)
print(bool(secret), bool(hidden))
click.pause("pause:")
while True:
    try:
        line = input("line:")
    except KeyboardInterrupt:
        print("interrupted")
        continue
    except EOFError:
        print("ended")
        break
    print(ask(client, f"{line} {readline.get_current_history_length()}"))
pydoc.pager("a page\n" * 3)
click.echo_via_pager("another\n" * 3)
readline.write_history_file("history.txt")
