"""A front end of Jupyter: `sends_cells.py CELLS` sends the cells of a JSON list to a kernel, and answers what they ask.

Before each it asks, as editors do, silently, whether `is_busy()`, where a cell has defined that, and waits.
"""

import json
import sys
import time
from pathlib import Path

from jupyter_client.manager import start_new_kernel

manager, client = start_new_kernel(kernel_name="python3")


def shown(message):
    if message["msg_type"] == "stream":
        print(message["content"]["text"], end="")


def is_busy():
    said = client.execute("", silent=True, user_expressions={"busy": "is_busy()"}, reply=True, timeout=60)
    busy = said["content"]["user_expressions"]["busy"]
    return busy["status"] == "ok" and busy["data"]["text/plain"] == "True"


for cell in json.loads(Path(sys.argv[1]).read_text()):
    while is_busy():
        time.sleep(0.05)
    client.execute_interactive(
        cell, allow_stdin=True, timeout=60, output_hook=shown, stdin_hook=lambda _: client.input("Anna")
    )
client.stop_channels()
manager.shutdown_kernel()
