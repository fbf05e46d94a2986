"""Notebooks and interactive shells: programs that come in cells."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.rerun.harness import LCTL, PROGRAMS, Result, World, rerun, run

pytest.importorskip("IPython", reason="needs: pip install 'lctl[dev]'")
pytestmark = pytest.mark.slow

AUTO = "import lctl\nlctl.auto_instrument()"
FULL = "import lctl\nlctl.auto_instrument(record='full')"
CLIENTS = """
import asyncio, random, threading, time
from common_openai import ask, ask_async
from openai import AsyncOpenAI, OpenAI
client, others = OpenAI(), AsyncOpenAI()
import lctl
"""
PAY = """
@lctl.tool
def pay(amount: int) -> str:
    with open("ledger.txt", "a") as ledger:
        ledger.write(f"{amount}\\n")
    print("paying", amount)
    return "paid"

print(pay(3), ask(client, "one"))
"""
#: Each an ordinary thing to do in a cell.
CELLS = (
    PAY,
    "print(await ask_async(others, 'two'))",
    "print(await asyncio.gather(*(ask_async(others, f'many {n}') for n in range(4))))",
    "later = asyncio.create_task(ask_async(others, 'in the background'))",
    "print(ask(client, 'meanwhile'))",
    "print(ask(client, await later))",
    "%%time\nprint(ask(client, 'timed'))",
    "!echo $RANDOM",
    "numbers = !echo $RANDOM $$\nprint(ask(client, numbers[0]))",
    "%%bash\necho $RANDOM",
    "%%writefile kept.py\nX = 5\n",
    "import kept\nprint(ask(client, f'{kept.X}'))",
    "print?",
    "said = []\nthread = threading.Thread(target=lambda: said.append(ask(client, 'thread')))\nthread.start()",
    "thread.join()\nprint(ask(client, *said))",
    "print(1 / 0)",
    "ask(client, 'shown, not printed')",
)
#: What goes on when their cell is over.
TASK = """
async def agent():
    for n in range(3):
        said.append(await ask_async(others, f"later {n}"))
task = asyncio.create_task(agent())
is_busy = lambda: not task.done()
"""
THREAD = """
def work():
    for n in range(3):
        said.append(ask(client, f"aside {n}"))
thread = threading.Thread(target=work)
thread.start()
is_busy = thread.is_alive
"""
MARIMO = """
import marimo
app = marimo.App()

@app.cell
def _():
    from common_openai import ask
    from openai import OpenAI
    client = OpenAI()
    return ask, client

@app.cell
def _(ask, client):
    import random
    first = ask(client, f"{random.random()}")
    return (first,)

@app.cell
def _(ask, client, first):
    print(ask(client, first))
    return

if __name__ == "__main__":
    app.run()
