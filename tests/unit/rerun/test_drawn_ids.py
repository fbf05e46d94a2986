"""Ids that are drawn anew in each run: in prompts, in events, in what is printed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

from lctl.codec import open_log
from lctl.rerun.tape.drawnids import DrawnIds
from lctl.testing.server import ModelServer
from tests.unit.rerun.commands import ASKING, Run, Twice

pytestmark = [pytest.mark.slow, pytest.mark.interpreter]

_ASK = f"""
import sys, uuid
{ASKING}
def ask(text):
    print(answer([{{"role": "user", "content": text}}]))
"""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    with ModelServer(seed=1) as server:
        server.reply("Noted.", times=None)
        for name, value in server.environ.items():
            monkeypatch.setenv(name, value)
        yield server


def _write(folder: Path, name: str, text: str) -> None:
    path = folder / "site-packages" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _auto(python: Run, lctl: Run, folder: Path, program: str) -> tuple[str, str]:
    """Standard output of the program, recorded by `auto_instrument()`; and the log."""
    (folder / "agent.py").write_text(f"import lctl\nlctl.auto_instrument()\n{program}")
    recorded = python("agent.py")
    assert recorded.returncode == 0, recorded.stderr
    (log,) = (folder / ".lctl").glob("*.lctl.json")
    return recorded.stdout, str(log)


_TICKETS = f"""{_ASK}
one, two = uuid.uuid4(), uuid.uuid1()
ask(f"Ticket {{one}} and {{two.hex[:8]}}")
with lctl.get_session().step(f"ticket {{one.hex}}"):
    ask(f"Ticket {{one}} again, call_{{two.hex[:8]}}, {{one.hex[-9:]}}")

@lctl.tool
def look(ticket):
    print("looked")
    return "open"

ask(look(str(two)))
"""


def test_ids_in_a_recording_by_auto_instrument(
    server: ModelServer, python: Run, lctl: Run, tmp_path: Path
) -> None:
    shown, log = _auto(python, lctl, tmp_path, _TICKETS)
    again = lctl("rerun", log, "-o", "again.lctl.json")
    assert (again.returncode, again.stdout) == (0, shown), again.stderr
    assert "log equal" in again.stderr
    assert list(open_log(tmp_path / "again.lctl.json").events()) == list(open_log(log).events())


_TALK = f"""
import uuid
{ASKING}
messages = [{{"role": "user", "content": f"Ticket {{uuid.uuid4()}}"}}]
for _ in range(3):
    said = answer(messages)
    messages += [{{"role": "assistant", "content": said}}, {{"role": "user", "content": "Go on."}}]
"""


_RETOLD = f"""
import uuid
{ASKING}
messages = [{{"role": "user", "content": "Hello"}}]
for _ in range(3):
    said = answer(messages)
    messages.append({{"role": "assistant", "content": [{{"type": "text", "text": said}}], "name": None}})
    messages.append({{"role": "user", "content": f"Ticket {{uuid.uuid4()}}"}})
    print(said)
