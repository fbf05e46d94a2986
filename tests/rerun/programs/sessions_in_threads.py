"""Agent sessions in the threads of a pool, all in one log; ids of their own where NAMED is not 1."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from openai import OpenAI

import lctl

MODEL = "gpt-4.1-mini"
client = OpenAI()


@lctl.tool
def weigh(what: str) -> str:
    return f"{what}: {len(what)} kg"


def work(number: int) -> str:
    seeds: list[dict[str, Any]] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": f"Task {number}", "is_new": True},
    ]
    id = f"work-{number}" if os.environ["NAMED"] == "1" else None
    with lctl.Session.start(log=log, session_id=id, model=MODEL, seed_messages=seeds, state={"n": 0}) as one:
        for turn in range(3):
            with one.step("turn"):
                answer = client.chat.completions.create(model=MODEL, messages=one.context)  # type: ignore[arg-type]
                one.record(answer.choices[0].message, sampled=True)
                one.state["n"] += 1
            one.record({"role": "user", "content": f"And then? {weigh('x' * turn)}"})
        return f"{one.id} {one.status} {len(one.messages)} {one.totals.turns} {one.state}"


with lctl.LCTLSession(path="all.lctl.json") as log, ThreadPoolExecutor(4) as pool:
    for told in pool.map(work, range(6)):
        print(told)
