"""Agent sessions and reply chains, in the ways of HOW; ids that lctl makes up go into what is printed."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from openai import AsyncOpenAI, OpenAI

import lctl

MODEL = "gpt-4.1-mini"


def seeds(text: str) -> list[dict[str, Any]]:
    return [{"role": "system", "content": "Be brief."}, {"role": "user", "content": text, "is_new": True}]


def one(session_id: str | None) -> None:
    with lctl.Session.start(session_id=session_id, model=MODEL, seed_messages=seeds("Hello")) as session:
        with session.step("turn"):
            answer = OpenAI().chat.completions.create(model=MODEL, messages=session.context)  # type: ignore[arg-type]
            session.record(answer.choices[0].message, sampled=True)
        print(session, [message["content"] for message in session.messages])


async def several() -> None:
    async def work(number: int) -> str:
        session = lctl.Session.start(log=log, model=MODEL, seed_messages=seeds(f"Task {number}"))
        with session.step("turn"):
            answer = await client.chat.completions.create(model=MODEL, messages=session.context)  # type: ignore[arg-type]
            session.record(answer.choices[0].message, sampled=True)
        return f"{session} {session.messages[-1]['content']}"

    async with AsyncOpenAI() as client:
        with lctl.LCTLSession() as log:
            print(await asyncio.gather(*map(work, range(3))))


def replies() -> None:
    with lctl.LCTLSession() as log:
        turn = log.conversations.send("Hello")
        for text in ("And then?", "Why?"):
            answer = OpenAI().chat.completions.create(model=MODEL, messages=turn.transcript())  # type: ignore[arg-type]
            turn.record(answer.choices[0].message)
            turn = log.conversations.reply(to=turn.id, text=text)
        print(turn.id, [message["content"] for message in turn.transcript()])


match os.environ["HOW"]:
    case "named":
        one("mail-17")
    case "unnamed":
        one(None)
    case "tasks":
        asyncio.run(several())
    case _:
        replies()
