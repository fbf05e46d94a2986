"""Trajectories of SWE-agent: `history` has the messages, `trajectory` what each step did and saw."""

from __future__ import annotations

from typing import Any

from lctl.errors import NotImportable
from lctl.importing.draft import Call, Draft
from lctl.importing.source import Source
from lctl.importing.values import dicts, items, mapping, text, without


def sees(source: Source) -> str:
    whole = mapping(source.document)
    return "history and trajectory" if dicts(whole.get("history")) and "trajectory" in whole else ""


def read(source: Source, draft: Draft) -> None:
    whole = mapping(source.document)
    history = dicts(whole.get("history"))
    if not history:
        raise NotImportable(f"{source.name}: no history of messages, as SWE-agent writes it")
    draft.agent = "swe-agent"
    draft.about["info"] = mapping(whole.get("info"))
    draft.about["environment"] = whole.get("environment")
    model = _model(whole)
    parent: str | None = None
    steps = iter(dicts(whole.get("trajectory")))
    for n, own in enumerate(history, 1):
        parent = _message(draft, n, own, parent, model, steps)
    draft.lose("time of each message: the trajectory has none", count=len(history))
    if draft.about["info"].get("model_stats"):
        draft.lose("tokens of each call: the trajectory has only their sum")
    if "replay_config" in whole:
        draft.lose("replay_config: not about the conversation")


def _message(draft: Draft, n: int, own: dict[str, Any], parent: str | None, model: str, steps: Any) -> str:
    role = text(own.get("role"))
    message: dict[str, Any] = {"role": role, "content": own.get("content")}
    for key in ("tool_calls", "name", "thinking_blocks"):
        if own.get(key):
            message[key] = own[key]
    answered = [text(id) for id in items(own.get("tool_call_ids"))]
    if role == "tool" and answered:
        message["tool_call_id"] = answered[0]
        if len(answered) > 1:
            draft.lose("result of several tool calls at once; given to the first", f"message {n}")
    details = without(own, "role", "content", "agent", "tool_calls", "name", "thinking_blocks")
    call = None
    if role == "assistant" and not own.get("is_demo"):
        call = Call(model=model or None)
        if "action" in own:
            step: dict[str, Any] = next(steps, {})
            details["step"] = without(
                step, "query", "messages", "response", "thought", "action", "observation"
            )
    id = f"m{n}"
    draft.add(
        id, message, parent, agent=text(own.get("agent")), call=call, details=details, where=f"message {n}"
    )
    return id


def _model(whole: dict[str, Any]) -> str:
    config = mapping(mapping(whole.get("replay_config")).get("agent"))
    return text(mapping(config.get("model")).get("name"))
