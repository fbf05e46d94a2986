"""A run that dies on one machine and goes on on another. Its mail is sent once.

    python examples/crash_and_resume.py                                # a SQLite store
    python examples/crash_and_resume.py postgresql://user@host/db      # a database they share

Each worker is a process with a folder of its own: all they share is the store. The first is killed in the
middle of a turn, after the mail was sent and before the room was booked.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from openai import OpenAI

import lctl
from lctl.testing import ModelServer, ToolCall

SESSION = "mail-17"
SENT = Path("sent.txt").absolute()
SEEDS = [
    {"role": "system", "content": "You answer mail."},
    {"role": "user", "content": "Ann asks: when and where do we meet?"},
]


def send_mail(to: str, body: str) -> dict[str, str]:
    """What must not happen twice."""
    with SENT.open("a") as file:
        file.write(f"{to}: {body}\n")
    return {"sent": to}


def book_room(day: str) -> dict[str, str]:
    if os.environ.get("DIES") == "1":
        os.kill(os.getpid(), signal.SIGKILL)
    return {"room": "blue", "day": day}


TOOLS: dict[str, Any] = {"send_mail": send_mail, "book_room": book_room}
ONCE = {"send_mail"}


def agent(s: lctl.Session, client: OpenAI) -> None:
    """Tool calls that were asked for and have no result come first, whoever asked for them."""
    done = False
    while not done:
        with s.step("turn"):
            calls = list(s.pending.calls)
            if not calls:
                answer = client.chat.completions.create(model=s.model or "", messages=s.context)  # type: ignore[arg-type]
                s.record(answer.choices[0].message, sampled=True)
                calls = list(s.pending.calls)
                done = not calls
            for call in calls:
                output = called(s, call)
                s.record({"role": "tool", "tool_call_id": call["id"], "content": json.dumps(output)})


def called(s: lctl.Session, call: dict[str, Any]) -> Any:
    name, given = call["name"], call["arguments"]
    input = json.loads(given) if isinstance(given, str) else given
    return s.call_tool(name, input, lambda: TOOLS[name](**input), call_id=call["id"], once=name in ONCE)


def work(store: str, model_url: str) -> None:
    """Begin the run, or take it up: the same line does both."""
    with (
        OpenAI(base_url=model_url, api_key="test") as client,
        lctl.Session.start(log=store, session_id=SESSION, model="gpt-4.1-mini", seed_messages=SEEDS) as s,
    ):
        agent(s, client)


def worker(store: str, model_url: str, machine: str, **environment: str) -> int:
    env = {**os.environ, "LCTL_DIR": str(Path(machine).absolute()), **environment}
    return subprocess.run([sys.executable, __file__, "work", store, model_url], env=env).returncode


def main(store: str) -> None:
    with ModelServer() as server:
        server.reply(
            tool_calls=[
                ToolCall("send_mail", {"to": "ann", "body": "Friday at 10."}),
                ToolCall("book_room", {"day": "Friday"}),
            ]
        )
        server.reply("Ann knows; the blue room is booked.")
        print("first machine ended with", worker(store, server.openai_url, "machine-1", DIES="1"))
        left = lctl.Session.hydrate(store, SESSION)
        print("in the store:", left, "- without a result:", [call["name"] for call in left.pending.calls])
        print("second machine ended with", worker(store, server.openai_url, "machine-2"))
    run = lctl.Session.hydrate(store, SESSION)
    print("in the store:", run)
    print("last word:", run.messages[-1]["content"])
    print("mails sent:", SENT.read_text().splitlines())


if __name__ == "__main__":
    if sys.argv[1:2] == ["work"]:
        lctl.auto_instrument()
        work(*sys.argv[2:])
    else:
        main(sys.argv[1] if sys.argv[1:] else "sqlite:///runs.db")
