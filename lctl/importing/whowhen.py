"""Failure logs of Who&When: several agents in one `history`, and who made the decisive mistake, and when."""

from __future__ import annotations

from typing import Any

from lctl.errors import NotImportable
from lctl.importing.draft import Call, Draft
from lctl.importing.source import Source
from lctl.importing.values import dicts, mapping, role_of, said_number, text, without

#: Roles that name no agent.
_PLAIN = frozenset({"user", "assistant", "system", "human"})


def sees(source: Source) -> str:
    whole = mapping(source.document)
    return "history and mistake_step" if dicts(whole.get("history")) and "mistake_step" in whole else ""


def read(source: Source, draft: Draft) -> None:
    whole = mapping(source.document)
    history = dicts(whole.get("history"))
    if not history:
        raise NotImportable(f"{source.name}: no history of messages, as Who&When has it")
    draft.about["task"] = without(whole, "history", "system_prompt")
    prompts = mapping(whole.get("system_prompt"))
    parent: str | None = None
    for n, own in enumerate(history):
        parent = _message(draft, n, own, parent, prompts)
    draft.lose("time, model and tokens of each message: the log has none", count=len(history))
    step = text(whole.get("mistake_step"))
    number = said_number(step)
    if number is not None and number < len(history):
        agent, reason = text(whole.get("mistake_agent")), text(whole.get("mistake_reason"))
        draft.fact("mistake", f"the mistake of {agent}: {reason}", f"m{step}", source="who-and-when")
    else:
        draft.lose("mistake_step that is no message of the history")


def _message(draft: Draft, n: int, own: dict[str, Any], parent: str | None, prompts: dict[str, Any]) -> str:
    """One message. In some logs the role is the agent's name, with what it does in brackets."""
    word = text(own.get("role"))
    role = role_of(word)
    speaker = text(own.get("name")) or ("" if word in _PLAIN else word.partition(" (")[0])
    message: dict[str, Any] = {"role": role or "assistant", "content": own.get("content")}
    if speaker:
        message["name"] = speaker
    details = without(own, "content", "name")
    if speaker in prompts and not any(said.agent == speaker for said in draft.said):
        details["system_prompt"] = prompts[speaker]
    id = f"m{n}"
    call = Call() if message["role"] == "assistant" else None
    draft.add(id, message, parent, agent=speaker, call=call, details=details, where=f"message {n}")
    return id
