"""The three agents: code-analyzer (two at once), security-reviewer, fix-implementer. Ordinary agent code.

Nothing here knows how it is recorded: it uses the real SDKs, and lctl's public API to say which agent
is at work and what it found out.
"""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import anthropic
import openai

from lctl import LCTLSession
from lctl.demo.model import ANALYST, FIXER, REVIEWER
from lctl.demo.turns import Turns
from lctl.demo.workspace import APPLY_FIX, GREP, Workspace

Finding = dict[str, Any]

_FINDINGS: Any = {
    "type": "json_schema",
    "json_schema": {
        "name": "findings",
        "schema": {
            "type": "object",
            "properties": {
                "findings": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"text": {"type": "string"}, "confidence": {"type": "number"}},
                        "required": ["text", "confidence"],
                    },
                }
            },
            "required": ["findings"],
        },
    },
}


def arguments_of(call_id: str, arguments: str) -> dict[str, Any]:
    """What a tool is called with; `@lctl.tool` takes the call's id out and records it."""
    return {**json.loads(arguments), "call_id": call_id}


async def analyze_all(client: openai.AsyncOpenAI, session: LCTLSession, turns: Turns) -> dict[str, Finding]:
    """Both analyses at once; facts by id."""

    async def analysis(area: str, first_fact: int, *, is_second: bool = False) -> dict[str, Finding]:
        if is_second:
            await turns.begun()
        try:
            return await analyze(client, session, area, first_fact)
        finally:
            turns.done(area)

    code, settings = await asyncio.gather(analysis("code", 1), analysis("settings", 3, is_second=True))
    return code | settings


async def analyze(
    client: openai.AsyncOpenAI, session: LCTLSession, area: str, first_fact: int
) -> dict[str, Finding]:
    """A tool loop: the model greps until it has its findings; each becomes a fact."""
    workspace = Workspace()
    messages: list[Any] = [
        {"role": "user", "content": f"You are a security analyst. Please review the {area}."}
    ]
    facts: dict[str, Finding] = {}
    with session.step("code-analyzer", f"analyze {area}"):
        while True:
            answer = await client.chat.completions.create(
                model=ANALYST, messages=messages, tools=[GREP], response_format=_FINDINGS
            )
            message = answer.choices[0].message
            messages.append(message.model_dump(exclude_none=True))
            calls: Any = message.tool_calls
            if not calls:
                break
            for call in calls:
                found = workspace.grep(**arguments_of(call.id, call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": json.dumps(found)})
        for number, finding in enumerate(json.loads(message.content or "{}")["findings"], first_fact):
            facts[f"F{number}"] = finding
            session.add_fact(
                f"F{number}", finding["text"], confidence=finding["confidence"], source="static-analysis"
            )
        session.handoff("security-reviewer", facts=list(facts))
    return facts


def review(
    client: anthropic.Anthropic, session: LCTLSession, facts: dict[str, Finding]
) -> dict[str, Finding]:
    """A second opinion, streamed; what both agents hold true is confirmed by consensus."""
    listed = "\n".join(f"{id}: {f['text']} (confidence {f['confidence']})" for id, f in facts.items())
    with session.step("security-reviewer", "assess exploitability"):
        with client.messages.stream(
            model=REVIEWER,
            max_tokens=1000,
            system="You are a security reviewer. Judge each finding.",
            messages=[{"role": "user", "content": listed}],
        ) as stream:
            text = "".join(stream.text_stream)
        for id, verdict, confidence, said in re.findall(r"^(F\d+) (\w+) ([\d.]+) (.*)$", text, re.MULTILINE):
            confirmed = verdict == "CONFIRMED"
            facts[id] |= {"confidence": float(confidence), "confirmed": confirmed}
            session.modify_fact(
                id,
                f"{verdict}: {said}",
                confidence=float(confidence),
                reason="verified_by_consensus" if confirmed else "disputed",
                consensus={
                    "assessors": ["code-analyzer", "security-reviewer"],
                    "agreement": 1.0 if confirmed else 0.5,
                },
            )
        session.handoff("fix-implementer", facts=[worst(facts)])
    return facts


def worst(facts: dict[str, Finding]) -> str:
    """The id of the finding to repair: analysts name theirs in this order."""
    return min(facts)


def fix(client: openai.OpenAI, session: LCTLSession, facts: dict[str, Finding]) -> str:
    """Repairs the worst finding with a tool, and tells what came of it."""
    workspace, fact = Workspace(), worst(facts)
    with session.step("fix-implementer", f"repair {fact}"):
        rows = None
        asked: list[Any] = [{"role": "user", "content": f"Fix this: {facts[fact]['text']}"}]
        while True:
            answer = client.responses.create(model=FIXER, input=asked, tools=[APPLY_FIX])
            calls = [item for item in answer.output if item.type == "function_call"]
            if not calls:
                break
            for call in calls:
                done = workspace.apply_fix(**arguments_of(call.call_id, call.arguments))
                asked.append(call.model_dump(exclude_none=True))
                output, rows = json.dumps(done), done.get("exploit_rows", [None])[-1]
                asked.append({"type": "function_call_output", "call_id": call.call_id, "output": output})
        if rows is not None:
            session.modify_fact(
                fact, f"FIXED: {answer.output_text}", confidence=0.99, reason=f"exploit returns {rows} rows"
            )
    return answer.output_text
