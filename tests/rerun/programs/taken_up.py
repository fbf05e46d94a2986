"""A session that is left, taken up again in its log, read as it stood, forked into another log and replayed."""

from __future__ import annotations

from pathlib import Path

from openai import OpenAI

import lctl

MODEL = "gpt-4.1-mini"
SEEDS = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello", "is_new": True}]
client = OpenAI()


@lctl.tool
def weigh(what: str) -> str:
    Path("weighed.txt").open("a").write(f"{what}\n")
    return f"{what}: {len(what)} kg"


def start() -> lctl.Session:
    return lctl.Session.start(log="mail.lctl.json", session_id="mail-17", model=MODEL, seed_messages=SEEDS)


def turn(session: lctl.Session, said: str) -> None:
    with session.step("turn"):
        answer = client.chat.completions.create(model=MODEL, messages=session.context)  # type: ignore[arg-type]
        session.record(answer.choices[0].message, sampled=True)
    session.record({"role": "user", "content": f"{said} {weigh(said)}"})


first = start()
turn(first, "one")
first.close()
with start() as again:
    print(again, [one["content"] for one in again.messages])
    turn(again, "two")
done = lctl.Session.hydrate("mail.lctl.json")
print(done, len(done.messages), done.totals.turns)
fork = done.fork(at=4, system_patch="Be polite.", path=Path("fork.lctl.json"), session_id="polite")
made = lctl.replay(fork, lambda session: turn(session, "three"), mocks={"weigh": "heavy"})
print(made, fork, [one["content"] for one in fork.messages])
said = client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "Bye"}])
print(said.choices[0].message.content)
