"""Commands that a program runs: a rerun gives what they gave, and starts none of them."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from lctl.codec import open_log
from lctl.testing import ModelServer
from tests.unit.rerun.commands import ASKING, Run, Twice, found

pytestmark = pytest.mark.skipif(os.name != "posix", reason="commands are recorded on POSIX systems")

_FORMS = r"""
import os, subprocess
from subprocess import DEVNULL, PIPE, STDOUT, Popen, run

DRAW = "echo x >> ran; head -c 8 /dev/urandom | od -An -tx1"

print(run(["sh", "-c", DRAW], capture_output=True).stdout)
print(run(DRAW, shell=True, stdout=PIPE, text=True).stdout, run("exit 3", shell=True).returncode)
print(subprocess.check_output(["sh", "-c", DRAW + "; echo e >&2"], stderr=STDOUT, text=True))
try:
    subprocess.check_output("echo out; echo err >&2; exit 4", shell=True, stderr=PIPE)
except subprocess.CalledProcessError as error:
    print(error, error.output, error.stderr)
print(subprocess.call(["true"]), subprocess.call("false", shell=True))
print(subprocess.getoutput(DRAW), subprocess.getstatusoutput("echo x; exit 7"))
print(os.system("exit 2"), os.system(DRAW + " > drawn"), open("drawn").read())
with os.popen(DRAW + "; exit 3") as file:
    print(file.read())
print(file.close())
print(run(["tr", "a-z", "A-Z"], input="shout", text=True, capture_output=True).stdout)
print(hash(run("head -c 300000 /dev/urandom", shell=True, capture_output=True).stdout))
with Popen(["printf", "a\\r\\nb\\377"], stdout=PIPE, universal_newlines=True, errors="replace") as one:
    print(ascii(one.communicate()))
"""

_PIECES = r"""
import subprocess, time
from subprocess import PIPE, Popen

DRAW = "head -c 4 /dev/urandom | od -An -tx1"
drawing = Popen(f"for n in 1 2; do {DRAW}; done", shell=True, stdout=PIPE, text=True)
for line in drawing.stdout:
    print("line", line)
print(drawing.wait(), drawing.returncode, drawing.poll())
talking = Popen(["cat"], stdin=PIPE, stdout=PIPE, text=True)
talking.stdin.write("hello\n")
talking.stdin.flush()
print(talking.stdout.readline())
talking.stdin.close()
print(talking.wait())
waited = Popen(DRAW, shell=True, stdout=PIPE)
print(waited.wait(timeout=9), waited.stdout.read(2), waited.stdout.read())
first = Popen(DRAW, shell=True, stdout=PIPE)
second = Popen(["tr", "a-f", "A-F"], stdin=first.stdout, stdout=PIPE)
first.stdout.close()
print(second.communicate(), first.wait())
polled, asked = Popen("sleep 0.15; exit 6", shell=True), 0
while polled.poll() is None:
    asked += 1
    time.sleep(0.04)
print(asked, polled.returncode)
"""

_ENDS = r"""
import os, signal, subprocess, time
from subprocess import PIPE, Popen, TimeoutExpired, run

for command in (["no-such-command"], ["/etc/hostname"]):
    try:
        run(command)
    except OSError as error:
        print(repr(error), error.filename)
try:
    run("head -c 4 /dev/urandom | od -An -tx1; exec sleep 9", shell=True, timeout=0.5, capture_output=True)
except TimeoutExpired as error:
    print(error, error.stdout, error.stderr)
late = Popen("echo before; exec sleep 9", shell=True, stdout=PIPE)
try:
    late.communicate(timeout=0.3)
except TimeoutExpired as error:
    print(error.output)
    late.kill()
    print(late.communicate(), late.returncode)
stopped = Popen(["sleep", "9"])
try:
    stopped.wait(0.05)
except TimeoutExpired as error:
    print(error)
