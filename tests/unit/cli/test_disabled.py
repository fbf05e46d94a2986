"""`LCTL_DISABLED`: nothing records by itself, and whatever else uses the hooks works as ever."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import lctl
from lctl.claudecode import hook
from lctl.testing import ModelServer
from tests.unit.cli.conftest import process

ASKS = """
import os, openai, sys
with openai.OpenAI(base_url=os.environ["MODEL_URL"], api_key="test") as client:
    messages = [{"role": "user", "content": "Hi"}]
    print(client.chat.completions.create(model="gpt-4o", messages=messages).choices[0].message.content)
    patched = hasattr(type(client._client).send, "__wrapped__") or "lctl.instrument.registry" in sys.modules
    print("patched" if patched else "untouched")
"""


def asks(place: Path, *words: str, begin: str = "", **environ: str) -> subprocess.CompletedProcess[str]:
    (place / "agent.py").write_text(begin + ASKS)
    with ModelServer() as server:
        server.reply("Hello.")
        inner = {**os.environ, "MODEL_URL": server.openai_url, **environ}
        return subprocess.run(
            [sys.executable, *words, "agent.py"],
            cwd=place,
            env=inner,
            capture_output=True,
            text=True,
            check=True,
        )


@pytest.mark.parametrize("value", ["1", "true", "YES"])
def test_a_program_that_calls_auto_instrument(place: Path, value: str) -> None:
    done = asks(place, begin="import lctl\nlctl.auto_instrument(record='full')\n", LCTL_DISABLED=value)
    assert (done.stdout, done.stderr) == ("Hello.\nuntouched\n", "")
    assert not (place / ".lctl").exists()


@pytest.mark.parametrize("value", ["", "0", "false"])
def test_values_that_say_no(place: Path, value: str) -> None:
    done = asks(place, begin="import lctl\nlctl.auto_instrument()\n", LCTL_DISABLED=value)
    assert "events in" in done.stderr


def test_under_lctl_run(place: Path) -> None:
    """It says so, and the program is not touched."""
    done = asks(place, "-m", "lctl", "run", LCTL_DISABLED="1")
    assert done.stdout == "Hello.\nuntouched\n"
    assert done.stderr == "lctl: this program is not recorded: LCTL_DISABLED=1 turns that off\n"
    assert not (place / ".lctl").exists()


def test_a_process_that_a_recorded_program_starts(place: Path) -> None:
    """With recording turned off for it alone."""
    starts = "import os, subprocess, sys\nif 'LCTL_DISABLED' not in os.environ:\n"
    starts += "    off = {**os.environ, 'LCTL_DISABLED': '1'}\n"
    starts += "    subprocess.run([sys.executable, __file__], env=off, check=True)\n"
    done = asks(place, "-m", "lctl", "run", begin=starts)
    assert done.stdout.startswith("Hello.\nuntouched\n")
    assert len(list((place / ".lctl").glob("*.lctl.json"))) == 1


def test_a_session_of_the_program_keeps_what_it_is_told(place: Path) -> None:
    begin = "import lctl\nsession = lctl.LCTLSession(path='a.lctl.json').__enter__()\n"
    begin += "session.add_fact('F1', 'told')\n"
    done = asks(place, begin=begin, LCTL_DISABLED="1")
    assert done.stdout == "Hello.\nuntouched\n"
    assert [event.type for event in lctl.load(place / "a.lctl.json").events] == ["fact_added"]


def test_a_rerun_and_the_demo_work_all_the_same(place: Path) -> None:
    asks(place, begin="import lctl\nlctl.auto_instrument()\n")
    off = {"LCTL_DISABLED": "1", "MODEL_URL": "http://127.0.0.1:9/v1"}
    got = process("rerun", "last", cwd=place, **off)
    assert got.code == 0, got.err
    assert "Hello." in got.out
    demo = json.loads(process("demo", "--json", cwd=place, **off).out)
    assert demo["model_calls"] > 0


def test_the_doctor_says_so(place: Path) -> None:
    """And shows no secrets, as reports are given to others."""
    store = "postgresql://bob:hunter2-hunter2@db.example/runs"
    off = {"LCTL_DISABLED": "1", "LCTL_STORE": store, "LCTL_SERVE_TOKEN": "t0ken-of-the-server"}
    got = process("doctor", "--no-import", cwd=place, **off)
    assert "Recording is turned off here, by LCTL_DISABLED" in got.out
    assert "postgresql://bob:[redacted:" in got.out
    assert "hunter2" not in got.out
    assert "t0ken" not in got.out


def test_claude_codes_hook(tmp_path: Path) -> None:
    """It writes no spool."""
    event = json.dumps({"hook_event_name": "PreToolUse", "session_id": "s1"})
    for value, written in (("1", False), ("0", True)):
        inner = {**os.environ, "LCTL_DIR": str(tmp_path), "LCTL_DISABLED": value}
        subprocess.run(
            [sys.executable, "-I", "-S", str(hook.__file__)], input=event, env=inner, text=True, check=True
        )
        assert (tmp_path / "claude").exists() is written
