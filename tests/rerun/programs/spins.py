"""Draws while it waits, as wide as its terminal, and asks whether it has one."""

import os
import shutil
import sys
import time

from common_openai import MODEL, ask, say
from openai import OpenAI
from rich.console import Console
from rich.live import Live
from rich.markdown import Markdown
from rich.progress import track
from rich.table import Table

import lctl

console, client = Console(), OpenAI()


@lctl.tool
def search(words):
    time.sleep(0.6)
    return words


print([stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)], os.isatty(1), os.isatty(2))
print(shutil.get_terminal_size(), console.size, console.is_terminal)
with console.status("Thinking..."):
    search("tea")
    console.print("[bold]found[/]", ask(client, "tea"))
    search("cake")
text = ""
with Live("", console=console, refresh_per_second=50) as live:
    for chunk in client.chat.completions.create(model=MODEL, messages=say("milk"), stream=True):
        text += chunk.choices[0].delta.content or "" if chunk.choices else ""
        live.update(Markdown(f"# Milk\n\n{text}"))
        time.sleep(0.05)
print("said", input("Name? ") if "asks" in sys.argv else "")
for _ in track(range(3), "Eating"):
    time.sleep(0.1)
table = Table("Word", "Said", expand=True)
table.add_row("cake", ask(client, "cake " * 20))
console.print(table)
for n in range(30):
    print(f"\r{n}%", end="", flush=True)
print("\rdone")
