"""Forms of samples: what each row says, what is lost, what readers would refuse (row G16)."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from tests.unit.training import fixtures
from tests.unit.training.exported import Messages, call, exported
from tests.unit.training.fixtures import Talk
from tests.unit.training.talks import DIALECTS, IMAGE, WORDS, talk_of


@pytest.mark.parametrize("dialect", DIALECTS)
def test_g16_openai(dialect: str) -> None:
    """The same conversation of three providers is the same row."""
    messages, tools = DIALECTS[dialect]
    [row], made = exported(talk_of(messages, tools), "openai")
    assert [message["role"] for message in row["messages"]] == [
        *("system", "user", "assistant", "tool", "tool", "assistant")
    ]
    system, user, asks, one, two, says = row["messages"]
    assert system == {"role": "system", "content": "Be brief."}
    assert user["content"] == [
        {"type": "text", "text": "Where?"},
        {"type": "image_url", "image_url": {"url": IMAGE}},
    ]
    assert [orjson.loads(c["function"]["arguments"]) for c in asks["tool_calls"]] == [{"q": "a"}, {"q": "b"}]
    assert (asks["content"], asks["weight"]) == (None, 1)
    assert one == {"role": "tool", "tool_call_id": "c1", "content": "a.py"}
    assert two == {"role": "tool", "tool_call_id": "c2", "content": "b.py"}
    assert says == {"role": "assistant", "content": WORDS, "weight": 1}
    assert [tool["function"]["name"] for tool in row["tools"]] == ["grep"]
    assert row["tools"][0]["function"]["parameters"]["type"] == "object"
    assert (made["rows"], made["trained"], made["refused"]) == (1, 2, [])


def test_g16_what_is_lost_is_counted() -> None:
    def lost(dialect: str, format: str) -> dict[str, int]:
        found: dict[str, int] = exported(talk_of(*DIALECTS[dialect]), format)[1]["lost"]
        return found

    assert lost("chat", "openai") == {"input_audio": 1, "reasoning": 1}
    assert lost("chat", "hf") == {"input_audio": 1}
    assert lost("responses", "hf") == {
        "encrypted reasoning": 1,
        "input_file": 1,
        "server tool": 1,
        "tool web_search": 1,
    }
    assert lost("anthropic", "hf") == {
        "cache_control": 1,
        "document": 1,
        "image in a tool result": 1,
        "is_error of a tool result": 1,
        "tool web_search_20250305": 1,
    }
    assert lost("chat", "axolotl") == {"image": 1, "input_audio": 1}
    assert lost("chat", "calls") == {}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_g16_hf(dialect: str) -> None:
    """Arguments as objects, reasoning kept, images as parts that templates know."""
    [row], _ = exported(talk_of(*DIALECTS[dialect]), "hf")
    asks = row["messages"][2]
    assert asks["reasoning_content"] == "Look first."
    assert asks["content"] == ""
    assert asks["tool_calls"] == [call("c1", {"q": "a"}), call("c2", {"q": "b"})]
    assert row["messages"][1]["content"][1] == {"type": "image", "url": IMAGE}


def test_g16_hf_rows_with_context_answers_are_prompts_and_completions() -> None:
    """`assistant_only_loss` would train every answer: a row for each one that is to be trained."""
    rows, made = exported(fixtures.model_changed(), "hf")
    assert [sorted(row) for row in rows] == [["messages"], ["completion", "prompt"]]
    assert [message["content"] for message in rows[1]["prompt"]] == ["s1", "u1", "a1", "u2", "a2", "u3"]
    assert rows[1]["completion"] == [{"role": "assistant", "content": "a3"}]
    assert (made["rows"], made["trained"]) == (2, 3)
    assert made["kinds"] == {"messages": 1, "prompt and completion": 1}


def test_g16_axolotl() -> None:
    """Every message says whether it trains; content is text."""
    rows, _ = exported(fixtures.model_changed(), "axolotl")
    assert [[message["train"] for message in row["messages"]] for row in rows] == [
        [False, False, True, False, True],
        [False, False, False, False, False, False, True],
    ]
    [row], _ = exported(talk_of(*DIALECTS["anthropic"]), "axolotl")
    assert row["messages"][1] == {"role": "user", "content": "Where?", "train": False}
    assert row["messages"][2]["reasoning_content"] == "Look first."
    assert orjson.loads(row["messages"][2]["tool_calls"][0]["function"]["arguments"]) == {"q": "a"}


def test_g16_sharegpt() -> None:
    """Turns alternate; system and tools stand beside them; parallel calls and results are one turn each."""
    [row], made = exported(talk_of(*DIALECTS["chat"]), "sharegpt")
    assert [turn["from"] for turn in row["conversations"]] == ["human", "function_call", "observation", "gpt"]
    assert orjson.loads(row["conversations"][1]["value"]) == [
        {"name": "grep", "arguments": {"q": "a"}},
        {"name": "grep", "arguments": {"q": "b"}},
    ]
    assert row["conversations"][2]["value"] == "a.py\nb.py"
    assert row["system"] == "Be brief."
    assert orjson.loads(row["tools"])[0]["name"] == "grep"
    assert made["lost"] == {"border between messages": 1, "image": 1, "input_audio": 1, "reasoning": 1}


def test_g16_secrets_in_prompts_are_counted() -> None:
    """A prompt from which something was taken out is not to the letter what the model read."""
    talk = Talk().tell("u1", None, content="key [redacted:openai:1a2b]").a("a1", "u1")
    _, made = exported(talk, "calls")
    assert (made["trained"], made["lost"]) == (1, {"secret in a row": 1})


def test_g16_sharegpt_has_no_weights() -> None:
    _, made = exported(fixtures.regenerate(), "sharegpt")
    assert made["lost"] == {"weight 0": 1}


def test_g16_calls_loses_nothing() -> None:
    """Messages in the providers' dialects, with masks and calls; rows come back as they were."""
    talk = fixtures.retokenized()
    rows, made = exported(talk, "calls")
    found = talk.rows()
    assert [row["messages"] for row in rows] == [row.messages for row in found]
    assert [row["loss_mask"] for row in rows] == [row.weights for row in found]
    assert [row["token_ids"] for row in rows] == [row.token_ids for row in found]
    assert [row["logprobs"] for row in rows] == [row.logprobs for row in found]
    assert [row["break_reason"] for row in rows] == [None, "retokenized"]
    assert rows[0]["calls"][0]["message_id"] == "a1"
    assert {"sample_id", "trajectory_id", "n_samples", "reward", "tools"} <= rows[0].keys()
    assert made["breaks"] == {"retokenized": 1}