stopped.terminate()
print(stopped.wait())
killed = Popen(["sleep", "9"])
os.kill(killed.pid, signal.SIGKILL)
print(killed.pid, killed.wait())
try:
    os.kill(killed.pid, signal.SIGKILL)
except ProcessLookupError as error:
    print(error)
grouped = Popen("sleep 9", shell=True, start_new_session=True)
os.killpg(os.getpgid(grouped.pid), signal.SIGTERM)
print(grouped.wait())
left = Popen("echo x >> ran; sleep 0.2", shell=True)
print(left.poll())
Popen(["true"])
"""

_ASYNCIO = r"""
import asyncio, os
from asyncio.subprocess import DEVNULL, PIPE, STDOUT

done = []

async def beat():
    beats = 0
    while not done:
        beats += 1
        print("beat", beats)
        await asyncio.sleep(0.002)

async def shell(n):
    command = f"sleep 0.0{n}; head -c 4 /dev/urandom | od -An -tx1; echo {n} >&2; echo x >> ran; exit {n}"
    process = await asyncio.create_subprocess_shell(command, stdout=PIPE, stderr=PIPE)
    print(n, await process.communicate(), process.returncode)

async def main():
    await asyncio.gather(*[shell(n) for n in range(4)])
    sort = await asyncio.create_subprocess_exec("sort", stdin=PIPE, stdout=PIPE)
    print(await sort.communicate(b"b\na\n"), sort.returncode)
    command = "for n in 1 2 3; do head -c 4 /dev/urandom | od -An -tx1; sleep 0.02; done"
    lines = await asyncio.create_subprocess_shell(command, stdout=PIPE)
    async for line in lines.stdout:
        print("line", line)
    print(await lines.wait())
    try:
        await asyncio.create_subprocess_exec("no-such-command")
    except FileNotFoundError as error:
        print(repr(error), error.filename)
    late = await asyncio.create_subprocess_exec("sleep", "9", stdout=PIPE)
    try:
        await asyncio.wait_for(late.communicate(), 0.1)
    except asyncio.TimeoutError:
        late.kill()
        print("killed", await late.wait())
    ended = await asyncio.create_subprocess_exec("sleep", "9")
    os.kill(ended.pid, 15)
    print(ended.pid, await ended.wait())
    quiet = await asyncio.create_subprocess_exec("true", stdout=DEVNULL)
    print(await quiet.wait(), quiet.returncode)
    talking = await asyncio.create_subprocess_shell("cat; exit 3", stdin=PIPE, stdout=PIPE, stderr=STDOUT)
    talking.stdin.write(b"hello\n")
    await talking.stdin.drain()
    talking.stdin.close()
    await talking.stdin.wait_closed()
    print(await talking.stdout.readline(), await talking.stdout.read(), await talking.wait())
    done.append(True)

async def together():
    await asyncio.gather(beat(), main())

asyncio.run(together())
"""

_BY_LOOPS = r"""
import asyncio
from subprocess import DEVNULL

import anyio
from anyio.streams.text import TextReceiveStream

DRAW = "echo x >> ran; head -c 4 /dev/urandom | od -An -tx1"
done = []

class Said(asyncio.SubprocessProtocol):
    def __init__(self):
        self.all, self.said = asyncio.get_running_loop().create_future(), []
    def pipe_data_received(self, fd, data):
        self.said.append((fd, data))
    def process_exited(self):
        print("exited")
    def connection_lost(self, exc):
        self.all.set_result(self.said)

async def beat():
    beats = 0
    while not done:
        beats += 1
        print("beat", beats)
        await anyio.sleep(0.002)

async def one(n):
    print(n, (await anyio.run_process(f"sleep 0.0{n}; " + DRAW)).stdout)

