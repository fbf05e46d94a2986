"""What frameworks ask of Google, Ollama and Mistral beside the prompt itself, and how LiteLLM writes it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.request import Request, urlopen

from lctl.testing import ModelServer, Reply


def ask(url: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(url, data, {"content-type": "application/json", **(headers or {})})) as answer:
        return json.loads(answer.read())


def test_what_models_google_and_ollama_have(server: ModelServer) -> None:
    """Limits and abilities of each, by which frameworks size their prompts."""
    google = ask(f"{server.url}/v1beta/models/gemini-2.5-flash")
    assert (google["name"], google["inputTokenLimit"]) == ("models/gemini-2.5-flash", 1_048_576)
    named = [model["name"] for model in ask(f"{server.url}/v1beta/models")["models"]]
    assert "models/gemini-2.5-pro" in named
    shown = ask(f"{server.url}/api/show", {"model": "llama3.1"})
    assert shown["model_info"]["llama.context_length"] == 131_072 and "tools" in shown["capabilities"]
    assert ask(f"{server.url}/api/tags")["models"][0]["name"] == "llama3.1:latest"
    assert [request.operation for request in server.requests] == ["models"] * 4


def test_a_prompt_of_googles_with_underscores(server: ModelServer) -> None:
    """System prompt, tools, calls and results are read as those in camel case."""
    body = {
        "system_instruction": {"parts": [{"text": "Be brief."}]},
        "tools": [{"function_declarations": [{"name": "f", "parameters": {"type": "OBJECT"}}]}],
        "contents": [
            {"role": "user", "parts": [{"text": "Hi"}]},
            {"role": "model", "parts": [{"function_call": {"name": "f", "args": {"a": 1}}}]},
            {"role": "user", "parts": [{"function_response": {"name": "f", "response": {"b": 2}}}]},
        ],
    }
    ask(f"{server.url}/v1beta/models/gemini-2.5-flash:generateContent", body)
    (request,) = server.requests
    assert (request.system, request.schemas) == ("Be brief.", {"f": {"type": "object"}})
    assert request.turns[2].calls == (("f", "f", {"a": 1}),)
    assert request.tool_results == ['{"b":2}']


def test_tools_of_googles_of_which_some_may_be_called(server: ModelServer) -> None:
    """`toolConfig` is a word of Bedrock's, too, for other things."""
    function = {"name": "count", "parameters": {"type": "OBJECT", "properties": {"item": {"type": "STRING"}}}}
    body = {
        "contents": [{"role": "user", "parts": [{"text": "How many?"}]}],
        "tools": [{"functionDeclarations": [function]}],
        "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}},
    }
    ask(f"{server.url}/v1beta/models/gemini-2.5-flash:generateContent", body)
    assert server.requests[-1].schemas == {
        "count": {"type": "object", "properties": {"item": {"type": "string"}}}
    }


def test_mistral_streams_each_call_whole(server: ModelServer) -> None:
    """And counts in the last chunk, asked or not."""
    body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "Hi"}]}
    server.reply(Reply(tool_calls=[("f", {"city": "Rome, in the sun"}), ("g", {})], usage={"input": 9}))
    asked = Request(f"{server.url}/v1/chat/completions", json.dumps(body).encode())
    asked.add_header("user-agent", "mistral-client-python/3.7.0")
    with urlopen(asked) as answer:
        lines = answer.read().decode().split("\n\n")
    chunks = [json.loads(line.removeprefix("data: ")) for line in lines if "{" in line]
    calls = [call for chunk in chunks for call in chunk["choices"][0]["delta"].get("tool_calls", ())]
    assert [call["function"]["arguments"] for call in calls] == ['{"city":"Rome, in the sun"}', "{}"]
    assert [chunk["usage"]["prompt_tokens"] for chunk in chunks if "usage" in chunk] == [9]
    assert chunks[-1]["choices"][0]["finish_reason"] == "tool_calls"


def test_mistral_says_an_empty_text_beside_tool_calls(server: ModelServer) -> None:
    """Where OpenAI says null: LlamaIndex takes a text from Mistral's client and nothing else."""
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
    said = []
    for agent in ("mistral-client-python/3.7.0", "OpenAI/Python 2.54.0"):
        server.reply(Reply(tool_calls=[("f", {})]))
        answer = ask(f"{server.url}/v1/chat/completions", body, {"user-agent": agent})
        said.append(answer["choices"][0]["message"]["content"])
    assert said == ["", None]


def test_what_ollama_generates(server: ModelServer) -> None:
    """A prompt and no messages (LiteLLM's `ollama/`), whole and in pieces."""
    server.reply(Reply("So it is."), times=2)
    body = {"model": "llama3.1", "system": "Be brief.", "prompt": "Is it so?"}
    whole = ask(f"{server.url}/api/generate", {**body, "stream": False})
    assert (whole["response"], whole["done"], whole["done_reason"]) == ("So it is.", True, "stop")
    with urlopen(Request(f"{server.url}/api/generate", json.dumps(body).encode())) as answer:
        lines = [json.loads(line) for line in answer.read().splitlines()]
    assert "".join(line["response"] for line in lines) == "So it is."
    assert [line["done"] for line in lines] == [False, False, False, True]
    assert lines[-1]["eval_count"] == whole["eval_count"] > 0
    assert (server.requests[0].system, server.requests[0].last_text) == ("Be brief.", "Is it so?")
