"""Starts children that read what it writes to them: a line by `sys.stdin`, the rest from the descriptor."""

import subprocess
import sys

from common_openai import ask
from openai import OpenAI

CHILD = """
import os, sys
from common_openai import ask
from openai import OpenAI
line = sys.stdin.readline()
print(ask(OpenAI(), line), flush=True)
rest = b""
while piece := os.read(0, 100):
    rest += piece
print(line.strip(), rest.decode().strip())
"""

for name in ("first", "second"):
    child = subprocess.Popen(
        [sys.executable, "-u", "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdin is not None and child.stdout is not None
    child.stdin.write(f"{name}\n")
    child.stdin.flush()
    answer = child.stdout.readline()
    child.stdin.write(f"{answer.strip()} is what you said\n")
    child.stdin.close()
    print(answer, child.stdout.read())
    child.wait()
print(ask(OpenAI(), "Which was best?"))
