"""Live sessions over WebSockets, run again: every message as it came, offline; and told what is otherwise."""

from __future__ import annotations

import base64
import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from lctl.codec import open_log
from tests.integrations.sockets import Line, serving
from tests.rerun.harness import LCTL, Result, record, rerun, run

pytest.importorskip("websockets.asyncio.client", reason="needs: pip install 'lctl[test]'")
pytestmark = pytest.mark.slow


def said(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "event_id": f"e{random.random()}", **more}


def response(id: str, status: str, *output: dict[str, Any]) -> dict[str, Any]:
    return {"object": "realtime.response", "id": id, "status": status, "output": list(output)}


def speak(line: Line) -> None:
    """Answers with random sound, and asks for a function in between."""
    line.say(said("session.created", session={"type": "realtime", "model": "gpt-realtime"}))
    for turn in ("resp_1", "resp_2"):
        line.hear("type", "response.create")
        line.say(said("response.created", response=response(turn, "in_progress")))
        place = {"response_id": turn, "item_id": f"{turn}_item", "output_index": 0, "content_index": 0}
        for _ in range(30):
            line.say(
                said(
                    "response.output_audio.delta", delta=base64.b64encode(os.urandom(3000)).decode(), **place
                ),
                said("response.output_audio_transcript.delta", delta=f"{random.random()} ", **place),
            )
        item: dict[str, Any] = {"id": place["item_id"], "object": "realtime.item", "status": "completed"}
        if turn == "resp_1":
            item |= {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"}
        else:
            item |= {"type": "message", "role": "assistant", "content": []}
        line.say(said("response.done", response=response(turn, "completed", item)))
    line.until_closed()


def recorded(program: str, serve: Callable[[Line], None], folder: Path) -> Result:
    with serving(serve) as url:
        first = record(program, folder, {"LIVE": f"{url}/v1"})
    assert first.code == 0, first.err
    return first


def check(first: Result, folder: Path) -> None:
    for _ in range(3):
        again = rerun(first.log, folder)
        assert (again.code, again.out) == (0, first.out), again.err
        assert "exact" in again.err
        assert again.events == first.events


def test_a_voice_agent_is_served_sound_and_all(tmp_path: Path) -> None:
    pytest.importorskip("openai")
    first = recorded("live_realtime.py", speak, tmp_path)
    assert [event["type"] for event in first.events].count("step_end") == 2
    check(first, tmp_path)


def speak_as_google(line: Line) -> None:
    line.hear("setup")
    line.send(json.dumps({"setupComplete": {}}, indent=2) + "\n")
    line.hear("client_content")
    call = {"id": "c1", "name": "weather", "args": {"city": "Rome"}}
    line.send(json.dumps({"toolCall": {"functionCalls": [call]}}).encode())
    line.hear("tool_response")
    for _ in range(40):
        sound = {"mimeType": "audio/pcm", "data": base64.b64encode(os.urandom(2000)).decode()}
        line.send(json.dumps({"serverContent": {"modelTurn": {"parts": [{"inlineData": sound}]}}}).encode())
    line.say({"serverContent": {"turnComplete": True}})
    line.hear("realtime_input")
    words = {"modelTurn": {"parts": [{"text": f"You {random.random()}"}]}}
    line.say({"serverContent": words}, {"serverContent": {"interrupted": True}})
    line.until_closed()


def test_google(tmp_path: Path) -> None:
    pytest.importorskip("google.genai")
    check(recorded("live_google.py", speak_as_google, tmp_path), tmp_path)


def speak_to_agents(line: Line) -> None:
    """Messages that come together are taken in one turn of the loop, before the other tasks go on."""
    line.say(said("session.created", session={"type": "realtime", "model": "gpt-realtime"}))
    for id in ("resp_1", "resp_2"):
        line.hear("type", "response.create")
        place = {"response_id": id, "output_index": 0}
        item: dict[str, Any] = {"id": f"{id}_item", "object": "realtime.item", "status": "completed"}
        if id == "resp_1":
            given = {"call_id": "c", "name": "look", "arguments": '{"city": "Rome"}'}
            item |= {"type": "function_call", **given}
        else:
            part = {"type": "output_audio", "transcript": f"{random.random()}"}
            item |= {"type": "message", "role": "assistant", "content": [part]}
        line.say(said("response.created", response=response(id, "in_progress")))
        line.say(said("response.output_item.added", item={**item, "status": "in_progress"}, **place))
        for _ in range(20 if id == "resp_2" else 0):
            sound = base64.b64encode(os.urandom(2000)).decode()
            at = {"item_id": item["id"], "content_index": 0}
            line.say(said("response.output_audio.delta", delta=sound, **at, **place))
        line.say(said("response.output_item.done", item=item, **place))
        line.say(said("response.done", response=response(id, "completed", item)))
    line.until_closed()


def test_openai_agents(tmp_path: Path) -> None:
    pytest.importorskip("agents.realtime")
    check(recorded("live_agents.py", speak_to_agents, tmp_path), tmp_path)


def answer_in_threads(line: Line) -> None:
    for _ in range(3):
        line.hear("type", "note")
    line.send(f"text {random.random()}", os.urandom(5) * 20)
    line.take()
    line.hear("type", "response.create")
    line.hear("type", "patience")
    line.send(json.dumps({"type": "thanks", "n": random.random()}, indent=1) + "\n")
    line.close(4001, "enough")


def test_threads_that_wait_with_a_limit(tmp_path: Path) -> None:
    """What is no JSON, how JSON was spelled, waits in vain, the server's end."""
    first = recorded("live_threads.py", answer_in_threads, tmp_path)
    assert "closed 4001 enough\n4001 CLOSED" in first.out
    check(first, tmp_path)


def answer_aiohttp(line: Line) -> None:
    if "bye" in line.path:
        assert line.take() == b"x" * 100
        line.send(str(random.random()))
        line.close(4002, "bye")
    elif "slow" in line.path:
        line.until_closed()
    else:
        line.hear("type", "response.create")
        line.say(said("response.created"), said("other", n=random.random()))
        line.send(os.urandom(20 + random.randrange(50)))
        line.until_closed()


def test_aiohttp(tmp_path: Path) -> None:
    pytest.importorskip("aiohttp")
    first = recorded("live_aiohttp.py", answer_aiohttp, tmp_path)
    assert "True 1000\n" in first.out
    check(first, tmp_path)


PROGRAM = """
import json, os, sys
from websockets.sync.client import connect
with connect(os.environ["LIVE"].replace("http", "ws") + "/realtime") as live:
    live.send(json.dumps({"type": "response.create", "text": TEXT}))
    print(live.recv())
    live.send("more")
    print(live.recv())
"""


def edited(folder: Path, before: str, after: str) -> Result:
    """The program is recorded, changed, and run again."""
    program = folder / "agent.py"
    text = PROGRAM.replace("TEXT", '"one"')
    program.write_text(text)

    def serve(line: Line) -> None:
        line.hear("type")
        line.send("first")
        line.take()
        line.send("second")
        line.until_closed()

    log = folder / "agent.lctl.json"
    with serving(serve) as url:
        first = run([*LCTL, "run", "-o", str(log), str(program)], folder, {"LIVE": f"{url}/v1"}, log)
    assert first.code == 0, first.err
    program.write_text(text.replace(before, after))
    return rerun(log, folder)


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ('"one"', '"two"', "something else than in the recording: out.text: 'one', now 'two'"),
        ('live.send("more")', "pass", "to which it sent in the recording, before that, 'more'"),
        ('live.send("more")', 'live.send("more"); live.send("no")', "more than in the recording: 'no'"),
        ('live.send("more")\n    print(live.recv())', "", "closes a WebSocket"),
    ],
)
def test_a_program_that_does_something_else(before: str, after: str, told: str, tmp_path: Path) -> None:
    again = edited(tmp_path, before, after)
    assert again.code != 0
    assert told in again.err, again.err
    assert "agent.py" in again.err, again.err
    assert "second" not in again.out