def test_g16_legacy_functions_and_google() -> None:
    legacy: Messages = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "r"},
        {"role": "assistant", "content": "done"},
    ]
    [row], _ = exported(talk_of(legacy, [{"name": "f", "parameters": {"type": "object"}}]), "openai")
    assert row["messages"][1]["tool_calls"][0]["id"] == row["messages"][2]["tool_call_id"] == "f"
    assert row["tools"][0]["function"] == {"name": "f", "parameters": {"type": "object"}}
    google: Messages = [
        {"role": "user", "parts": [{"text": "q"}]},
        {
            "role": "model",
            "parts": [{"text": "hm", "thought": True}, {"functionCall": {"name": "f", "args": {}}}],
        },
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"x": 1}}}]},
        {"role": "model", "parts": [{"text": "done"}]},
    ]
    tools = [{"functionDeclarations": [{"name": "f", "parameters": {"type": "object"}}]}]
    [row], made = exported(talk_of(google, tools, sampled="model"), "hf")
    assert [message["role"] for message in row["messages"]] == ["user", "assistant", "tool", "assistant"]
    assert row["messages"][1]["reasoning_content"] == "hm"
    assert row["messages"][2]["content"] == '{"x":1}'
    assert made["refused"] == []


def test_g16_google_pairs_results_by_name_and_order() -> None:
    """Two calls of one function have no ids: each result is told of its own. Types are JSON Schema's."""
    schema = {"type": "OBJECT", "properties": {"type": {"type": "STRING"}}}
    declared = [
        {"name": "f", "parameters": schema},
        {"name": "g", "parametersJsonSchema": {"type": "object"}},
    ]
    calls = [{"functionCall": {"name": name, "args": {"n": n}}} for n, name in enumerate("fgf")]
    results = [
        {"functionResponse": {"name": name, "response": {"n": n}}}
        for n, name in ((0, "f"), (2, "f"), (1, "g"))
    ]
    picture = {"inlineData": {"mime_type": "image/png", "data": "-_8="}}
    google: Messages = [
        {"role": "user", "parts": [{"text": "q"}, picture]},
        {"role": "model", "parts": calls},
        {"role": "user", "parts": results},
        {"role": "model", "parts": [{"text": "done"}, {"executableCode": {"code": "1"}}]},
    ]
    tools = [{"functionDeclarations": declared}, {"googleSearch": {}}]
    [row], made = exported(talk_of(google, tools, sampled="model"), "openai")
    asked = {call["id"]: call["function"]["arguments"] for call in row["messages"][1]["tool_calls"]}
    assert len(asked) == 3
    assert [asked[m["tool_call_id"]] == m["content"] for m in row["messages"] if m["role"] == "tool"] == [
        True
    ] * 3
    assert row["messages"][0]["content"][1]["image_url"]["url"] == "data:image/png;base64,+/8="
    given = [tool["function"]["parameters"] for tool in row["tools"]]
    assert given == [{"type": "object", "properties": {"type": {"type": "string"}}}, {"type": "object"}]
    assert (made["lost"], made["refused"]) == ({"server tool": 1, "tool googleSearch": 1}, [])


