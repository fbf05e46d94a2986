"""Trajectories of mini-SWE-agent: `messages` and `info`, or the list of messages alone."""

from __future__ import annotations

from typing import Any

from lctl.errors import NotImportable
from lctl.importing.draft import Call, Draft
from lctl.importing.source import Source
from lctl.importing.values import dicts, mapping, text, tokens, without

_MARK = "mswea_bash_command"


def sees(source: Source) -> str:
    whole = source.document
    if isinstance(whole, dict):
        if text(whole.get("trajectory_format")).startswith("mini-swe-agent"):
            return f"trajectory_format {whole['trajectory_format']}"
        return "messages, and info with mini_version" if "mini_version" in mapping(whole.get("info")) else ""
    messages = dicts(whole)
    said = [text(one.get("content")) for one in messages if one.get("role") == "assistant"]
    return f"a list of messages with {_MARK} blocks" if any(f"```{_MARK}" in one for one in said) else ""


def read(source: Source, draft: Draft) -> None:
    whole = source.document
    messages = dicts(whole) if isinstance(whole, list) else dicts(mapping(whole).get("messages"))
    if not messages:
        raise NotImportable(f"{source.name}: no messages, as mini-SWE-agent writes them")
    draft.agent = "mini-swe-agent"
    info = mapping(mapping(whole).get("info"))
    draft.about["info"] = info
    model = text(mapping(mapping(info.get("config")).get("model")).get("model_name"))
    parent: str | None = None
    for n, own in enumerate(messages, 1):
        extra = mapping(own.get("extra"))
        role = text(own.get("role"))
        call = _call(mapping(extra.get("response")), model) if role == "assistant" else None
        details = {"extra": without(extra, "response")} if without(extra, "response") else {}
        message = {key: value for key, value in own.items() if key not in ("extra", "timestamp")}
        id = f"m{n}"
        draft.add(
            id, message, parent, at=own.get("timestamp") or extra.get("timestamp"), call=call,
            details=details, where=f"message {n}",
        )  # fmt: skip
        parent = id
    undated = sum(not said.at for said in draft.said)
    if undated:
        draft.lose("time of a message: the trajectory has none", count=undated)


def _call(response: dict[str, Any], model: str) -> Call:
    usage = mapping(response.get("usage"))
    choice = next(iter(dicts(response.get("choices"))), {})
    return Call(
        model=text(response.get("model")) or model or None,
        tokens=tokens(
            input=usage.get("prompt_tokens"),
            output=usage.get("completion_tokens"),
            cache_read=mapping(usage.get("prompt_tokens_details")).get("cached_tokens"),
            reasoning=mapping(usage.get("completion_tokens_details")).get("reasoning_tokens"),
        ),
        finish_reason=text(choice.get("finish_reason")) or None,
        response_id=text(response.get("id")) or None,
    )
