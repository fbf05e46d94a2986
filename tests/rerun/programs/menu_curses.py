"""A menu that curses draws, whose entries ask a model: in place, and in a worker while it is looked for keys."""

import curses
import queue
import threading

from common_openai import ask
from openai import OpenAI

#: What stands there, by how many answers there are: no two have a letter in common, so that all is drawn.
MARKS = ["aaaa", "bbbb", "cccc", "dddd"]

client = OpenAI()
answers = queue.Queue()


def menu(screen):
    said, looked = [], 0
    while True:
        screen.erase()
        screen.addnstr(0, 0, MARKS[len(said)], 70)
        for row, text in enumerate(said, 2):
            screen.addnstr(row, 0, text, 70)
        screen.refresh()
        screen.timeout(30 if looked else -1)
        try:
            said.append(answers.get_nowait())
        except queue.Empty:
            pass
        key = screen.getch()
        looked += key == -1 or looked > 0
        if key == curses.KEY_DOWN:
            said.append(ask(client, f"down {screen.getmaxyx()}"))
        elif key == ord("w"):
            looked += 1
            threading.Thread(target=lambda: answers.put(ask(client, "worker"))).start()
        elif key == ord("q"):
            return said, looked


said, looked = curses.wrapper(menu)
print(*said, sep="\n")
print(ask(client, f"looked {looked} times"))
