"""`lctl fork` as it is used: with a debugger, in a sweep, on a terminal, from Python, and what it refuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import lctl
from lctl.codec import open_log, verify
from lctl.errors import UsageError
from lctl.testing import ModelServer
from tests.rerun.forked import Agent
from tests.rerun.harness import LCTL, record, rerun, run

pytestmark = pytest.mark.slow


def test_a_debugger_at_the_point(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    """Look, change a value in the live frame, go on: the rest is the fork."""
    monkeypatch.delenv("WARM_PYTHON", raising=False)  # the program's own frames end where a process begins
    tool = [e["seq"] for e in agent.first.events if e["type"] == "tool_call" and e["data"]["tool"] == "note"]
    script = "up\n" * 6 + "p 'at', step\nmessages[0]['content'] = 'Sing.'\ncontinue\n"
    done = agent.fork(tool[0], "--pdb", stdin=script)
    assert "('at', 0)" in done.out + done.err, done.err
    assert {one["messages"][0]["content"] for one in agent.asked} == {"Sing."}


def test_a_sweep(agent: Agent) -> None:
    at = agent.seqs("exchange")[1]
    (agent.folder / "fork.lctl.json").unlink(missing_ok=True)
    varied = ["--vary", "model=gpt-4.1-mini", "--vary", "model=gpt-4.1-nano", "--repeat", "2", "--yes"]
    check = f"{sys.executable} -c \"import sys; sys.exit('noted' in sys.stdin.read())\""
    command = [*LCTL, "fork", str(agent.first.log), "--at", str(at), *varied, "--json", "--check", check]
    done = run(command, agent.folder, agent.environ, agent.first.log)
    trials = [json.loads(line) for line in done.out.splitlines()]
    assert (
        sorted(trial["variant"][0] for trial in trials)
        == ["model=gpt-4.1-mini"] * 2 + ["model=gpt-4.1-nano"] * 2
    )
    assert not any(trial["passed"] for trial in trials)  # every run says what the tape said before the point
    assert done.code == 1
    assert sorted(one["model"] for one in agent.asked) == ["gpt-4.1-mini"] * 2 + ["gpt-4.1-nano"] * 2
    assert all(trial["calls"] == 1 and verify(open_log(trial["log"])).ok for trial in trials)
    assert "4 runs, up to 4 model calls" in done.err
    passing = [*command[:-1], f'{sys.executable} -c "pass"']
    assert run(passing, agent.folder, agent.environ, agent.first.log).code == 0


def test_what_cannot_begin_is_said_before_anything_runs(agent: Agent) -> None:
    at = agent.seqs("exchange")[0]
    keyless = {key: "" for key in agent.environ if key.endswith("KEY")}
    done = agent.fork(at, **keyless)
    assert (done.code, agent.asked) == (3, [])
    assert "not set: OPENAI_API_KEY" in done.err
    for words, why in (
        (("--set", "modle=x"), "modle"),
        (("--set", "@99999 model=x"), "99999"),
        (("--tools", "live", "--pdb", "--repeat", "2"), "--pdb is for one run"),
    ):
        done = agent.fork(at, *words)
        assert done.code == 2
        assert why in done.err
        assert "Traceback" not in done.err
    beyond = agent.fork(99_999)
    assert beyond.code == 2
    assert "has events 1 to" in beyond.err
    assert agent.asked == []


def test_from_python(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in agent.environ.items():
        monkeypatch.setenv(key, value)
    monkeypatch.setenv("LCTL_DIR", str(agent.folder / "logs"))
    chain = lctl.load(agent.first.log)
    at = agent.seqs("exchange")[1]
    made = lctl.fork(chain, at, set={"model": "gpt-4.1-mini"}, tools={"note": "dry-run"})
    assert made.ok
    assert made.chain.log.chain["parent"]["id"] == chain.id
    assert [one["model"] for one in agent.asked] == ["gpt-4.1-mini"]
    with pytest.raises(UsageError, match="an edit changed nothing"):
        lctl.fork(agent.first.log, at, set={"message[9].content": "x"})


@pytest.mark.parametrize(
    ("answers", "noted"), [([b"y\n", b"n\n"], 1), ([b"a\n"], 2), ([b"v\n"], 0), ([b"\x04", b"y\n"], 1)]
)
def test_a_question_before_a_tool_on_a_terminal(agent: Agent, answers: list[bytes], noted: int) -> None:
    at = agent.seqs("exchange")[1]
    before = (agent.folder / "ledger").read_text().count("\n")
    said = _on_terminal(agent, at, b"ne[v]er:", answers)
    assert b"run note(" in said
    assert (agent.folder / "ledger").read_text().count("\n") - before == noted


CHAT = """\
import os, httpx

client = httpx.Client(base_url=os.environ["OPENAI_BASE_URL"], headers={"authorization": "Bearer k"})
messages = []
while True:
    try:
        said = input(f"{len(messages)}> ")
    except EOFError:
        break
    messages.append({"role": "user", "content": said})
    made = client.post("/chat/completions", json={"model": "gpt-4.1", "messages": messages}).json()
    messages.append(made["choices"][0]["message"])