KILLED = """
import os, signal
from websockets.sync.client import connect
with connect(os.environ["LIVE"].replace("http", "ws") + "/realtime") as live:
    for _ in range(4):
        live.send("next")
        print(live.recv(), flush=True)
    live.send("last")
    live.recv()
"""


def test_what_had_come_to_a_program_that_is_killed(tmp_path: Path) -> None:
    """A rerun goes as far; a secret is not in the file either."""
    program, log = tmp_path / "agent.py", tmp_path / "agent.lctl.json"
    program.write_text(KILLED)
    key = "sk-proj-" + "MaNyChUnKs0123456789abcdefGH"
    answers = ["a" + str(random.random()), json.dumps({"key": key}), "plain", str(random.random())]

    def serve(line: Line) -> None:
        for answer in answers:
            line.take()
            line.send(answer)
        with suppress(Exception):  # the program's end breaks the connection
            line.until_closed()

    with serving(serve) as url:
        environ = {**os.environ, "LIVE": f"{url}/v1", "NO_COLOR": "1"}
        command = [*LCTL, "run", "-o", str(log), str(program)]
        running = subprocess.Popen(command, cwd=tmp_path, env=environ, stdout=subprocess.PIPE, text=True)
        assert running.stdout is not None
        out = "".join(running.stdout.readline() for _ in answers)
        time.sleep(0.3)  # it waits for the answer that does not come
        running.send_signal(signal.SIGKILL)
        running.communicate(timeout=60)
    assert out.splitlines() == answers
    for path in tmp_path.iterdir():
        assert key not in path.read_bytes().decode("utf-8", "replace")
    [exchange] = [event.data for event in open_log(log).events() if event.type == "exchange"]
    lines = [json.loads(chunk[1] if isinstance(chunk[1], str) else "null") for chunk in exchange["chunks"]]
    assert len([line for line in lines if "in" in line]) == 4
    again = rerun(log, tmp_path)
    shown = again.out.splitlines()
    assert (shown[0], shown[2:4]) == (answers[0], answers[2:]), again.err
    assert again.code == 0, again.err


@pytest.mark.parametrize("inside", [False, True])
def test_a_fork_goes_on_with_a_session_of_its_own(inside: bool, tmp_path: Path) -> None:
    """What lies before it comes from the tape; the session is opened, and recorded. Also where the fork is
    within one: nobody can go on from its middle."""
    pytest.importorskip("openai")
    fork = tmp_path / "fork.lctl.json"
    with serving(speak) as url:
        environ = {"LIVE": f"{url}/v1"}
        first = record("live_realtime.py", tmp_path, environ)
        at = next(event["seq"] for event in first.events if event["type"] == "step_end") if inside else 0
        command = [*LCTL, "fork", str(first.log), "--at", str(at), "-o", str(fork)]
        forked = run(command, tmp_path, environ, fork)
    assert forked.code == 0, forked.err
    assert ("is inside a live session" in forked.err) is inside
    assert forked.out != first.out
    kinds = [event["type"] for event in forked.events]
    assert kinds.count("exchange") == 1
    assert kinds.count("step_end") == 2
    again = rerun(fork, tmp_path)
    assert (again.code, again.out) == (0, forked.out), again.err
