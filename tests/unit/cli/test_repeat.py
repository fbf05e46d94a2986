"""`lctl doctor --repeat`: real runs, and what differs between them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.cli.conftest import process


def test_it_names_lines(place: Path) -> None:
    """Every answer that differed, by line of the program; it says first what it will do."""
    (place / "agent.py").write_text(
        "import os, random, time\n"
        "first = time.time()\n"
        "for _ in range(3): random.Random()\n"
        "print(os.environ.get('HOME'), first)\n"
    )
    got = process("doctor", "--json", "--repeat", "2", "agent.py", "--json", cwd=place, PYTHONHASHSEED=None)
    assert got.err == (
        "lctl: running agent.py --json 3 times (once with another hash seed): "
        "its calls are real and cost money\n"
    )
    report = json.loads(got.out)
    assert got.code == 1
    assert [(f["kind"], f["place"], f["times"], f["recorded"]) for f in report["findings"]] == [
        ("clock", "agent.py:2", 1, True),
        ("random", "agent.py:3", 3, True),
    ]
    assert report["same_output"] is False
    assert report["exit_codes"] == [0, 0, 0]


def test_it_has_nothing_to_say(place: Path) -> None:
    (place / "agent.py").write_text("import os, sys\nprint(os.getcwd(), sys.argv)\n")
    got = process("doctor", "--repeat", "3", "agent.py", "x", cwd=place, PYTHONHASHSEED=None)
    assert got.code == 0
    assert got.out == "✓ 1 crossing, the same in every run\n"
    assert not (place / ".lctl").exists()


@pytest.mark.slow
def test_the_hash_seed_matters(place: Path) -> None:
    """Also where the answers differ anyway: the model's come from a server of its own in each run."""
    pytest.importorskip("openai")
    (place / "agent.py").write_text(
        "import os, openai\n"
        "from lctl.testing import ModelServer\n"
        "with ModelServer(int.from_bytes(os.urandom(4), 'big')) as server:\n"
        "    client = openai.OpenAI(base_url=server.openai_url, api_key='x')\n"
        "    text = ' '.join({'a', 'b', 'c', 'd', 'e', 'f', 'g'})\n"
        "    messages = [{'role': 'user', 'content': text}]\n"
        "    client.chat.completions.create(model='gpt-4o-mini', messages=messages)\n"
    )
    report = json.loads(
        process("doctor", "--json", "--repeat", "2", "agent.py", cwd=place, PYTHONHASHSEED=None).out
    )
    assert report["hash_seed_matters"] is True
    assert [finding["kind"] for finding in report["findings"]] == ["random", "model"]


def test_a_program_is_needed(place: Path) -> None:
    assert process("doctor", "--repeat", "2", cwd=place).code == 2
    assert process("doctor", "--repeat", "1", "agent.py", cwd=place).code == 2
    assert process("doctor", "-m", "agent", cwd=place).code == 2