"""


@pytest.mark.parametrize(
    ("typed", "expected"),
    [(["other", "\x04"], ["first", "other"]), (["\x04"], ["first"]), (None, ["first", "second", "third"])],
)
def test_what_is_typed_behind_the_point_is_read_at_a_terminal(
    tmp_path: Path, models: ModelServer, typed: list[str] | None, expected: list[str]
) -> None:
    """What is piped is the recorded line up to the first live call, and from then on what is piped now."""
    program = tmp_path / "chat.py"
    program.write_text(CHAT)
    first = record(str(program), tmp_path, models.environ, stdin="first\nsecond\n")
    assert first.code == 0, first.err
    agent = Agent.of(tmp_path, models, first)
    at = next(event["seq"] for event in first.events if event["type"] == "step_end")
    if typed is None:
        made = agent.fork(at, stdin="third\n")
        assert made.code == 0, made.err
    else:
        lines = [line if line == "\x04" else f"{line}\n" for line in typed]
        _on_terminal(agent, at, (b"2>", b"4>"), [line.encode() for line in lines])
    last = agent.asked[-1]["messages"] if agent.asked else [{"role": "user", "content": "first"}]
    assert [one["content"] for one in last if one["role"] == "user"] == expected


def test_nothing_comes_from_the_tape_where_nothing_is_before(tmp_path: Path, models: ModelServer) -> None:
    program = tmp_path / "chat.py"
    program.write_text(CHAT)
    first = record(str(program), tmp_path, models.environ, stdin="first\n")
    assert first.code == 0, first.err
    with ModelServer() as elsewhere:
        agent = Agent.of(tmp_path, models, first)
        made = agent.fork(0, stdin="one\ntwo\n", **elsewhere.environ)
        assert made.code == 0, made.err
        asked = [json.loads(request.raw)["messages"][-1]["content"] for request in elsewhere.requests]
    assert (asked, agent.asked) == (["one", "two"], [])
    again = rerun(made.log, tmp_path)
    assert again.code == 0, again.err


def test_a_fork_whose_log_cannot_be_written_asks_nobody(tmp_path: Path, models: ModelServer) -> None:
    """Without a log nothing is served, so that the whole program would run for real."""
    program = tmp_path / "chat.py"
    program.write_text(CHAT)
    first = record(str(program), tmp_path, models.environ, stdin="first\nsecond\n")
    assert first.code == 0, first.err
    (tmp_path / "file").write_text("")
    recorded = len(models.requests)
    for words in (["fork", "--at", "9"], ["rerun"]):
        command = [*LCTL, *words, str(first.log)]
        nowhere = {**models.environ, "LCTL_DIR": str(tmp_path / "file" / "logs")}
        made = run(command, tmp_path, nowhere, first.log)
        assert made.code == 1
        assert f"the log of this {words[0]} cannot be written" in made.err
        assert "Traceback" not in made.err and "not affected" not in made.err
    assert len(models.requests) == recorded


def test_a_program_that_came_by_standard_input(tmp_path: Path, models: ModelServer) -> None:
    log = tmp_path / "run.lctl.json"
    program = CHAT.replace('input(f"{len(messages)}> ")', '"first" if not messages else exit()')
    command = [*LCTL, "run", "--output", str(log), sys.executable, "-"]
    first = run(command, tmp_path, models.environ, log, program)
    assert first.code == 0, first.err
    for stdin, code in ((program, 0), ("", 1)):
        made = run([*LCTL, "rerun", str(log)], tmp_path, {}, log, stdin)
        assert made.code == code, made.err
        assert "its program came by standard input, and has to come so again" in made.err


def _on_terminal(agent: Agent, at: int, question: bytes | tuple[bytes, ...], answers: list[bytes]) -> bytes:
    """What a fork says to somebody who gives these answers, one whenever it asks."""
    pty = pytest.importorskip("pty")
    left = list(answers)
    clean = {k: v for k, v in os.environ.items() if not k.startswith("LCTL_")}
    clean |= {**agent.environ, "LCTL_DIR": str(agent.folder / "logs"), "NO_COLOR": "1"}
    main, other = pty.openpty()
    with subprocess.Popen(
        [*LCTL, "fork", str(agent.first.log), "--at", str(at)],
        stdin=other,
        stdout=other,
        stderr=other,
        env=clean,
        cwd=agent.folder,
        start_new_session=True,
        preexec_fn=_take_terminal,
    ) as process:
        os.close(other)
        said = b""
        while True:
            try:
                block = os.read(main, 4096)
            except OSError:  # nobody has the other end any more
                break
            if not block:
                break
            said += block
            if block.rstrip().endswith(question):
                os.write(main, left.pop(0))
        assert process.wait() == 0, said.decode()
    os.close(main)
    assert left == []
    return said


def _take_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