async def main():
    loop = asyncio.get_running_loop()
    print(await anyio.run_process(DRAW), await anyio.run_process(["tr", "a-z", "A-Z"], input=b"shout"))
    print(await anyio.run_process(["sh", "-c", DRAW + "; exit 3"], check=False, stderr=DEVNULL))
    for failing in ("exit 4", ["no-such-command"]):
        try:
            await anyio.run_process(failing)
        except Exception as error:
            print(repr(error))
    async with await anyio.open_process(["sh", "-c", DRAW + "; sleep 0.01; " + DRAW]) as process:
        async for text in TextReceiveStream(process.stdout):
            print(text)
    print(process.pid, process.returncode)
    async with anyio.create_task_group() as group:
        for n in range(4):
            group.start_soon(one, n)
        group.start_soon(anyio.run_process, DRAW)
    with anyio.move_on_after(0.1):
        await anyio.run_process("sleep 9")
    exec_ = loop.subprocess_exec(Said, "sh", "-c", DRAW, stdin=None)
    for started in (loop.subprocess_shell(Said, DRAW), exec_):
        transport, protocol = await started
        print(await protocol.all, transport.get_pid(), transport.get_returncode())
        transport.close()
    done.append(True)

async def together():
    await asyncio.gather(beat(), main())

asyncio.run(together())
"""

_SPOKEN_TO = r"""
import asyncio, subprocess, uuid
from subprocess import PIPE, STDOUT

class Shell:
    def __init__(self):
        self.bash = subprocess.Popen(["sh"], stdin=PIPE, stdout=PIPE, stderr=STDOUT, text=True, bufsize=1)

    def run(self, command):
        mark, said = uuid.uuid4().hex, []
        self.bash.stdin.write(f"{command}\necho {mark} $?\n")
        self.bash.stdin.flush()
        for line in self.bash.stdout:
            if line.startswith(mark):
                return said, line.split()[1]
            said.append(line)

DRAW = "head -c 4 /dev/urandom | od -An -tx1"
shell = Shell()
print(shell.run(f"X=3; {DRAW}"), shell.run("pwd; false"), shell.run(f"echo $X; {DRAW}"))
print(subprocess.run(DRAW, shell=True, capture_output=True).stdout)

async def main():
    process = await asyncio.create_subprocess_exec("sh", stdin=PIPE, stdout=PIPE)
    for command in (DRAW, "pwd", f"sleep 0.02; {DRAW}"):
        mark = uuid.uuid4().hex
        process.stdin.write(f"{command}\necho {mark}\n".encode())
        await process.stdin.drain()
        while (line := (await asyncio.wait_for(process.stdout.readline(), 5)).decode().strip()) != mark:
            print(line)
    process.terminate()
    print(await process.wait())

asyncio.run(main())
print(shell.run("echo last"))
subprocess.run(["true"])
"""

_IN_THREADS = r"""
import random, subprocess
from concurrent.futures import ThreadPoolExecutor, as_completed

def work(n):
    drawn = []
    for step in range(3):
        command = f"sleep 0.0{random.randrange(5)}; head -c 4 /dev/urandom | od -An -tx1"
        drawn.append(subprocess.run(command, shell=True, capture_output=True, text=True).stdout)
    return n, drawn

with ThreadPoolExecutor(4) as pool:
    for job in as_completed([pool.submit(work, n) for n in range(8)]):
        print(*job.result())
"""


@pytest.mark.parametrize("program", [_FORMS, _PIECES, _ENDS, _ASYNCIO, _BY_LOOPS, _SPOKEN_TO, _IN_THREADS])
def test_commands_are_not_run_again(program: str, twice: Twice, tmp_path: Path) -> None:
    """Output, exit codes, what could not be started or took too long; no effect on the world."""
    _, again = twice(program)
    assert "rerun exact" in again.stderr and "output equal" in again.stderr, again.stderr
    commands = found(tmp_path / "run.lctl.json", "command")
    assert len(commands) > 3
    ran = tmp_path / "ran"
    if ran.exists():
        assert len(ran.read_text().split()) == sum(key.count("x >> ran") for key, _ in commands)


def test_what_ran_for_how_long_is_in_the_log(twice: Twice, lctl: Run, tmp_path: Path) -> None:
    twice("import subprocess\nsubprocess.run('echo out; exit 5', shell=True, capture_output=True)\n")
    [event] = [e for e in open_log(tmp_path / "run.lctl.json").events() if e.data.get("source") == "command"]
    assert event.data["key"] == "echo out; exit 5"
    assert event.data["value"] == {"code": 5, "stdout": "out\n", "stderr": ""}
    assert event.data["place"] == "agent.py:2" and event.data["duration_ms"] > 0
    assert 'ambient command "echo out; exit 5" (exit 5)' in lctl("replay", "run.lctl.json").stdout


_SAME = """
import asyncio, subprocess
try:
    subprocess.run(["sleep", "5"], timeout=0.05)
