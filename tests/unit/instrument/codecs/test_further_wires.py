"""Mistral's agents, code and conversations, Writer, Voyage, partners on Vertex, counts of
Bedrock, Anthropic's text completions, OpenAI's decisions, models that Databricks serves."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from lctl.instrument.codecs import find
from tests.unit.instrument.chains import Chain
from tests.unit.instrument.codecs.test_other_wires import GOOGLE, answered, asked

MISTRAL = "https://api.mistral.ai/v1"
BEDROCK = "https://bedrock-runtime.us-east-1.amazonaws.com/model/m"
USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
TOKENS = {"input": 10, "output": 5, "total": 15}
SSE = {"content-type": "text/event-stream"}
HI = [{"role": "user", "content": "Hi"}]


def stream(*events: dict[str, Any], name: str = "") -> bytes:
    """Events with a name of their type, or of `name`."""
    named = [(name or event.get("type", ""), json.dumps(event)) for event in events]
    return "".join(f"id: 1\nevent: {name}\ndata: {data}\n\n" for name, data in named).encode()


def chat(**message: Any) -> dict[str, Any]:
    said = {"role": "assistant", "content": "Hello", **message}
    return {"id": "c1", "model": "m", "choices": [{"message": said, "finish_reason": "stop"}], "usage": USAGE}


# -- Mistral ---------------------------------------------------------------------------------


def test_mistral_code_between_two_texts() -> None:
    """A prompt is asked, and a chat's message answers."""
    url = f"{MISTRAL}/fim/completions"
    request = asked(url, {"model": "codestral", "prompt": "def f(", "suffix": "return"})
    assert (request.provider, request.input, request.params) == ("mistral", "def f(", {"suffix": "return"})
    answer = answered(url, chat())
    assert (answer.messages[0]["content"], answer.finish_reason, answer.tokens) == ("Hello", "stop", TOKENS)
    pieces = [
        {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": end}]}
        for text, end in (("Hel", None), ("lo", "stop"))
    ]
    whole = answered(url, stream(*pieces), SSE)
    assert whole.complete and whole.messages[0]["content"] == "Hello"


def test_mistral_agents_are_chats_without_a_model() -> None:
    """The agent has it; the answer says it."""
    url = f"{MISTRAL}/agents/completions"
    request = asked(url, {"agent_id": "ag_1", "messages": HI})
    assert (request.operation, request.model, request.messages) == ("chat.completions", None, HI)
    assert request.params == {"agent_id": "ag_1"}
    assert answered(url, chat()).model == "m"


def test_mistral_conversation() -> None:
    """What ran at the provider is in the message; what its tools read counts as read."""
    request = asked(
        f"{MISTRAL}/conversations",
        {"model": "m", "inputs": "Hi", "instructions": "Be brief.", "tools": [{"type": "web_search"}]},
    )
    assert [message["role"] for message in request.messages] == ["system", "user"]
    assert request.instructions and request.tools and request.continues is None
    ran = {"type": "tool.execution", "id": "t", "name": "web_search", "arguments": "{}"}
    said = {"type": "message.output", "role": "assistant", "model": "mm", "content": "Found."}
    usage = {**USAGE, "connector_tokens": 7, "total_tokens": 22}
    body = {"conversation_id": "conv_1", "outputs": [ran, said], "usage": usage}
    answer = answered(f"{MISTRAL}/conversations", body)
    assert (answer.response_id, answer.model) == ("conv_1", "mm")
    assert answer.messages[0]["content"] == [ran, {"type": "text", "text": "Found."}]
    assert answer.tokens == {"input": 17, "output": 5, "total": 22}


def test_mistral_conversation_streamed_and_gone_on_with() -> None:
    """Texts and arguments in pieces; a function's result goes on from the conversation of its call."""
    url = f"{MISTRAL}/conversations"
    events: list[dict[str, Any]] = [
        {"type": "conversation.response.started", "conversation_id": "conv_1"},
        *(
            {"type": "message.output.delta", "id": "m1", "output_index": 0, "content": text, "model": "mm"}
            for text in ("Hel", "lo")
        ),
        *(
            {
                "type": "function.call.delta",
                "id": "f1",
                "output_index": 1,
                "name": "add",
                "tool_call_id": "t1",
            }
            | {"arguments": text}
            for text in ('{"a"', ":1}")
        ),
        {"type": "conversation.response.done", "usage": USAGE},
    ]
    answer = answered(url, stream(*events), SSE)
    call = {"id": "t1", "type": "function", "function": {"name": "add", "arguments": '{"a":1}'}}
    assert answer.complete and answer.tokens == TOKENS
    assert answer.messages == [{"role": "assistant", "content": "Hello", "tool_calls": [call]}]
    assert not answered(url, stream(*events[:3]), SSE).complete
    failed = {"type": "conversation.response.error", "message": "no", "code": 500}
    error = answered(url, stream(events[0], failed), SSE).error
    assert error is not None and (error["message"], error["code"]) == ("no", 500)

    chain = Chain()
    chain.answer(chain.send({"model": "m", "inputs": "add 1", "instructions": "Be brief."}, url), answer)
    result = {"type": "function.result", "tool_call_id": "t1", "result": "2"}
    more, leaf = chain.send({"inputs": [result]}, f"{url}/conv_1")
    assert more.continues == "conv_1"
    path = [(message["role"], message["content"]) for message in chain.path(leaf)]
    assert path == [("system", "Be brief."), ("user", "add 1"), ("assistant", "Hello"), ("tool", "2")]
    [called] = chain.events("tool_call")
    assert (called["data"]["input"], called["data"]["output"]) == ({"a": 1}, "2")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/conversations", {"items": [], "metadata": {}}),
        ("/v1/conversations/conv_1", {"metadata": {}}),
        ("/v1/chat", {"message": "Hi", "session": "1"}),
        ("/generate", {"prompt": "x"}),
        ("/models/cat", {"inputs": "x"}),
        ("/", {"inputs": "x"}),
        ("/v1/embed", {"text": "x"}),
        ("/decisions", {"case": 1}),
        ("/ml/v1/text/chat", {"text": "x"}),
        ("/v1/complete", {"prefix": "x"}),
    ],
)
def test_paths_that_others_have_too(path: str, body: dict[str, Any]) -> None:
    """The body tells: conversations that OpenAI keeps, and a program's own."""
    found = find("POST", f"http://x{path}", {})
    if found is not None:
        with pytest.raises(ValueError):
            found[0].read_request(found[1], f"http://x{path}", json.dumps(body).encode())