def test_g16_bedrock_cites_and_searches() -> None:
    """Words with citations are words; a call that Bedrock carried out is nobody's to answer."""
    searched = {"toolUseId": "s1", "name": "nova_grounding", "type": "server_tool_use", "input": {}}
    cited = {"content": [{"text": "It is blue"}], "citations": [{"title": "a"}]}
    bedrock: Messages = [
        {"role": "user", "content": [{"text": "q"}]},
        {
            "role": "assistant",
            "content": [
                {"toolUse": searched},
                {"toolResult": {"toolUseId": "s1", "type": "nova_grounding", "content": [{"json": {}}]}},
                {"citationsContent": cited},
                {"text": "."},
            ],
        },
    ]
    [row], made = exported(talk_of(bedrock, None), "openai")
    assert {**row["messages"][1], "weight": 1} == {"role": "assistant", "content": "It is blue.", "weight": 1}
    assert (made["lost"], made["refused"]) == ({"citations": 1, "server tool": 1}, [])


def test_g16_bedrock() -> None:
    """Calls, results, tools and images of Converse are those of the form."""
    asked = [{"toolUse": {"toolUseId": id, "name": "f", "input": {"x": id}}} for id in ("a", "b")]
    results: list[Any] = [
        {"toolResult": {"toolUseId": "b", "content": [{"json": {"y": 1}}], "status": "error"}},
        {"toolResult": {"toolUseId": "a", "content": [{"text": "ra"}]}},
    ]
    picture = {"image": {"format": "png", "source": {"bytes": "iVBO"}}}
    bedrock: Messages = [
        {"role": "system", "content": [{"text": "s"}, {"cachePoint": {"type": "default"}}]},
        {"role": "user", "content": [{"text": "q"}, picture]},
        {
            "role": "assistant",
            "content": [{"reasoningContent": {"redactedContent": "x"}}, {"text": "t"}, *asked],
        },
        {"role": "user", "content": [*results, {"document": {"name": "d"}}]},
        {"role": "assistant", "content": [{"text": "done"}]},
    ]
    tools = [{"toolSpec": {"name": "f", "description": "d", "inputSchema": {"json": {"type": "object"}}}}]
    [row], made = exported(talk_of(bedrock, tools), "openai")
    assert row["messages"][0]["content"] == "s"
    assert row["messages"][1]["content"][1]["image_url"]["url"] == "data:image/png;base64,iVBO"
    assert row["messages"][2]["content"] == "t"
    assert [call["id"] for call in row["messages"][2]["tool_calls"]] == ["a", "b"]
    assert [m["content"] for m in row["messages"] if m["role"] == "tool"] == ['{"y":1}', "ra"]
    function = {"name": "f", "description": "d", "parameters": {"type": "object"}}
    assert row["tools"] == [{"type": "function", "function": function}]
    lost = {"cache_control": 1, "document": 1, "encrypted reasoning": 1, "is_error of a tool result": 1}
    assert (made["lost"], made["refused"]) == (lost, [])


def test_g16_ollama_and_cohere() -> None:
    calls = [{"function": {"name": "f", "arguments": {"n": n}}} for n in (0, 1)]
    ollama: Messages = [
        {"role": "user", "content": "q", "images": ["iVBO"]},
        {"role": "assistant", "content": "", "tool_calls": calls},
        *({"role": "tool", "tool_name": "f", "content": str(n)} for n in (0, 1)),
        {"role": "assistant", "content": "done"},
    ]
    [row], made = exported(talk_of(ollama), "openai")
    asked = [call["id"] for call in row["messages"][1]["tool_calls"]]
    assert asked == [row["messages"][n]["tool_call_id"] for n in (2, 3)]
    assert (made["lost"], made["refused"]) == ({"image": 1}, [])
    cohere: Messages = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "tool_plan": "hm", "tool_calls": [{"id": "a", "type": "function", **calls[0]}]},
        {"role": "tool", "tool_call_id": "a", "content": [{"type": "document", "document": {"data": "d"}}]},
        {"role": "assistant", "content": [{"type": "text", "text": "done"}]},
    ]
    [row], made = exported(talk_of(cohere), "hf")
    assert row["messages"][1]["reasoning_content"] == "hm"
    assert (row["messages"][2]["content"], made["lost"]) == ("d", {})


def test_g16_arguments_that_are_no_object_are_not_made_one() -> None:
    """The model wrote no such call: who reads objects is given no row, who reads text the text."""
    for written in ('{"q": "a', "[1]"):
        said: Messages = [
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": None, "tool_calls": [call("c", written)]},
            {"role": "tool", "tool_call_id": "c", "content": "no JSON"},
            {"role": "assistant", "content": "done"},
        ]
        for format in ("hf", "sharegpt"):
            rows, made = exported(talk_of(said), format)
            assert rows == []
            assert made["refused"][0]["problems"] == ["arguments that are no JSON object"]
        [row], _ = exported(talk_of(said), "openai")
        assert row["messages"][1]["tool_calls"][0]["function"]["arguments"] == written
