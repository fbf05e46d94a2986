"""An agent whose runs can be taken up, forked and replayed.

It answers mail with two tools. Its process dies in the middle and goes on where it was; then the finished
run is forked before the mail was sent, and run again with another system prompt. No mail is sent twice.
"""

import json
from pathlib import Path
from typing import Any

from openai import OpenAI

import lctl
from lctl.testing import ModelServer, ToolCall

SEEDS = [
    {"role": "system", "content": "You answer mail. Be brief."},
    {"role": "user", "content": "Ann asks: when do we meet?", "is_new": True},
]
sent: list[str] = []


@lctl.tool
def read_calendar(day: str) -> str:
    return f"{day}: free at 10"


@lctl.tool
def send_mail(to: str, body: str) -> dict[str, str]:
    sent.append(body)
    return {"sent": to}


TOOLS: dict[str, Any] = {"read_calendar": read_calendar, "send_mail": send_mail}


def agent(s: lctl.Session, steps: int = 10) -> None:
    """One step after the other: what the model says, and what it asks for."""
    for _ in range(steps):
        with s.step("turn") as step:
            answer = client.chat.completions.create(model=s.model or "", messages=s.context)  # type: ignore[arg-type]
            message = answer.choices[0].message
            s.record(message, sampled=True)
            for call in message.tool_calls or ():
                output = TOOLS[call.function.name](**json.loads(call.function.arguments))  # type: ignore[union-attr]
                s.record({"role": "tool", "tool_call_id": call.id, "content": json.dumps(output)})
            s.state["steps"] += 1
            step.update(cost=0.01)
        if not message.tool_calls:
            return


def start() -> lctl.Session:
    """Begin the run, or take it up: the same line does both."""
    return lctl.Session.start(
        log="mail.lctl.json",
        session_id="mail-17",
        trigger=("email", "17"),
        model="gpt-4.1-mini",
        tools=TOOLS,
        seed_messages=SEEDS,
        state={"steps": 0},
    )


with ModelServer() as server, OpenAI(base_url=server.openai_url, api_key="test") as client:
    server.reply(tool_calls=[ToolCall("read_calendar", {"day": "Friday"})])
    server.reply(tool_calls=[ToolCall("send_mail", {"to": "ann", "body": "Friday at 10."})])
    server.reply("I told Ann: Friday at 10.")

    session = start()
    agent(session, steps=1)
    session.close()  # the worker is gone; the run is not at its end

    with start() as session:
        print("taken up:", session, session.state)
        agent(session)
    print("at its end:", session, session.state, session.totals.cost)

    done = lctl.Session.hydrate("mail.lctl.json")
    print("what the model read before it sent the mail:", [one["role"] for one in done.prompt(5)])
    print("at event 12:", lctl.Session.hydrate("mail.lctl.json", at=12))

    server.reply(
        tool_calls=[ToolCall("send_mail", {"to": "ann", "body": "Dear Ann, would Friday at 10 suit you?"})]
    )
    server.reply("I asked Ann whether Friday at 10 suits her.")
    fork = done.fork(
        at=4, system_patch="You answer mail. Be polite.", path=Path("polite.lctl.json"), session_id="polite"
    )
    again = lctl.replay(fork, agent, tools="recorded")
    again.diff(done).show()
    print("mails sent:", sent)