# -- others ---------------------------------------------------------------------------------


def test_writer() -> None:
    """Its chat is OpenAI's on a path of its own."""
    url = "https://api.writer.com/v1/chat"
    request = asked(url, {"model": "palmyra", "messages": HI})
    assert (request.provider, request.operation) == ("writer", "chat.completions")
    assert answered(url, chat()).messages[0]["content"] == "Hello"


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("multimodalembeddings", [{"embedding": [0.1, 0.2]}, {"embedding": [0.1, 0.2]}]),
        ("contextualizedembeddings", [{"data": [{"embedding": [0.1, 0.2]}, {"embedding": [0.1, 0.2]}]}]),
    ],
)
def test_voyage(name: str, data: list[Any]) -> None:
    """Pictures among texts, and chunks by document."""
    url = f"https://api.voyageai.com/v1/{name}"
    request = asked(url, {"model": "voyage", "inputs": [["Hi", "Ho"]]})
    assert (request.provider, request.kind, request.input) == ("voyageai", "embedding", [["Hi", "Ho"]])
    answer = answered(url, {"data": data, "model": "voyage", "usage": {"total_tokens": 3}})
    assert (answer.embedding, answer.tokens) == ({"count": 2, "dimensions": 2}, {"input": 3, "total": 3})


@pytest.mark.parametrize(("verb", "streamed"), [("rawPredict", False), ("streamRawPredict", True)])
def test_partners_on_vertex(verb: str, streamed: bool) -> None:
    """What others than Anthropic offer there speaks as OpenAI does; the path may name the model alone."""
    place = "https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/mistralai"
    request = asked(f"{place}/models/mistral-large:{verb}", {"messages": HI})
    assert (request.provider, request.model) == ("google", "mistral-large")
    assert (request.messages, request.stream) == (HI, streamed)


