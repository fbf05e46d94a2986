"""A fact nobody is sure of is blocked; a reviewer confirms it; the gate opens.

Writes `confirmed.lctl.json`. `lctl confidence confirmed.lctl.json --causes` shows the fact's way; what would
have come of a reviewer less sure of itself:

    lctl what-if confirmed.lctl.json --at 21 --set data.confidence=0.3
"""

import json
from typing import Any

from openai import OpenAI

from lctl import LCTLSession
from lctl.errors import FactBlocked
from lctl.testing import ModelServer
from lctl.trust.profiles import profile

CONTRACTS = {
    "analyzer": {"outputs": [{"type": "fact", "required_fields": ["id", "text", "confidence", "source"]}]},
    "reviewer": {
        "inputs": [{"type": "fact", "required_fields": ["id", "text"]}],
        "outputs": [
            {
                "type": "fact",
                "required_fields": ["id", "text", "confidence", "severity"],
                "severity_values": ["low", "medium", "high", "critical"],
            }
        ],
    },
}


def ask(client: OpenAI, question: str) -> dict[str, Any]:
    """What the model says, as an object."""
    answer = client.chat.completions.create(
        model="gpt-4.1-mini", messages=[{"role": "user", "content": question}]
    )
    found: dict[str, Any] = json.loads(answer.choices[0].message.content or "{}")
    return found


def fix(session: LCTLSession) -> None:
    """Patch the query, if the finding may be acted on."""
    with session.step("fixer", "patch"):
        try:
            decision = session.require("F1")
        except FactBlocked as blocked:
            print(f"blocked: {blocked}")
            return
        print(f"{decision}: the query is patched")
        session.tool_call("edit", {"file": "db.py", "line": 45}, "parameters used", 12.0)


with ModelServer() as server:
    server.script(
        [
            '{"text": "Line 45 may build SQL from user input", "confidence": 0.35}',
            '{"text": "CONFIRMED: user input reaches the query", "confidence": 0.92, "severity": "critical"}',
        ]
    )
    client = OpenAI(base_url=server.openai_url, api_key="test")

    with LCTLSession("confirmed") as session:
        session.use_contracts(CONTRACTS, policy="raise")

        with session.step("analyzer", "scan", agent_profile=profile("analyzer")):
            found = ask(client, "What is wrong with db.py?")
            session.add_fact("F1", **found, source="static-analysis")

        fix(session)

        with session.step("reviewer", "confirm", agent_profile=profile("reviewer", reliability_score=0.92)):
            [fact] = session.facts.query("SELECT * WHERE gate = 'block'")
            verdict = ask(client, f"Is this so? {fact['text']}")
            session.modify_fact("F1", **verdict, reason="verified_by_review")

        fix(session)

    session.export("confirmed.lctl.json")
