"""Programs that run commands, in each of the ways there are: each starts more than three."""

from __future__ import annotations

FORMS = r"""
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

PIECES = r"""
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

ENDS = r"""
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

ASYNCIO = r"""
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

BY_LOOPS = r"""
import asyncio
from subprocess import DEVNULL

import anyio
from anyio.streams.text import TextReceiveStream

DRAW = "echo x >> ran; head -c 4 /dev/urandom | od -An -tx1"
done = []

class Said(asyncio.SubprocessProtocol):
    def __init__(self):
        loop = asyncio.get_running_loop()
        self.all, self.exited, self.said = loop.create_future(), loop.create_future(), []
    def pipe_data_received(self, fd, data):
        self.said.append((fd, data))
    def process_exited(self):
        print("exited")
        self.exited.set_result(None)
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
    _, left = await loop.subprocess_shell(Said, "sleep 2 & exit 3")  # who has its streams when it has ended
    await left.exited
    done.append(True)

async def together():
    await asyncio.gather(beat(), main())

asyncio.run(together())
"""

#: Of the same; its loop has the world's clock, so nothing goes on beside.
ON_UVLOOP = (
    ASYNCIO.replace("asyncio.run(together())", "import uvloop\n\nuvloop.run(main())")
    + r"""
class Said(asyncio.SubprocessProtocol):
    def __init__(self):
        self.all, self.said = asyncio.get_running_loop().create_future(), []
    def pipe_data_received(self, fd, data):
        self.said.append((fd, data))
    def connection_lost(self, exc):
        self.all.set_result(self.said)

async def by_loop():
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.subprocess_exec(Said, "sh", "-c", "echo x >> ran; echo $$", stdin=None)
    print(await protocol.all, transport.get_pid(), transport.get_returncode())

uvloop.run(by_loop())
"""
)

SPOKEN_TO = r"""
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

IN_THREADS = r"""
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


PROGRAMS = {
    "forms": FORMS,
    "pieces": PIECES,
    "ends": ENDS,
    "asyncio": ASYNCIO,
    "by loops": BY_LOOPS,
    "on uvloop": ON_UVLOOP,
    "spoken to": SPOKEN_TO,
    "in threads": IN_THREADS,
}
