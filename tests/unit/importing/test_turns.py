"""Items of the Responses API, which tracing tools tell as messages; failures that pass many spans."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lctl.chain import Chain
from tests.unit.importing.peers import ends, imported, otlp, said, span, tools

LOOK = [("Let me look.", None), (None, ("c1", "x")), (None, ("c2", "y"))]
CALLS = [
    {"type": "tool_call", "id": id, "name": "grep", "arguments": {"q": q}}
    for id, q in (("c1", "x"), ("c2", "y"))
]
SAID = [
    ("user", "find x"),
    ("assistant", "Let me look."),
    ("tool", "3 hits"),
    ("tool", "no hit"),
    ("assistant", "found"),
]
RESULTS = [("c1", "3 hits"), ("c2", "no hit")]


def part(text: str) -> dict[str, Any]:
    return {"type": "text", "content": text}


def message(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "parts": list(parts)}


def conventional(name: str, together: bool) -> list[dict[str, Any]]:
    """By the GenAI conventions, each item a message where it was read. `together`: not where it was given."""
    items = [message("assistant", part("Let me look.")), *(message("assistant", call) for call in CALLS)]
    gave = [message("assistant", part("Let me look."), *CALLS)] if together else items
    asked = message("user", part("find x"))
    results = [message("tool", {"type": "tool_call_response", "id": id, "response": r}) for id, r in RESULTS]
    model = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-5"}
    ios = [([asked], gave), ([asked, *items, *results], [message("assistant", part("found"))])]
    return [
        span(n, name, None, {**model, "gen_ai.input.messages": read, "gen_ai.output.messages": given})
        for n, (read, given) in enumerate(ios, 1)
    ]


def openinference() -> list[dict[str, Any]]:
    """Thoughts, words and calls are output messages of their own; a thought may say nothing."""
    thought = {"contents.0.message_content.type": "reasoning"}
    words = {"contents.0.message_content.type": "text", "contents.0.message_content.text": "Let me look."}
    calls = [
        {
            "tool_calls.0.tool_call.id": id,
            "tool_calls.0.tool_call.function.name": "grep",
            "tool_calls.0.tool_call.function.arguments": json.dumps({"q": q}),
        }
        for id, q in (("c1", "x"), ("c2", "y"))
    ]
    results = [{"role": "tool", "content": result, "tool_call_id": id} for id, result in RESULTS]
    asked = {"role": "user", "content": "find x"}
    turn = [{"role": "assistant", **one} for one in (words, *calls)]
    first = [{"role": "assistant", **thought}, *turn]
    last = [{"role": "assistant", **thought}, {"role": "assistant", "content": "found"}]
    return [
        span(
            n,
            "Response",
            None,
            {
                "openinference.span.kind": "LLM",
                "llm.model_name": "gpt-5",
                "output.value": {"object": "response"},
                **flat("llm.input_messages", read),
                **flat("llm.output_messages", given),
            },
        )
        for n, (read, given) in enumerate([([asked], first), ([asked, *turn, *results], last)], 1)
    ]


def flat(name: str, messages: list[dict[str, Any]]) -> dict[str, Any]:
    return {f"{name}.{n}.message.{key}": v for n, one in enumerate(messages) for key, v in one.items()}


def langfuse() -> list[dict[str, Any]]:
    """The items themselves."""
    words = {"type": "output_text", "text": "Let me look.", "annotations": []}
    turn = [
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "message", "id": "msg_1", "role": "assistant", "content": [words]},
        *(
            {"type": "function_call", "call_id": id, "name": "grep", "arguments": json.dumps({"q": q})}
            for id, q in (("c1", "x"), ("c2", "y"))
        ),
    ]
    asked = {"role": "user", "content": "find x"}
    results = [{"type": "function_call_output", "call_id": id, "output": result} for id, result in RESULTS]
    answer = {"type": "message", "role": "assistant", "content": [{**words, "text": "found"}]}
    about = "langfuse.observation."
    return [
        span(
            n,
            "OpenAI-generation",
            None,
            {
                f"{about}type": "generation",
                f"{about}input": {"input": read, "tools": []},
                f"{about}output": given,
            },
        )
        for n, (read, given) in enumerate([([asked], turn), ([asked, *turn, *results], answer)], 1)
    ]


@pytest.mark.parametrize(
    "spans",
    [
        pytest.param(conventional("openai.response", together=True), id="openllmetry"),
        pytest.param(conventional("Responses API with 'gpt-5'", together=False), id="logfire"),
        pytest.param(openinference(), id="openinference"),
        pytest.param(langfuse(), id="langfuse"),
    ],
)
def test_the_items_of_a_turn_are_one_message(spans: list[dict[str, Any]]) -> None:
    """So a loop of tools is one conversation, each answer there once, each call with its result."""
    found = imported(otlp(*spans))
    assert said(found) == SAID
    assert [(one["call_id"], one["input"], one["output"]) for one in tools(found)] == [
        ("c1", {"q": "x"}, "3 hits"),
        ("c2", {"q": "y"}, "no hit"),
    ]
    answers = [node for node in Chain.of(found.log).tree if node.sampled]
    assert len(answers) == 2


def test_what_is_written_as_the_provider_has_it() -> None:
    """Laminar: choices, items, and messages of no role; an answer had no word, no call and no role."""
    call = {"id": "c1", "type": "function", "function": {"name": "grep", "arguments": "{}"}}
    chosen = {"role": "assistant", "content": "Looking.", "refusal": None, "tool_calls": [call]}
    item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "found"}]}
    asked = [{"content": "find x"}]
    results = [chosen, {"role": "tool", "tool_call_id": "c1", "content": "3 hits"}]
    model = {"gen_ai.system": "openai", "gen_ai.request.model": "gpt-5"}
    found = imported(
        otlp(
            span(
                1,
                "openai.chat",
                None,
                {
                    **model,
                    "gen_ai.input.messages": asked,
                    "gen_ai.output.messages": [
                        {"index": 0, "finish_reason": "tool_calls", "message": chosen}
                    ],
                },
            ),
            span(
                2,
                "openai.response",
                None,
                {
                    **model,
                    "gen_ai.input.messages": [*asked, *results],
                    "gen_ai.output.messages": [{"type": "reasoning", "summary": []}, item],
                },
            ),
        )
    )
    assert said(found) == [
        ("user", "find x"),
        ("assistant", "Looking."),
        ("tool", "3 hits"),
        ("assistant", "found"),
    ]
    assert [one["call_id"] for one in tools(found)] == ["c1"]
    assert ends(found)["openai.chat"]["finish_reason"] == "tool_calls"


def test_alternatives_stay_apart() -> None:
    """Several answers of a chat completion are no turn in pieces, also where they call tools alone."""
    read = {"llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "which?"}
    call = "tool_calls.0.tool_call.function"
    gave = {f"llm.output_messages.{n}.message.{call}.name": name for n, name in enumerate(("a", "b"))}
    more = {"openinference.span.kind": "LLM", "output.value": {"object": "chat.completion"}}
    found = imported(otlp(span(1, "ChatCompletion", None, {**read, **gave, **more})))
    assert len(Chain.of(found.log).tree.leaves) == 2


def test_embeddings_are_no_conversation() -> None:
    """Laminar calls them LLM, and it and OpenLIT tell what was embedded as messages of a user."""
    found = imported(
        otlp(
            span(
                1,
                "openai.embeddings",
                None,
                {
                    "lmnr.span.type": "LLM",
                    "gen_ai.system": "openai",
                    "gen_ai.request.model": "text-embedding-3-small",
                    "gen_ai.input.messages": [{"content": "a"}, {"content": "b"}],
                    "gen_ai.usage.input_tokens": 7,
                },
            ),
            span(
                2,
                "embeddings text-embedding-3-small",
                None,
                {
                    "gen_ai.operation.name": "embeddings",
                    "gen_ai.request.model": "text-embedding-3-small",
                    "gen_ai.input.messages": [message("user", part("hello"))],
                    "gen_ai.usage.input_tokens": 7,
                },
            ),
        )
    )
    starts = [event.data for event in found.log.events() if event.type == "step_start"]
    assert [(one["kind"], one["input"]) for one in starts] == [
        ("embedding", ["a", "b"]),
        ("embedding", "hello"),
    ]
    assert (found.messages, found.lost) == (0, [])
    assert [event.data["tokens"] for event in found.log.events() if event.type == "step_end"] == [
        {"input": 7}
    ] * 2


def test_instructions_of_the_older_names_alone() -> None:
    """As Laminar tells those of the Responses API: among the items there are none."""
    found = imported(
        otlp(
            span(
                1,
                "openai.response",
                None,
                {
                    "lmnr.span.type": "LLM",
                    "gen_ai.request.model": "gpt-5",
                    "gen_ai.prompt.0.role": "system",
                    "gen_ai.prompt.0.content": "Be brief.",
                    "gen_ai.input.messages": [{"role": "user", "content": "hi", "type": "message"}],
                    "gen_ai.output.messages": [
                        {
                            "type": "message",
                            "role": "assistant",
                            "content": [{"type": "output_text", "text": "Hi."}],
                        }
                    ],
                },
            )
        )
    )
    assert said(found) == [("system", "Be brief."), ("user", "hi"), ("assistant", "Hi.")]


def test_instructions_told_twice_are_one_message() -> None:
    """As OpenLIT tells them: beside the messages and among them."""
    messages = [message("system", part("Be brief.")), message("user", part("hi"))]
    found = imported(
        otlp(
            span(
                1,
                "chat",
                None,
                {
                    "gen_ai.operation.name": "chat",
                    "gen_ai.system_instructions": [part("Be brief.")],
                    "gen_ai.input.messages": messages,
                    "gen_ai.output.messages": [message("assistant", part("Hi."))],
                    "gen_ai.usage.input_tokens": 4,
                    "gen_ai.usage.cache_read.input_tokens": 100,
                    "gen_ai.usage.cache_creation.input_tokens": 20,
                },
            )
        )
    )
    assert said(found) == [("system", "Be brief."), ("user", "hi"), ("assistant", "Hi.")]
    # Its input is Anthropic's number, which leaves out what the cache gave and took.
    assert ends(found)["chat"]["tokens"] == {"input": 124, "cache_read": 100, "cache_write": 20}


def test_an_embedding_of_langfuse_has_its_model_and_tokens() -> None:
    about = "langfuse.observation."
    found = imported(
        otlp(
            span(
                1,
                "OpenAI-embedding",
                None,
                {
                    f"{about}type": "embedding",
                    f"{about}model.name": "text-embedding-3-small",
                    f"{about}input": "embed me",
                    f"{about}usage_details": {"input": 2},
                },
            )
        )
    )
    (start,) = (event.data for event in found.log.events() if event.type == "step_start")
    assert start["model"] == "text-embedding-3-small"
    assert ends(found)["OpenAI-embedding"]["tokens"] == {"input": 2}


def test_a_failure_is_one_error_where_it_began() -> None:
    """Not one of each span that the exception passed, nor of the request beneath; what is another is told."""
    raised = {"exception.type": "openai.RateLimitError", "exception.message": "Error code: 429"}
    event = {"name": "exception", "timeUnixNano": "0", "attributes": [
        {"key": key, "value": {"stringValue": value}} for key, value in raised.items()
    ]}  # fmt: skip
    failed = {"code": 2, "message": "RateLimitError: Error code: 429"}
    found = imported(
        otlp(
            span(1, "crew", None, {"openinference.span.kind": "CHAIN"}, status=failed, events=[event]),
            span(2, "bob", 1, {"openinference.span.kind": "AGENT"}, status=failed, events=[event]),
            span(3, "chat", 2, {"openinference.span.kind": "LLM"}, status=failed, events=[event]),
            span(4, "POST", 3, {"http.response.status_code": 429}, status={"code": 2}),
            span(5, "GET", 2, {"http.response.status_code": 503}, status={"code": 2}),
            span(6, "eve", 1, {"openinference.span.kind": "AGENT"}, status={"code": 2, "message": "no time"}),
        )
    )
    names = {e.seq: e.data.get("intent") for e in found.log.events() if e.type == "step_start"}
    errors = [(names[e.step or 0], e.data["type"]) for e in found.log.events() if e.type == "error"]
    assert sorted(errors) == [
        ("GET", "http_503"),
        ("chat", "openai.RateLimitError"),
        ("eve", "model_call_failed"),
    ]
    assert {name: end["outcome"] for name, end in ends(found).items()} == dict.fromkeys(
        names.values(), "error"
    )
