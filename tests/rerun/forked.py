"""A program recorded once, and its forks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lctl.testing import ModelServer
from tests.rerun.harness import LCTL, Result, record, run

#: A tool loop of three calls; `note` writes to the world, `read_page` only looks.
AGENT = """\
import json, os, random, sys
import lctl
from openai import OpenAI

@lctl.tool
def read_page(name):
    return f"page {name} {random.random()}"

@lctl.tool
def note(text):
    with open(os.environ["LEDGER"], "a") as ledger:
        ledger.write(text + "\\n")
    return "noted"

def ask(messages):
    made = client.chat.completions.create(model="gpt-4.1", messages=messages, temperature=0.5)
    return made.choices[0].message.content

client = OpenAI(max_retries=2)
messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Which page?"}]
for step in range(3):
    messages.append({"role": "assistant", "content": ask(messages)})
    found = read_page(f"p{step}")
    print(found, note(found))
    messages.append({"role": "user", "content": found})
print(json.dumps(messages))
"""


class Agent:
    """AGENT, or another program, recorded once; its forks."""

    def __init__(self, folder: Path, models: ModelServer, program: str = AGENT, *options: str) -> None:
        self.folder, self.models = folder, models
        path = folder / "agent.py"
        path.write_text(program)
        self.environ = {**models.environ, "LEDGER": str(folder / "ledger")}
        self.first = record(str(path), folder, self.environ, *options)
        assert self.first.code == 0, self.first.err
        self.recorded = len(models.requests)

    @classmethod
    def of(cls, folder: Path, models: ModelServer, first: Result) -> Agent:
        """One that has been recorded."""
        made = cls.__new__(cls)
        made.folder, made.models, made.first = folder, models, first
        made.environ, made.recorded = dict(models.environ), len(models.requests)
        return made

    def fork(self, at: int, *options: str, stdin: str = "", **environ: str) -> Result:
        log = self.folder / "fork.lctl.json"
        log.unlink(missing_ok=True)
        words = [*LCTL, "fork", str(self.first.log), "--at", str(at), "--output", str(log), *options]
        return run(words, self.folder, {**self.environ, **environ}, log, stdin)

    @property
    def asked(self) -> list[dict[str, Any]]:
        """What the server was asked behind the recording."""
        return [json.loads(request.raw) for request in self.models.requests[self.recorded :]]

    def seqs(self, type: str) -> list[int]:
        return [event["seq"] for event in self.first.events if event["type"] == type]