"""


def test_ids_beside_messages_that_are_told_in_another_form(
    server: ModelServer, python: Run, lctl: Run, tmp_path: Path
) -> None:
    """Frameworks give back an answer as parts, arguments with other spaces: it is the same message."""
    shown, log = _auto(python, lctl, tmp_path, _RETOLD)
    again = lctl("rerun", log)
    assert (again.returncode, again.stdout) == (0, shown), again.stderr


def test_a_fork_goes_on_with_the_recorded_ids(
    server: ModelServer, python: Run, lctl: Run, tmp_path: Path
) -> None:
    """What the model was told before is what it is told now: one conversation."""
    _, log = _auto(python, lctl, tmp_path, _TALK)
    asked = [request.body["messages"] for request in server.requests]
    first = next(event.seq for event in open_log(log).events() if event.type == "exchange")
    forked = lctl("fork", log, "--at", str(first), "--yes", "-o", "fork.lctl.json")
    assert forked.returncode == 0, forked.stderr
    live = [request.body["messages"] for request in server.requests[3:]]
    assert live == asked[1:]
    said = [event.data for event in open_log(tmp_path / "fork.lctl.json").events() if event.type == "message"]
    assert [one["role"] for one in said] == ["user", "assistant"] * 3


def test_a_fork_that_changed_what_has_a_drawn_id_runs_again(
    server: ModelServer, python: Run, lctl: Run, tmp_path: Path
) -> None:
    _, log = _auto(python, lctl, tmp_path, _TALK)
    edit = ("--set", "params.temperature=0.3")
    forked = lctl("fork", log, "--at", "0", *edit, "--yes", "-o", "fork.lctl.json")
    assert forked.returncode == 0, forked.stderr
    assert server.requests[-1].body["temperature"] == 0.3
    again = lctl("rerun", "fork.lctl.json")
    assert (again.returncode, again.stdout) == (0, forked.stdout), again.stderr


def test_an_id_that_the_program_was_given_is_what_it_says(
    server: ModelServer, python: Run, lctl: Run, tmp_path: Path
) -> None:
    one, two = UUID(int=4 << 76 | 8 << 60), UUID(int=4 << 76 | 8 << 60 | 1)
    (tmp_path / "ticket").write_text(str(one))
    _, log = _auto(python, lctl, tmp_path, f"{_ASK}\nuuid.uuid4()\nask(open('ticket').read())")
    (tmp_path / "ticket").write_text(str(two))
    again = lctl("rerun", log)
    assert again.returncode != 0
    assert "this call is not the recorded one" in again.stderr


def test_an_id_of_a_library_that_nobody_knows(server: ModelServer, twice: Twice, tmp_path: Path) -> None:
    _write(tmp_path, "somebody.py", "import uuid\n\ndef made():\n    return f'call_{uuid.uuid4()}'\n")
    recorded, again = twice(
        f"import sys\nsys.path.insert(0, 'site-packages')\nimport somebody\n{_ASK}\n"
        "call = somebody.made()\nask(f'By {call}')\nask(f'By {call}, and {somebody.made()}')\n"
    )
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr


def test_one_id_does_not_stand_for_two() -> None:
    ids = DrawnIds()
    ids.begin()
    try:
        import uuid

        one, two = str(uuid.uuid4()), str(uuid.uuid4())
    finally:
        ids.end()
    a, b = str(UUID(int=1)), str(UUID(int=2))
    assert not ids.learn(f"{a} {b}", f"{one} {one}")
    assert not ids.learn(f"{a} {a}", f"{one} {two}")
    assert not ids.learn(f"{a}!", f"{one}?")
    assert not ids.learn("the same", "the same")
    assert ids.learn(f"x{a}y {b.replace('-', '')}", f"x{one}y {two.replace('-', '')}")
    assert not ids.learn(b, one)
    assert ids.as_recorded(f"<{one}> {two}".encode()) == f"<{a}> {b}".encode()


def test_ids_of_a_framework_that_draws_them_elsewhere(twice: Twice, tmp_path: Path) -> None:
    """LangChain's, of version 7, by `uuid_utils`; those of what builds on a framework."""
    _write(
        tmp_path,
        "uuid_utils/compat.py",
        "import os, time, uuid\n\ndef uuid7(timestamp=None, nanos=None):\n"
        "    ms = int(time.time() * 1000) if timestamp is None else timestamp * 1000\n"
        "    return uuid.UUID(int=ms << 80 | 7 << 76 | 8 << 60 | int.from_bytes(os.urandom(7), 'big'))\n",
    )
    _write(tmp_path, "uuid_utils/__init__.py", "")
    _write(
        tmp_path,
        "langchain_core.py",
        "from uuid_utils.compat import uuid7\n\ndef run_id(*at):\n    return uuid7(*at)\n",
    )
    _write(tmp_path, "langgraph_supervisor.py", "import uuid\n\ndef call_id():\n    return uuid.uuid4()\n")
    recorded, again = twice(
        "import sys\nsys.path.insert(0, 'site-packages')\nimport time, langchain_core, langgraph_supervisor\n"
        "ids = [langchain_core.run_id() for _ in range(5)]\n"
        "assert len(set(ids)) == 5 and ids == sorted(ids) and {id.version for id in ids} == {7}\n"
        "assert abs((ids[0].int >> 80) / 1000 - time.time()) < 60\n"
        "assert langchain_core.run_id(1).int >> 80 == 1000\n"
        "print(*ids, langgraph_supervisor.call_id())\n"
    )
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
    assert "output equal" in again.stderr


_MATCHED = f"""{_ASK}
@lctl.tool
def look(place, tool_call_id):
    return {{"tool_call_id": tool_call_id, "content": f"{{place}} is open"}}

asked = [str(uuid.uuid4()) for _ in range(2)]
found = [look(place, id) for place, id in zip(("door", "gate"), asked)]
for id in asked:
    ask(" ".join(result["content"] for result in found if result["tool_call_id"] == id) or "nothing")
"""


def test_a_result_is_found_by_the_id_that_was_drawn_for_its_call(
    server: ModelServer, python: Run, lctl: Run, tmp_path: Path
) -> None:
    """Frameworks make ids up for calls to which the model gives none, and find results by them."""
    shown, log = _auto(python, lctl, tmp_path, _MATCHED)
    assert server.requests[0].last_text == "door is open"
    again = lctl("rerun", log, "-o", "again.lctl.json")
    assert (again.returncode, again.stdout) == (0, shown), again.stderr
    assert "log equal" in again.stderr
    assert list(open_log(tmp_path / "again.lctl.json").events()) == list(open_log(log).events())
