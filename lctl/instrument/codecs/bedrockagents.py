"""Bedrock's agents: a turn of a session that AWS keeps, answered in AWS's frames.

What the agent hands back for the program to run is a call of a tool; its result comes with the next turn.
Tokens and the model behind the agent are known where the program asks for traces.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from lctl.instrument.codecs import aws
from lctl.instrument.codecs.bodies import objects
from lctl.instrument.codecs.documents import DocumentCodec
from lctl.instrument.codecs.hosts import provider_of
from lctl.instrument.codecs.model import ModelAnswer, ModelRequest
from lctl.instrument.codecs.paths import path_of, segment_after

INVOKE = "agents.invoke"
_NOT_PARAMS = frozenset({"inputText", "instruction", "foundationModel", "actionGroups"})


class BedrockAgents(DocumentCodec):
    """Codec of InvokeAgent and InvokeInlineAgent."""

    provider = "aws"

    def operation(self, method: str, url: str, headers: Mapping[str, str]) -> str | None:
        path = path_of(url)
        if path.endswith("/text") and "/agentAliases/" in path and "/sessions/" in path:
            return INVOKE
        inline = path.rpartition("/agents/")[0]
        return INVOKE if inline.count("/") == 2 and "bedrock-agent-runtime" in inline else None

    def read_document(self, operation: str, url: str, document: dict[str, Any]) -> ModelRequest:
        state = document.get("sessionState") or document.get("inlineSessionState")
        state = state if isinstance(state, dict) else {}
        said, results = document.get("inputText"), objects(state.get("returnControlInvocationResults"))
        if not isinstance(said, str) and not results:
            raise ValueError("a turn of an agent has an 'inputText', or results of what it asked for")
        is_inline = "/agentAliases/" not in url
        named = document.get("foundationModel") if is_inline else segment_after(url, "agents")
        request = ModelRequest(
            provider=provider_of(url, self.provider),
            operation=operation,
            kind="llm",
            model=named if isinstance(named, str) else None,
            tools=document.get("actionGroups") or None,
            params={key: value for key, value in document.items() if key not in _NOT_PARAMS},
            stream=True,
            continues=segment_after(url, "agents" if is_inline else "sessions"),
        )
        request.messages = list(_results(str(state.get("invocationId")), results))
        if isinstance(said, str) and said:
            request.messages.append({"role": "user", "content": said})
        instruction = document.get("instruction")
        if isinstance(instruction, str):
            request.instructions = True
            request.messages.insert(0, {"role": "system", "content": instruction})
        return request

    def read_refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
        return aws.read_error(status, headers, body)

    def read_body(self, operation: str, status: int, headers: Mapping[str, str], body: bytes) -> ModelAnswer:
        if not aws.is_event_stream(headers):
            return ModelAnswer(complete=False)
        return _read_frames(aws.open_frames(body))


def _results(invocation: str, results: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    seen: Counter[str] = Counter()
    for one in results:
        told = one.get("functionResult") or one.get("apiResult")
        if isinstance(told, dict):
            bodies = told.get("responseBody")
            texts = [part.get("body") for part in objects(list(bodies.values()))] if bodies else []
            yield {
                "role": "tool",
                "tool_call_id": _id(invocation, _name(told), seen),
                "content": texts[0] if len(texts) == 1 else texts,
            }


def _name(told: dict[str, Any]) -> str:
    """A function's, or the method and path of an API."""
    function = told.get("function")
    return str(function or f"{told.get('httpMethod') or ''} {told.get('apiPath') or ''}".strip())


def _id(invocation: str, name: str, seen: Counter[str]) -> str:
    """One invocation asks for several functions, and may ask for one several times."""
    seen[name] += 1
    return f"{invocation}/{name}" if seen[name] == 1 else f"{invocation}/{name}/{seen[name]}"


# -- answers -------------------------------------------------------------------------------


def _read_frames(frames: list[tuple[str, dict[str, Any]]]) -> ModelAnswer:
    said, calls = bytearray(), list[dict[str, Any]]()
    answer = ModelAnswer(events=len(frames), complete=False)
    tokens: Counter[str] = Counter()
    for kind, payload in frames:
        if kind == "chunk":
            said += aws.from_base64(str(payload.get("bytes") or ""))
            answer.complete = True
        elif kind == "returnControl":
            calls += _calls(payload)
            answer.complete = True
        elif kind == "trace":
            _trace(payload.get("trace"), answer, tokens)
        elif kind.endswith("Exception"):
            answer.error = {"status": 200, "type": kind, "code": None, "message": payload.get("message")}
    answer.complete = answer.complete and answer.error is None
    if tokens:
        answer.tokens = {**tokens, "total": tokens["input"] + tokens["output"]}
    if said or calls:
        text = said.decode("utf-8", "replace") if said else None
        message: dict[str, Any] = {"role": "assistant", "content": text}
        answer.finish_reason = "tool_calls" if calls else "stop"
        answer.messages = [{**message, "tool_calls": calls} if calls else message]
        answer.finish_reasons = [answer.finish_reason]
    return answer


def _calls(control: dict[str, Any]) -> list[dict[str, Any]]:
    seen: Counter[str] = Counter()
    calls = []
    for one in objects(control.get("invocationInputs")):
        told = one.get("functionInvocationInput") or one.get("apiInvocationInput")
        if isinstance(told, dict):
            given = {str(part.get("name")): part.get("value") for part in objects(told.get("parameters"))}
            name = _name(told)
            function = {"name": name, "arguments": json.dumps(given, ensure_ascii=False)}
            id = _id(str(control.get("invocationId")), name, seen)
            calls.append({"id": id, "type": "function", "function": function})
    return calls


def _trace(trace: Any, answer: ModelAnswer, tokens: Counter[str]) -> None:
    """What one call of the model behind the agent took."""
    for part in trace.values() if isinstance(trace, dict) else ():
        asked = part.get("modelInvocationInput") if isinstance(part, dict) else None
        if isinstance(asked, dict) and isinstance(asked.get("foundationModel"), str):
            answer.model = asked["foundationModel"]
        told = part.get("modelInvocationOutput") if isinstance(part, dict) else None
        about = told.get("metadata") if isinstance(told, dict) else None
        usage = about.get("usage") if isinstance(about, dict) else None
        if isinstance(usage, dict):
            answer.usage = usage
            for name, key in (("input", "inputTokens"), ("output", "outputTokens")):
                if type(usage.get(key)) is int:
                    tokens[name] += usage[key]
