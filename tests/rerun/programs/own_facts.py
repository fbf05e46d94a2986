"""A program that reads what it has recorded: the address of its facts, what a gate says, its chain's id."""

from openai import OpenAI

import lctl

client = OpenAI()


def ask(text: str) -> str | None:
    answer = client.chat.completions.create(
        model="gpt-4.1-mini", messages=[{"role": "user", "content": text}]
    )
    return answer.choices[0].message.content


with lctl.LCTLSession("confirmed") as session:
    with session.step("analyzer", "scan"):
        session.add_fact("F1", text=ask("What is wrong?"), confidence=0.35)
    with session.step("reviewer", "confirm"):
        blocked = [one["id"] for one in session.facts.query("SELECT * WHERE gate = 'block'")]
        said = ask(f"Is this so? {blocked}, in {session.facts.url}")
        session.modify_fact("F1", text=said, confidence=0.92, reason="reviewed")
    session.checkpoint()
    with session.step("fixer"):
        print(session.require("F1"), session.chain_id)