"""
READS = "print(ask(client, f'{random.random()} {time.time()}'))"


@pytest.fixture(scope="module")
def servers() -> Iterator[World]:
    with World() as world:
        yield world


def notebook(folder: Path, *cells: str, tags: tuple[str, ...] = ()) -> Path:
    made: list[dict[str, Any]] = [
        {
            "cell_type": "code",
            "metadata": {"tags": list(tags)},
            "source": cell,
            "outputs": [],
            "execution_count": None,
        }
        for cell in cells
    ]
    made.insert(0, {"cell_type": "markdown", "metadata": {}, "source": ["# An agent\n", "in cells"]})
    told = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    path = folder / "agent.ipynb"
    path.write_text(json.dumps({"cells": made, "metadata": told, "nbformat": 4, "nbformat_minor": 4}))
    return path


def in_kernel(
    folder: Path,
    servers: World,
    *words: str,
    program: str = "executes_notebook.py",
    of: str = "agent.ipynb",
    told: str = "",
) -> Result:
    """The notebook's cells, sent to a kernel; its log.

    Args:
        told: the notebook's path, as Jupyter's server tells it to kernels.
    """
    pytest.importorskip("nbclient", reason="needs: pip install 'lctl[dev]'")
    pytest.importorskip("ipykernel", reason="needs: pip install 'lctl[dev]'")
    command = [*words, sys.executable, str(PROGRAMS / program), of]
    done = run(command, folder, {**servers.environ, "JPY_SESSION_NAME": told}, folder)
    assert done.code == 0, done.err
    (log,) = (folder / "logs").glob(f"*-{Path(told).stem or 'notebook'}.lctl.json")
    return done._replace(log=log)


def again(recorded: Result, servers: World, folder: Path, code: int = 0) -> Result:
    """It runs again, exactly, and asks nobody."""
    asked, paid = servers.count, ledger(folder)
    made = rerun(recorded.log, folder)
    assert "lctl: rerun exact" in made.err, made.err
    assert made.code == code, made.err
    assert servers.count == asked
    assert ledger(folder) == paid
    return made


def ran(recorded: Result) -> list[tuple[str, str]]:
    """Name and code of each cell."""
    found = [event["data"] for event in recorded.events if event["data"].get("source") == "cell"]
    return [(one["key"], one["value"].strip()) for one in found]


def ledger(folder: Path) -> str:
    path = folder / "ledger.txt"
    return path.read_text() if path.exists() else ""


def test_a_notebook_that_records_itself(servers: World, tmp_path: Path) -> None:
    """All that its kernel was sent is in one log, and runs again, without a kernel."""
    notebook(tmp_path, AUTO + CLIENTS, *CELLS)
    first = in_kernel(tmp_path, servers)
    assert ledger(tmp_path) == "3\n"
    assert ran(first) == [(f"In[{n}]", code.strip()) for n, code in enumerate([AUTO + CLIENTS, *CELLS], 1)]
    (failure,) = (event["data"] for event in first.events if event["type"] == "error")
    assert failure["type"] == "ZeroDivisionError"
    assert failure["context"]["traceback"] == ["In[17]:1 in <module>"]
    made = again(first, servers, tmp_path)
    assert "paying 3\npaid" in made.out


@pytest.mark.parametrize("begins", [FULL, ""], ids=["auto_instrument(record='full')", "lctl run"])
def test_what_a_kernels_cells_read_and_print(begins: str, servers: World, tmp_path: Path) -> None:
    notebook(tmp_path, begins + CLIENTS, READS, *CELLS)
    first = in_kernel(tmp_path, servers, *(() if begins else (*LCTL, "run", "--")))
    (output,) = (
        event["data"] for event in first.events if event["type"] == "output" and "by" not in event["data"]
    )
    assert output["text"].splitlines()[0] in first.out
    assert "output equal" in again(first, servers, tmp_path).err


def test_cells_that_somebody_sends_one_by_one(servers: World, tmp_path: Path) -> None:
    """What they ask for is on the tape, but for passwords; what they leave running is over where it was."""
    cells = [
        FULL + CLIENTS + "said, is_busy = [], lambda: False",
        "name = input('Who? ')\nprint(ask(client, name))",
        "import getpass, os\nos.environ['A_SERVICE_KEY'] = getpass.getpass('Key? ')",
        TASK,
        "print(said)",
        THREAD,
        "print(said)",
        "this is no Python",
        "print(ask(client, 'over'))",
    ]
    (tmp_path / "cells.json").write_text(json.dumps(cells))
    first = in_kernel(tmp_path, servers, program="sends_cells.py", of="cells.json")
    assert "Anna" in first.log.read_text()
    made = again(first, servers, tmp_path)
    assert "output equal" in made.err
    assert made.out.replace("Who? ", "") == first.out


def test_secrets_in_cells(servers: World, tmp_path: Path) -> None:
    key = "sk-proj-" + "Ab3dEf6hIj9lMn2pQr5t" * 2
    notebook(
        tmp_path,
        f"import os\nos.environ['OPENAI_API_KEY'] = '{key}'",
        AUTO + CLIENTS,
        "print(ask(client, 'on'))",
    )
    first = in_kernel(tmp_path, servers, told="work/agent.ipynb")
    assert key not in first.log.read_text()
    assert "print(ask(client, 'on'))" in first.log.read_text()
    again(first, servers, tmp_path)


def test_a_notebook_of_marimos(servers: World, tmp_path: Path) -> None:
    """It is a script; marimo's own log, in the user's home, stays as it is."""
    pytest.importorskip("marimo", reason="needs: pip install marimo")
    (tmp_path / "agent.py").write_text(MARIMO)
    log = tmp_path / "run.lctl.json"
    environ = {**servers.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    first = run([*LCTL, "run", "--output", str(log), "agent.py"], tmp_path, environ, log)
    assert first.code == 0, first.err
    assert again(first, servers, tmp_path).out == first.out


def test_a_fork_of_a_kernels_run(servers: World, tmp_path: Path) -> None:
    """Cells up to the fork point are answered by the tape; those behind it ask."""
    notebook(tmp_path, AUTO + CLIENTS, PAY, "print(ask(client, 'two'))", "print(ask(client, 'three'))")
    first = in_kernel(tmp_path, servers)
    at = [event["seq"] for event in first.events if event["type"] == "exchange"][1]
    asked, log = servers.count, tmp_path / "fork.lctl.json"
    command = [*LCTL, "fork", str(first.log), "--at", str(at), "--output", str(log)]
    forked = run(command, tmp_path, servers.environ, log)
    assert forked.code == 0, forked.err
    assert forked.out.splitlines()[:3] == first.out.splitlines()[:3]
    assert forked.out.splitlines()[3] != first.out.splitlines()[3]
    assert servers.count == asked + 1
    assert ledger(tmp_path) == "3\n"
    again(forked._replace(log=log), servers, tmp_path)


def test_lctl_run_takes_a_notebook(servers: World, tmp_path: Path) -> None:
    """Its cells run in order, up to one that fails; nothing is written into it."""
    path = notebook(tmp_path, CLIENTS, READS, *CELLS)
    before, log = path.read_bytes(), tmp_path / "run.lctl.json"
    first = run([*LCTL, "run", "--output", str(log), "agent.ipynb", "--fast"], tmp_path, servers.environ, log)
    assert first.code == 1
    assert "ZeroDivisionError" in first.out
    assert ran(first)[-1] == ("In[18]", "print(1 / 0)")
    assert path.read_bytes() == before
    assert again(first, servers, tmp_path, code=1).out == first.out
    # The notebook is the program: another one now is told from the recorded one.
    notebook(tmp_path, CLIENTS, READS, PAY.replace("one", "another one"))
    stopped = rerun(log, tmp_path)
    assert stopped.code == 1
    assert "+  another one" in stopped.err


def test_a_cell_that_may_fail(servers: World, tmp_path: Path) -> None:
    notebook(
        tmp_path,
        CLIENTS,
        "1 / 0",
        "import sys\nprint(sys.argv[1:], ask(client, 'on'))",
        tags=("raises-exception",),
    )
    log = tmp_path / "run.lctl.json"
    first = run([*LCTL, "run", "--output", str(log), "agent.ipynb", "--fast"], tmp_path, servers.environ, log)
    assert first.code == 0, first.err
    assert "['--fast']" in first.out
    (tmp_path / "agent.ipynb").unlink()  # what it was, the tape says
    assert again(first, servers, tmp_path).out == first.out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "it is no Jupyter notebook"),
        ('{"cells": [], "metadata": {"kernelspec": {"language": "R"}}}', "R, not Python"),
    ],
)
def test_what_is_no_notebook_of_pythons(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "agent.ipynb").write_text(text)
    done = run([*LCTL, "run", "agent.ipynb"], tmp_path, {}, tmp_path)
    assert done.code == 2
    assert said in done.err
    assert "Traceback" not in done.err


def test_what_is_typed_into_ipython(servers: World, tmp_path: Path) -> None:
    """It runs again without anybody who types."""
    typed = [CLIENTS.strip(), "name = input('Who? ')", "Anna", READS, "print(ask(client, name))", "exit"]
    log = tmp_path / "run.lctl.json"
    command = [*LCTL, "run", "--output", str(log), "-m", "IPython", "--simple-prompt", "--no-banner"]
    environ = {**servers.environ, "IPYTHONDIR": str(tmp_path / "ipython")}
    lines = "\n".join(line.replace("\n", "; ") for line in typed) + "\n"
    first = run(command, tmp_path, environ, log, stdin=lines)
    assert first.code == 0, first.err
    made = again(first, servers, tmp_path)
    assert [line for line in made.out.splitlines() if line and line in first.out]