def test_counts_of_bedrock() -> None:
    """Of Converse, and of a body of InvokeModel."""
    converse = {"messages": [{"role": "user", "content": [{"text": "Hi"}]}], "system": [{"text": "S"}]}
    request = asked(f"{BEDROCK}/count-tokens", {"input": {"converse": converse}})
    assert (request.operation, request.model, len(request.messages)) == ("converse.count_tokens", "m", 2)
    body = base64.b64encode(json.dumps({"messages": HI}).encode()).decode()
    assert asked(f"{BEDROCK}/count-tokens", {"input": {"invokeModel": {"body": body}}}).messages == HI
    answer = answered(f"{BEDROCK}/count-tokens", {"inputTokens": 7})
    assert (answer.usage, answer.tokens, answer.error) == ({"inputTokens": 7}, None, None)


def test_text_completions_of_anthropic() -> None:
    """A prompt and how it goes on."""
    url = "https://api.anthropic.com/v1/complete"
    request = asked(url, {"model": "claude-2", "prompt": "Hi", "max_tokens_to_sample": 5})
    assert (request.input, request.params) == ("Hi", {"max_tokens_to_sample": 5})
    pieces = [
        {"type": "completion", "id": "c", "completion": text, "stop_reason": end, "model": "claude-2"}
        for text, end in (("Hel", None), ("lo", "stop_sequence"))
    ]
    for answer in (answered(url, {**pieces[1], "completion": "Hello"}), answered(url, stream(*pieces), SSE)):
        assert answer.complete and answer.messages == [{"role": "assistant", "content": "Hello"}]
        assert (answer.response_id, answer.model, answer.finish_reason) == ("c", "claude-2", "stop_sequence")
    assert not answered(url, stream(pieces[0]), SSE).complete


def test_decisions() -> None:
    """Questions are parameters; the answers are what is said."""
    url = "https://api.openai.com/v1/decisions"
    questions = [{"type": "predicate", "question": "polite?"}]
    request = asked(url, {"model": "m", "input": "Hi", "questions": questions})
    assert (request.messages, request.params) == (HI, {"questions": questions})
    answers = [{"type": "predicate", "probability": 0.9}]
    usage = {"input_tokens": 10, "output_tokens": 5, "input_tokens_details": {"cached_tokens": 4}}
    answer = answered(url, {"id": "dec", "model": "m", "answers": answers, "usage": usage})
    assert answer.messages == [{"role": "assistant", "content": answers}]
    assert answer.tokens == {"input": 10, "output": 5, "cache_read": 4}


def test_models_that_databricks_and_sagemaker_serve() -> None:
    """By the name of what serves them."""
    for place in ("https://x.cloud.databricks.com/serving-endpoints", "https://runtime.sagemaker/endpoints"):
        request = asked(f"{place}/llama/invocations", {"messages": HI})
        assert (request.operation, request.model, request.messages) == ("chat.completions", "llama", HI)


def test_google_arguments_in_pieces() -> None:
    """One call, with what each piece says where it says that it stands."""
    calls: list[dict[str, Any]] = [
        {"name": "f", "willContinue": True},
        {
            "partialArgs": [{"jsonPath": "$.city", "stringValue": "New ", "willContinue": True}],
            "willContinue": True,
        },
        {"partialArgs": [{"jsonPath": "$.city", "stringValue": "Delhi"}], "willContinue": True},
        {"partialArgs": [{"jsonPath": "$.stops[1]['a b']", "numberValue": 3.0}], "willContinue": True},
        {
            "partialArgs": [
                {"jsonPath": "$.on", "boolValue": True},
                {"jsonPath": "$.no", "nullValue": "NULL_VALUE"},
            ]
        },
        {"name": "g", "args": {"x": 1}},
    ]
    events = [
        {"candidates": [{"content": {"role": "model", "parts": [{"functionCall": one}]}}]} for one in calls
    ]
    answer = answered(f"{GOOGLE}:streamGenerateContent", stream(*events), SSE)
    args = {"city": "New Delhi", "stops": [None, {"a b": 3}], "on": True, "no": None}
    told = [part["functionCall"] for part in answer.messages[0]["parts"]]
    assert told == [{"name": "f", "args": args}, {"name": "g", "args": {"x": 1}}]


def test_anthropic_counts_of_thought_are_no_part_of_it() -> None:
    """The block is as the answer in one piece has it, and as it goes back."""
    url = "https://api.anthropic.com/v1/messages"
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
        {"type": "content_block_delta", "index": 0}
        | {"delta": {"type": "thinking_delta", "thinking": "hm", "estimated_tokens": 7}},
        {"type": "message_stop"},
    ]
    answer = answered(url, stream(*events), SSE)
    assert answer.messages[0]["content"] == [{"type": "thinking", "thinking": "hm"}]
