"""An event as a person changed it, as edits of a fork."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import orjson

from lctl.analysis.describe import describe
from lctl.codec import Log
from lctl.errors import LctlError, UsageError
from lctl.events import Event
from lctl.patch import Edit, Scope, Unaddressed
from lctl.patch.changing import same
from lctl.patch.edits import Path as EditPath
from lctl.rerun.edits import answering
from lctl.state.model import MODEL_KINDS
from lctl.values import mapping, text

_READ_ONLY = "a program writes such events itself; lctl what-if changes one without running"


def edit_event(event: Event) -> dict[str, Any]:
    """The event's data after a visit to $VISUAL or $EDITOR.

    Raises:
        UsageError: the editor failed, or what it saved is no JSON object.
    """
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ("notepad" if os.name == "nt" else "vi")
    with tempfile.TemporaryDirectory(prefix="lctl-edit-") as folder:
        path = Path(folder) / f"event-{event.seq}.json"
        path.write_bytes(orjson.dumps(event.data, option=orjson.OPT_INDENT_2) + b"\n")
        try:
            done = subprocess.run([*shlex.split(editor), str(path)], check=False)
        except OSError as error:
            raise UsageError(f"{editor}: {(error.strerror or str(error)).lower()}; set EDITOR") from None
        if done.returncode:
            raise UsageError(f"{editor} ended with exit code {done.returncode}; nothing was run")
        try:
            value = orjson.loads(path.read_bytes())
        except ValueError as error:
            raise UsageError(f"what was saved is not JSON ({error}); nothing was run") from None
    if not isinstance(value, dict):
        raise UsageError("what was saved is not a JSON object; nothing was run")
    return value


def edits_between(log: Log, event: Event, data: dict[str, Any]) -> list[Edit]:
    """The edits that make a fork say `data` where the recording said the event's.

    Raises:
        UsageError: nothing was changed, or something that a fork cannot change.
    """
    keys = [
        key
        for key in dict.fromkeys([*event.data, *data])
        if (key in event.data) != (key in data) or not same(event.data.get(key), data.get(key))
    ]
    if not keys:
        raise UsageError(f"event {event.seq} was saved as it was; nothing was run")
    made = _EDITS.get(_kind(event), _nothing)(log, event, data, keys)
    if not made:
        what = f"event {event.seq} ({describe(event)}): {', '.join(keys)}"
        raise UsageError(f"{what} cannot be changed in a fork: {_READ_ONLY}")
    return made


def _kind(event: Event) -> str:
    if event.type == "message":
        return "answer" if event.data.get("sampled") is True else "prompt"
    if event.type == "step_start" and text(event.data.get("kind")) in MODEL_KINDS:
        return "call"
    return event.type


def _nothing(log: Log, event: Event, data: dict[str, Any], keys: list[str]) -> list[Edit]:
    return []


def _tool(log: Log, event: Event, data: dict[str, Any], keys: list[str]) -> list[Edit]:
    name, once = str(event.data.get("tool")), Scope(at=event.seq)
    made = []
    if "input" in keys:
        made.append(Edit("tool", (name, "input"), "=", data.get("input"), once))
    if data.get("error") is not None and "error" in keys:
        error = data["error"]
        text = (
            f"{error.get('type')}: {error.get('message')}"
            if isinstance(error, dict)
            else f"RuntimeError: {error}"
        )
        made.append(Edit("tool", (name, "output"), "!=", text, once))
    elif "output" in keys:
        made.append(Edit("tool", (name, "output"), "=", data.get("output"), once))
    return made


def _answer(log: Log, event: Event, data: dict[str, Any], keys: list[str]) -> list[Edit]:
    start = log.event(event.step).data if event.step is not None else {}
    operation, once = str(start.get("operation")), Scope(at=event.seq)
    before, after = (_said(operation, one) for one in (dict(event.data), data))
    return [
        Edit("answer", (key,), "=", after[key], once)
        for key in ("content", "tool_calls")
        if not same(before.get(key), after.get(key))
    ]


def _said(operation: str, message: dict[str, Any]) -> dict[str, Any]:
    """The answer in a recorded message, in whichever dialect."""
    content = message.get("content")
    whole: dict[str, Any] = {
        "choices": [{"message": message}],
        "content": content,
        "output": content,
        "candidates": [{"content": message}],
        "message": message,
    }
    if operation == "messages" and isinstance(content, str):
        whole["content"] = [{"type": "text", "text": content}]
    if operation == "responses" and isinstance(content, str):
        part = {"type": "output_text", "text": content}
        whole["output"] = [{"type": "message", "content": [part]}]
    try:
        return answering.dialect(operation).read(whole)
    except (Unaddressed, LctlError):
        return {}


def _prompt(log: Log, event: Event, data: dict[str, Any], keys: list[str]) -> list[Edit]:
    if event.data.get("role") in ("system", "developer"):
        return (
            [Edit("prompt", ("system",), "=", data.get(keys[0]))] if keys in (["content"], ["parts"]) else []
        )
    index = _index(log, event)
    return [Edit("message", (index, key), "=", data[key]) for key in keys if key in data]


#: Operations whose system prompt is one of the messages.
_SYSTEM_WITHIN = ("chat.completions", "cohere.chat", "ollama.chat")


def _index(log: Log, event: Event) -> int:
    """Where the message stands among those a request sends."""
    from lctl.chain import Chain

    chain = Chain.of(log)
    path = chain.path(str(event.data.get("message_id") or f"#{event.seq}"), strict=False)
    call = next(
        (e for e in log.events(event.seq) if _kind(e) == "call"),
        None,
    )
    apart = call is not None and text(call.data.get("operation")) not in _SYSTEM_WITHIN
    return sum(1 for message in path if not (apart and message.role == "system")) - 1


def _call(log: Log, event: Event, data: dict[str, Any], keys: list[str]) -> list[Edit]:
    made = []
    for key in keys:
        if key == "model" and data.get("model"):
            made.append(Edit("model", (), "=", str(data["model"])))
        elif key == "params":
            made += _params(mapping(event.data.get("params")), mapping(data.get("params")))
        else:
            return []
    return made


def _params(before: dict[str, Any], after: dict[str, Any]) -> list[Edit]:
    changed = [name for name in after if name not in before or not same(before[name], after[name])]
    gone = [name for name in before if name not in after]
    paths: list[tuple[EditPath, Any]] = [((name,), after[name]) for name in changed]
    return [Edit("params", path, "=", value) for path, value in paths] + [
        Edit("params", (name,), "del") for name in gone
    ]


_EDITS = {"tool_call": _tool, "answer": _answer, "prompt": _prompt, "call": _call}
