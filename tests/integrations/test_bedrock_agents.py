"""Agents of Bedrock: each turn of a session is a step, over boto3 and over plain HTTP."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from lctl.testing.wire.bedrock import CONTENT_TYPE, frame
from tests.integrations.rerunning import Rerun

AT = "/agents/AGENT1/agentAliases/ALIAS1/sessions/s-1/text"
ASKED = {"name": "city", "type": "string", "value": "Rome"}
CONTROL = {
    "invocationId": "inv-1",
    "invocationInputs": [
        {"functionInvocationInput": {"actionGroup": "a", "function": "weather", "parameters": [ASKED]}}
    ],
}
RESULT = {
    "functionResult": {
        "actionGroup": "a",
        "function": "weather",
        "responseBody": {"TEXT": {"body": "sunny"}},
    }
}
GIVEN = {"invocationId": "inv-1", "returnControlInvocationResults": [RESULT]}

Ask = Callable[..., str]


def chunk(text: str) -> bytes:
    return frame("chunk", {"bytes": base64.b64encode(text.encode()).decode()})


def trace(read: int, written: int) -> bytes:
    asked = {"modelInvocationInput": {"foundationModel": "anthropic.claude-x", "text": "..."}}
    usage = {"inputTokens": read, "outputTokens": written}
    told = {"modelInvocationOutput": {"metadata": {"usage": usage}}}
    return b"".join(frame("trace", {"trace": {"orchestrationTrace": one}}) for one in (asked, told))


def reply(make: Any, *frames: bytes) -> Any:
    return make.Reply(chunks=list(frames), headers={"content-type": CONTENT_TYPE})


def over_http(url: str, **turn: Any) -> str:
    sent = httpx.post(url + AT, json=turn)
    return "" if sent.status_code == 200 else sent.json()["message"]


def over_boto3(url: str, **turn: Any) -> str:
    boto3 = pytest.importorskip("boto3")
    given = {"aws_access_key_id": "test", "aws_secret_access_key": "test", "region_name": "us-east-1"}
    client = boto3.client("bedrock-agent-runtime", endpoint_url=url, **given)
    named = {"agentId": "AGENT1", "agentAliasId": "ALIAS1", "sessionId": "s-1"}
    said = ""
    for event in client.invoke_agent(**named, **turn)["completion"]:
        said += event.get("chunk", {}).get("bytes", b"").decode()
    return said


@pytest.mark.parametrize("ask", [over_http, over_boto3])
def test_a_session(server: Any, make: Any, log: Any, ask: Ask) -> None:
    """What the agent hands back is a tool call; the next turn brings its result."""
    control = frame("returnControl", CONTROL)
    server.replies = [
        reply(make, trace(10, 3), control),
        reply(make, trace(20, 4), trace(5, 1), chunk("It is "), chunk("sunny.")),
        reply(make, chunk("Bye.")),
    ]
    ask(server.url, inputText="Rome?", enableTrace=True)
    ask(server.url, sessionState=GIVEN)
    ask(server.url, inputText="Thanks.")
    [(first, asks), (_, done), _] = log.steps()
    assert (first["operation"], first["provider"], first["model"]) == ("agents.invoke", "aws", "AGENT1")
    assert (asks["finish_reason"], asks["tokens"]) == ("tool_calls", {"input": 10, "output": 3, "total": 13})
    assert (done["model"], done["tokens"]["input"]) == ("anthropic.claude-x", 25)
    told = log.of("message")
    assert [one["content"] for one in told] == ["Rome?", None, "sunny", "It is sunny.", "Thanks.", "Bye."]
    assert [one["parent_id"] for one in told[1:]] == [one["message_id"] for one in told[:-1]]
    [tool] = log.of("tool_call")
    assert (tool["tool"], tool["input"], tool["output"]) == ("weather", {"city": "Rome"}, "sunny")


@pytest.mark.parametrize("ask", [over_http, over_boto3])
def test_rerun(server: Any, make: Any, tmp_path: Path, ask: Ask) -> None:
    server.replies = [reply(make, chunk("Hello.")), reply(make, chunk("Bye."))]

    def program(url: str) -> Any:
        return [ask(url, inputText="Hi"), ask(url, inputText="Bye")]

    Rerun(tmp_path)(program, server.url)


def test_what_failed(server: Any, make: Any, log: Any) -> None:
    """Before the answer, and within it."""
    refused = make.Reply({"message": "Too many."}, 429, headers={"x-amzn-errortype": "ThrottlingException"})
    broken = frame("dependencyFailedException", {"message": "It broke."})
    server.replies = [refused, reply(make, broken)]
    over_http(server.url, inputText="Hi")
    over_http(server.url, inputText="Hi")
    assert [end["outcome"] for _, end in log.steps()] == ["error", "error"]
    assert [error["message"] for error in log.of("error")] == ["Too many.", "It broke."]


def test_secrets_in_what_is_said(server: Any, make: Any, log: Any) -> None:
    """An agent's texts are in base64; one that comes in pieces may hold a secret."""
    key = "sk-proj-" + "MaNyChUnKs0123456789abcdefGH"
    server.replies = [reply(make, chunk(f"Your key: {key[:20]}"), chunk(f"{key[20:]}, keep it."))]
    over_http(server.url, inputText="Hi")
    said = log.of("message")[-1]["content"]
    assert said.startswith("Your key: [redacted:")
    assert said.endswith(", keep it.")
    whole = log.path.read_text()
    for piece in (key, key[20:]):
        assert piece not in whole
    held = b"".join(base64.b64decode(one) for one in _base64_in(log.of("exchange")))
    assert key[20:].encode() not in held


def _base64_in(exchanges: list[dict[str, Any]]) -> list[str]:
    """The texts of the frames that exchanges hold."""
    found = []
    for exchange in exchanges:
        for raw in re.findall(r'"base64": ?"([A-Za-z0-9+/=]+)"', json.dumps(exchange)):
            found += re.findall(r'"bytes": ?"([A-Za-z0-9+/=]+)"', base64.b64decode(raw).decode("latin-1"))
    assert found
    return found
