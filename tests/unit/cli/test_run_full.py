"""`lctl run` records what a rerun needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lctl.codec import open_log
from tests.unit.cli.conftest import process

AGENT = """
import os, sys
print(os.environ.get("WEATHER"), hash("x"))
"""


def test_where_it_comes_from(place: Path) -> None:
    """Command, folder, interpreter, hash seed, commit, packages, names of keys; secrets in none of them."""
    (place / "agent.py").write_text(AGENT)
    subprocess.run(["git", "init", "-q"], check=True, cwd=place)
    subprocess.run(["git", "add", "."], check=True, cwd=place)
    user = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run(["git", *user, "commit", "-qm", "x"], check=True, cwd=place)
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], check=True, cwd=place, capture_output=True, text=True
    ).stdout.strip()
    words = ["agent.py", "--api-key", "hunter2hunter2", "--city=Paris"]
    environ = {
        "MY_API_KEY": "sesame-sesame",
        "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
        "PYTHONHASHSEED": "random",
    }
    process("run", "-o", "run.lctl.json", *words, cwd=place, **environ)
    program = open_log(place / "run.lctl.json").chain["program"]
    assert program["argv"][1:3] == ["agent.py", "--api-key"]
    assert program["argv"][4] == "--city=Paris"
    assert program["cwd"] == str(place)
    assert program["executable"] == sys.executable
    assert program["git"] == {"commit": commit, "dirty": False}
    assert program["packages"]["orjson"]
    assert program["env"]["OPENAI_BASE_URL"] == "http://127.0.0.1:9/v1"
    assert "MY_API_KEY" in program["keys"]
    assert program["hashseed"].isdigit()
    text = (place / "run.lctl.json").read_bytes()
    assert b"hunter2" not in text
    assert b"sesame" not in text
    (place / "agent.py").write_text(AGENT + "\n")
    process("run", "-o", "dirty.lctl.json", "agent.py", cwd=place)
    assert open_log(place / "dirty.lctl.json").chain["program"]["git"] == {"commit": commit, "dirty": True}


def test_a_hash_seed_of_the_user_s_own_stands(place: Path) -> None:
    (place / "agent.py").write_text(AGENT)
    out = {process("run", "agent.py", cwd=place, PYTHONHASHSEED="3").out for _ in range(2)}
    assert len(out) == 1
    assert len({process("run", "agent.py", cwd=place, PYTHONHASHSEED="random").out for _ in range(2)}) == 2


def test_only_model_calls(place: Path) -> None:
    (place / "agent.py").write_text(AGENT)
    got = process("run", "--record", "model", "agent.py", cwd=place)
    assert got.err.startswith("lctl: nothing was recorded")


def test_tools_by_name(place: Path) -> None:
    """In a module and in the script itself: recorded as if decorated."""
    (place / "shop.py").write_text(
        "class Till:\n    def pay(self, amount): return {'paid': amount}\n"
        "def stock(item, *, most=3): return most\n"
    )
    (place / "agent.py").write_text(
        "import shop\n"
        "def weigh(what):\n    return len(what)\n"
        "def main():\n    print(weigh('pear'), shop.stock('pear'), shop.Till().pay(7))\n"
        "main()\n"
    )
    tools = ("--tool", "shop:stock", "--tool", "shop:Till.pay", "--tool", "__main__:weigh")
    got = process("run", "-o", "run.lctl.json", *tools, "agent.py", cwd=place)
    assert got.out == "4 3 {'paid': 7}\n"
    calls = [e.data for e in open_log(place / "run.lctl.json").events() if e.type == "tool_call"]
    assert [(call["tool"], call["input"], call["output"]) for call in calls] == [
        ("weigh", {"what": "pear"}, 4),
        ("stock", {"item": "pear", "most": 3}, 3),
        ("pay", {"amount": 7}, {"paid": 7}),
    ]


def test_a_tool_that_is_not_there(place: Path) -> None:
    """Said, and the program runs; what is no name at all is refused before it starts."""
    (place / "shop.py").write_text("")
    (place / "agent.py").write_text("import shop; print('ran')")
    got = process("run", "--tool", "shop:pay", "agent.py", cwd=place)
    assert got.out == "ran\n"
    assert "shop has no pay" in got.err
    assert process("run", "--tool", "pay", "agent.py", cwd=place).code == 2


@pytest.mark.parametrize("words", [("rerun",), ("fork", "--at", "1")])
def test_a_run_is_not_added_to_another_ones_log(words: tuple[str, ...], place: Path) -> None:
    (place / "agent.py").write_text(AGENT)
    process("run", "-o", "run.lctl.json", "agent.py", cwd=place)
    (place / "there.lctl.json").write_bytes(b"{}")
    command, *options = words
    done = process(command, "run.lctl.json", *options, "-o", "there.lctl.json", cwd=place)
    assert (done.code, done.out) == (2, "")
    assert done.err == ("lctl: there.lctl.json: is there already; a rerun or fork writes a log of its own\n")
    assert (place / "there.lctl.json").read_bytes() == b"{}"


INSTRUMENTED = """
import random
import lctl
lctl.auto_instrument({given})
print(random.random())
"""


def test_a_program_that_instruments_itself_is_recorded_whole(place: Path) -> None:
    """`auto_instrument()` in it asks for no less than `lctl run` does, in a rerun neither."""
    (place / "agent.py").write_text(INSTRUMENTED.format(given=""))
    first = process("run", "-o", "run.lctl.json", "agent.py", cwd=place)
    kinds = [event.type for event in open_log(place / "run.lctl.json").events()]
    assert {"ambient", "output"} <= set(kinds)
    again = process("rerun", "run.lctl.json", cwd=place)
    assert (again.code, again.out) == (0, first.out)
    assert "log equal, output equal" in again.err


def test_a_program_may_ask_for_less(place: Path) -> None:
    """Of model calls, which it has none of."""
    (place / "agent.py").write_text(INSTRUMENTED.format(given='record="model"'))
    process("run", "-o", "run.lctl.json", "agent.py", cwd=place)
    assert not (place / "run.lctl.json").exists()