except subprocess.TimeoutExpired:
    pass
waited = subprocess.Popen("sleep 0.02; echo a", shell=True, stdout=-1)
while waited.poll() is None:
    pass
print(waited.stdout.read())
async def main():
    process = await asyncio.create_subprocess_shell("echo b; sleep 0.01; echo c", stdout=-1)
    print(await process.communicate())
asyncio.run(main())
"""
_SHELL = """
import subprocess, sys
print(subprocess.run("echo x >> ran; wc -l < ran", shell=True, capture_output=True, text=True).stdout)
"""


def test_another_command_than_the_recorded_one_is_refused(lctl: Run, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("import subprocess\nsubprocess.run(['true'])\n")
    lctl("run", "-o", "run.lctl.json", "agent.py")
    (tmp_path / "agent.py").write_text("import subprocess\nsubprocess.run(['touch', 'made'])\n")
    again = lctl("rerun", "run.lctl.json")
    assert again.returncode == 1
    assert "blocked: starting 'touch made', by agent.py:2" in again.stderr
    assert "1 command read" in again.stderr
    assert not (tmp_path / "made").exists()


@pytest.mark.slow
def test_allowed_commands_run_again(lctl: Run, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(_SHELL)
    assert lctl("run", "-o", "run.lctl.json", "agent.py").stdout.strip() == "1"
    assert lctl("rerun", "run.lctl.json", "--allow", "subprocess:/bin/sh").stdout.strip() == "2"
    assert lctl("rerun", "run.lctl.json").stdout.strip() == "1"
    assert (tmp_path / "ran").read_text() == "x\nx\n"


@pytest.mark.slow
@pytest.mark.parametrize("off", ["--no-commands", "LCTL_COMMANDS=off"])
def test_they_need_not_be_recorded(
    off: str, lctl: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then what starts one is named, as what starts anything else that is not on the tape."""
    (tmp_path / "agent.py").write_text(_SHELL)
    words = [off] if off.startswith("-") else ["--", "env", off, sys.executable]
    lctl("run", "-o", "run.lctl.json", *words, "agent.py")
    assert found(tmp_path / "run.lctl.json", "command") == []
    again = lctl("rerun", "run.lctl.json")
    assert "blocked: starting '/bin/sh -c echo x >> ran" in again.stderr
    assert (tmp_path / "ran").read_text() == "x\n"


@pytest.mark.slow
def test_pythons_that_record_themselves_run_again_on_their_own_logs(twice: Twice, tmp_path: Path) -> None:
    """One that a shell starts does not: the shell is a command."""
    program = f"""
import subprocess, sys
print(subprocess.run([sys.executable, "child.py"], capture_output=True, text=True).stdout)
print(subprocess.run("{sys.executable} child.py", shell=True, capture_output=True, text=True).stdout)
"""
    recorded, again = twice(program, child="import random\nprint(random.random())\n")
    assert again.stdout == recorded.stdout and again.returncode == 0, again.stderr
    assert again.stderr.count("rerun exact") == 2
    [(key, _)] = found(tmp_path / "run.lctl.json", "command")
    assert key.endswith("python child.py")


