"""Programs that ask a model of each provider about a file, for edits of what they send and get."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx

from lctl.instrument.codecs import aws

SYSTEM, ASKED = "You read files.", "Read a.txt"
PARAMETERS = {"type": "object", "properties": {"path": {"type": "string"}}}


FUNCTION = {"name": "read_file", "description": "Reads.", "parameters": PARAMETERS}


ROLES = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": ASKED}]


Body = dict[str, Any]


#: What an answer says: its text, and the tools it asks for with their arguments.
Said = tuple[str, list[tuple[str, Any]]]


def google(url: str, stream: bool = False) -> Said:
    body = {
        "systemInstruction": {"parts": [{"text": SYSTEM}]},
        "contents": [{"role": "user", "parts": [{"text": ASKED}]}],
        "tools": [{"functionDeclarations": [FUNCTION]}],
        "generationConfig": {"temperature": 0.7, "maxOutputTokens": 100},
    }
    ending = "streamGenerateContent?alt=sse" if stream else "generateContent"
    sent = httpx.post(f"{url}/v1beta/models/gemini-2.5-flash:{ending}", json=body)
    pieces = _events(sent) if stream else [sent.raise_for_status().json()]
    parts = [part for piece in pieces for part in piece["candidates"][0]["content"]["parts"]]
    calls = [part["functionCall"] for part in parts if "functionCall" in part]
    return "".join(part.get("text", "") for part in parts), [(call["name"], call["args"]) for call in calls]


def cohere(url: str, stream: bool = False) -> Said:
    body = {
        "model": "command-a",
        "messages": ROLES,
        "tools": [{"type": "function", "function": FUNCTION}],
        "temperature": 0.7,
        "max_tokens": 100,
        "stream": stream,
    }
    sent = httpx.post(f"{url}/v2/chat", json=body)
    if not stream:
        message = sent.raise_for_status().json()["message"]
        calls = [call["function"] for call in message.get("tool_calls") or ()]
        texts = [part["text"] for part in message.get("content") or ()]
        return "".join(texts), [(call["name"], json.loads(call["arguments"])) for call in calls]
    text, name, arguments = "", "", ""
    for event in _events(sent):
        said = (event.get("delta") or {}).get("message") or {}
        if event["type"] == "content-delta":
            text += said["content"]["text"]
        elif event["type"].startswith("tool-call-") and said:
            name += said["tool_calls"]["function"].get("name", "")
            arguments += said["tool_calls"]["function"]["arguments"]
    return text, [(name, json.loads(arguments))] if name else []


def ollama(url: str, stream: bool = False) -> Said:
    body = {
        "model": "llama3",
        "messages": ROLES,
        "tools": [{"type": "function", "function": FUNCTION}],
        "options": {"temperature": 0.7, "num_predict": 100},
        "stream": stream,
    }
    lines = httpx.post(f"{url}/api/chat", json=body).raise_for_status().text.splitlines()
    messages = [json.loads(line)["message"] for line in lines]
    assert len(lines) > 1 or not stream
    calls = [call["function"] for one in messages for call in one.get("tool_calls") or ()]
    return "".join(one["content"] for one in messages), [(one["name"], one["arguments"]) for one in calls]


def interactions(url: str, stream: bool = False) -> Said:
    body = {
        "model": "gemini-3-pro",
        "system_instruction": SYSTEM,
        "input": [{"type": "user_input", "content": [{"type": "text", "text": ASKED}]}],
        "tools": [{"type": "function", **FUNCTION}],
        "generation_config": {"temperature": 0.7, "max_output_tokens": 100},
        "stream": stream,
    }
    sent = httpx.post(f"{url}/v1beta/interactions", json=body)
    if not stream:
        steps = sent.raise_for_status().json()["steps"]
        texts = [part["text"] for step in steps for part in step.get("content", ())]
        calls = [(step["name"], step["arguments"]) for step in steps if step["type"] == "function_call"]
        return "".join(texts), calls
    events = [event for event in _events(sent) if event.get("event_type", "").startswith("step.")]
    deltas = [event["delta"] for event in events if "delta" in event]
    names = [event["step"].get("name") for event in events if "step" in event and "name" in event["step"]]
    arguments = "".join(delta.get("arguments", "") for delta in deltas)
    text = "".join(delta.get("text", "") for delta in deltas)
    return text, [(name, json.loads(arguments)) for name in names]


def converse(url: str, stream: bool = False) -> Said:
    """Not signed, as with a key of Bedrock's own."""
    parameters = {"inputSchema": {"json": PARAMETERS}}
    body = {
        "system": [{"text": SYSTEM}],
        "messages": [{"role": "user", "content": [{"text": ASKED}]}],
        "toolConfig": {"tools": [{"toolSpec": {"name": "read_file", "description": "Reads.", **parameters}}]},
        "inferenceConfig": {"temperature": 0.7, "maxTokens": 100},
    }
    ending = "converse-stream" if stream else "converse"
    sent = httpx.post(f"{url}/model/us.amazon.nova-lite-v1%3A0/{ending}", json=body).raise_for_status()
    if not stream:
        blocks = sent.json()["output"]["message"]["content"]
        calls = [block["toolUse"] for block in blocks if "toolUse" in block]
        return "".join(block.get("text", "") for block in blocks), [
            (one["name"], one["input"]) for one in calls
        ]
    frames = aws.read_frames(sent.content)
    deltas = [event["delta"] for kind, event in frames if kind == "contentBlockDelta"]
    names = [event["start"]["toolUse"]["name"] for kind, event in frames if kind == "contentBlockStart"]
    given = "".join(delta["toolUse"]["input"] for delta in deltas if "toolUse" in delta)
    assert frames[-1][0] == "metadata"
    return "".join(delta.get("text", "") for delta in deltas), [(name, json.loads(given)) for name in names]


def _events(response: httpx.Response) -> list[Any]:
    lines = response.raise_for_status().text.splitlines()
    return [json.loads(line[5:]) for line in lines if line.startswith("data:") and "[DONE]" not in line]


PROGRAMS: dict[str, Callable[..., Said]] = {
    "google": google,
    "cohere": cohere,
    "ollama": ollama,
    "interactions": interactions,
    "converse": converse,
}
