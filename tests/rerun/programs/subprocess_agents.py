"""Two child programs that are agents themselves, before the parent has called anything; a pool of processes."""

import multiprocessing
import subprocess
import sys

from common_openai import ask
from openai import OpenAI

CHILD = """
import sys
from common_openai import ask
from openai import OpenAI
print(ask(OpenAI(), "Child " + sys.argv[1]))
"""


def work(n):
    return ask(OpenAI(), f"Process {n}")


if __name__ == "__main__":
    children = [
        subprocess.Popen([sys.executable, "-c", CHILD, str(n)], stdout=subprocess.PIPE, text=True)
        for n in range(2)
    ]
    for child in children:
        print(child.communicate()[0].strip(), child.returncode)
    print(ask(OpenAI(), "Parent between"))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(work, [1, 2]))
    print(ask(OpenAI(), "Parent after"))