def test_secrets_of_commands_are_not_in_the_log(twice: Twice, tmp_path: Path) -> None:
    """A rerun knows the line by what stands in their place."""
    secret = "sk-proj-" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z"
    program = f"import subprocess\nsubprocess.run('echo {secret}; echo x >> ran', shell=True, stdout=-1)\n"
    _, again = twice(program)
    assert "rerun exact" in again.stderr, again.stderr
    assert secret not in (tmp_path / "run.lctl.json").read_text()
    [(key, value)] = found(tmp_path / "run.lctl.json", "command")
    assert "[redacted:openai" in key and "[redacted:openai" in json.dumps(value)
    assert (tmp_path / "ran").read_text() == "x\n"


def test_what_a_tool_starts_is_part_of_its_call(twice: Twice, tmp_path: Path) -> None:
    program = """
import lctl, subprocess

@lctl.tool
def bash(command):
    return subprocess.run(command, shell=True, capture_output=True, text=True).stdout

print(bash("echo x >> ran; wc -l < ran"))
"""
    _, again = twice(program)
    assert "rerun exact" in again.stderr, again.stderr
    assert found(tmp_path / "run.lctl.json", "command") == []
    assert (tmp_path / "ran").read_text() == "x\n"


@pytest.mark.slow
def test_a_fork_runs_those_behind_its_first_live_call(lctl: Run, server: ModelServer, tmp_path: Path) -> None:
    """All before is as recorded, also at 0: a command does something to the world."""
    program = f"""{ASKING}
import subprocess
def draw():
    return subprocess.run("echo x >> ran; wc -l < ran", shell=True, capture_output=True, text=True).stdout
first = draw()
answer([{{"role": "user", "content": "Go on."}}])
print(first, draw())
"""
    (tmp_path / "agent.py").write_text(program)
    assert lctl("run", "-o", "run.lctl.json", "agent.py").stdout.split() == ["1", "2"]
    [last] = [
        event.seq
        for event in open_log(tmp_path / "run.lctl.json").events()
        if event.data.get("source") == "command"
    ][1:]
    for at, expected in ((last, ["1", "2"]), (0, ["1", "3"])):
        fork = lctl("fork", "run.lctl.json", "--at", str(at), "-o", f"{at}.lctl.json")
        assert fork.stdout.split() == expected, fork.stderr


@pytest.mark.slow
def test_two_runs_differ_where_a_command_said_something_else(lctl: Run, tmp_path: Path) -> None:
    """And nowhere else: not in when it was, how often it was asked, and which number it had."""
    (tmp_path / "same.py").write_text(_SAME)
    for name in ("first", "second"):
        lctl("run", "-o", f"{name}.lctl.json", "same.py")
    same = lctl("diff", "first.lctl.json", "second.lctl.json")
    assert same.returncode == 0, same.stdout
    assert "3 crossings, the same in every run" in lctl("doctor", "--repeat", "2", "same.py").stdout
    (tmp_path / "agent.py").write_text(_SHELL)
    for name in ("one", "two"):
        lctl("run", "-o", f"{name}.lctl.json", "agent.py")
    said = lctl("diff", "one.lctl.json", "two.lctl.json").stdout
    assert "gave.stdout" in said and "echo x >> ran" in said


@pytest.mark.slow
def test_forked_workers_run_again_beside_a_log_of_any_name(lctl: Run, tmp_path: Path) -> None:
    program = """
import multiprocessing, subprocess
from concurrent.futures import ProcessPoolExecutor

def draw(n):
    command = "head -c 4 /dev/urandom | od -An -tx1"
    return n, subprocess.run(command, shell=True, capture_output=True, text=True).stdout

if __name__ == "__main__":
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        print(list(pool.map(draw, range(4))))
"""
    (tmp_path / "agent.py").write_text(program)
    recorded = lctl("run", "-o", "run.json", "agent.py")
    again = lctl("rerun", "run.json", "-o", "again.json")
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
    assert again.stderr.count("rerun exact") == len(list(tmp_path.glob("run*.json"))) > 1
