"""Lists of messages, datasets and traces (row X5)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lctl.analysis.transcripts import transcript_json
from lctl.errors import NotImportable
from tests.unit.importing.sources import Rows, imported, imported_lines, load, lost, said, tree

CHAT: Rows = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "2+2?"}], "name": "ann"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 2}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "4"},
    {"role": "assistant", "content": "4", "refusal": None, "weight": 1},
]


@pytest.mark.parametrize(
    "data",
    [
        json.dumps(CHAT),
        json.dumps({"messages": CHAT, "tools": [{"type": "function"}], "id": "conv-1"}),
        json.dumps([{"messages": CHAT}]),
        json.dumps([CHAT]),
        "\n".join(map(json.dumps, CHAT)),
        "\ufeff" + json.dumps(CHAT, indent=2),
    ],
    ids=["list", "object", "list of objects", "list of lists", "lines", "indented with BOM"],
)
def test_x5_openai_messages_come_back_as_they_were(data: str) -> None:
    """Key for key, in every way such lists are written."""
    found = imported(data.encode())
    conversation = tree(found)
    (leaf,) = conversation.leaves
    assert found.form == "openai"
    assert conversation.transcript(leaf.id) == CHAT
    (tool,) = (event.data for event in found.log.events() if event.type == "tool_call")
    assert (tool["tool"], tool["input"], tool["output"]) == ("add", {"a": 2}, "4")
    assert found.lost == []


def test_x5_exported_as_messages_lists_are_what_they_were() -> None:
    """`lctl export --format messages`: pictures, names, weights, refusals and arguments to the letter; what
    is null is left out."""
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "iVBORw0KGgo" * 600}}
    messages: Rows = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "What is it?"}, picture]},
        {"role": "assistant", "content": "No.", "refusal": "I cannot say.", "weight": 0},
        *CHAT[2:],
        {"role": "function", "name": "add", "content": "4"},
    ]
    (row,) = transcript_json(imported({"messages": messages}).log)
    assert row["messages"] == [
        {key: value for key, value in message.items() if key == "content" or value is not None}
        for message in messages
    ]


def test_x5_messages_of_anthropic_come_out_as_openai_takes_them() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo" * 600}
    asked: Rows = [
        {"role": "user", "content": [{"type": "image", "source": source}, {"type": "text", "text": "See?"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "1"}]},
    ]
    (row,) = transcript_json(imported({"messages": asked, "system": "S"}).log)
    system, user, assistant, tool = row["messages"]
    assert (system["content"], tool) == ("S", {"role": "tool", "tool_call_id": "t", "content": "1"})
    url = f"data:image/png;base64,{source['data']}"
    assert {"type": "image_url", "image_url": {"url": url}} in user["content"]
    assert assistant["tool_calls"][0]["function"] == {"name": "f", "arguments": '{"a":1}'}


def test_x5_lines_of_conversations_are_conversations() -> None:
    """A dataset: each line one, by its id where it has one; two of the same id stay two."""
    rows: Rows = [{"id": "x", "messages": CHAT}, {"messages": CHAT[:2]}, {"id": "x", "messages": CHAT[:3]}]
    conversation = tree(imported_lines(rows))
    assert len(conversation.roots) == 3
    assert sorted(len(leaf.path) for leaf in conversation.leaves) == [2, 3, 5]
    assert len(set(conversation.conversations)) == 3


def test_x5_anthropic_requests_have_their_system_first() -> None:
    messages = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": [{"type": "text", "text": "a"}]},
    ]
    conversation = tree(imported({"model": "claude", "system": "Be brief.", "messages": messages}))
    (leaf,) = conversation.leaves
    assert conversation.transcript(leaf.id) == [{"role": "system", "content": "Be brief."}, *messages]


def test_x5_keys_that_a_log_needs_itself_are_kept_aside_and_said() -> None:
    """A message with a `status` of its own does not become a stream that never ends."""
    found = imported([{"role": "user", "content": "q", "status": "streaming", "details": {"a": 1}}])
    (node,) = tree(found)
    assert node.status == "complete"
    assert node.data["details"]["source"] == {"status": "streaming", "details": {"a": 1}}
    assert sum(lost(found).values()) == 2


def test_x5_messages_that_a_list_says_nothing_of_are_not_sampled() -> None:
    """Whether a model said it, with this prompt, a list does not tell; but for answers with a weight."""
    found = imported([{key: value for key, value in one.items() if key != "weight"} for one in CHAT])
    assert not any(node.sampled for node in tree(found))
    weighed = imported([*CHAT[:2], {**CHAT[2], "weight": 0}, *CHAT[3:]])
    assert [node.sampled for node in tree(weighed)] == [False] * 4 + [True]


def test_x5_sharegpt_turns_system_tools_and_calls() -> None:
    """Every speaker is a role; a function_call and its observation meet."""
    row = {
        "id": "g1",
        "system": "sys",
        "tools": "[]",
        "conversations": [
            {"from": "human", "value": "q"},
            {"from": "function_call", "value": '{"name": "f", "arguments": {"a": 1}}'},
            {"from": "observation", "value": "r"},
            {"from": "gpt", "value": "done"},
            {"from": "narrator", "value": "?"},
        ],
    }
    found = imported([row, {**row, "id": "g2"}])
    conversation = tree(found)
    assert found.form == "sharegpt"
    assert conversation.conversations == ["g1", "g2"]
    assert [role for role, _ in said(conversation, "g1/m6")] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
    ]
    calls = [event.data for event in found.log.events() if event.type == "tool_call"]
    assert [(call["tool"], call["input"], call["output"]) for call in calls] == [("f", {"a": 1}, "r")] * 2
    assert lost(found) == {"speaker that is no known role; taken as a user": 2}


def test_x5_sharegpt_words_that_are_no_call_stay_words() -> None:
    row = {"conversations": [{"from": "human", "value": "q"}, {"from": "function_call", "value": "nonsense"}]}
    found = imported(row)
    assert said(tree(found), "m2") == [("user", "q"), ("assistant", "nonsense")]
    assert len(found.lost) == 1


def test_x5_langfuse_calls_of_one_conversation_are_one_path() -> None:
    """The second call's prompt is found again among the first's messages; a tool's run answers its call."""
    asked = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "w", "arguments": '{"q":1}'}}],
    }
    told = {"role": "tool", "tool_call_id": "c1", "content": "5"}
    user, end = {"role": "user", "content": "q"}, {"role": "assistant", "content": "five"}

    def observed(id: str, at: int, type: str, input: Any, output: Any, **more: Any) -> dict[str, Any]:
        time = f"2026-01-01T00:00:0{at}.000Z"
        return {
            "id": id,
            "traceId": "t",
            "type": type,
            "startTime": time,
            "endTime": time,
            "input": input,
            "output": output,
            **more,
        }

    observations = [
        observed("g2", 3, "GENERATION", json.dumps([user, asked, told]), json.dumps(end), model="gpt-4o"),
        observed(
            "g1",
            1,
            "GENERATION",
            {"messages": [user]},
            asked,
            model="gpt-4o",
            usageDetails={"input": 3, "output": 1},
        ),
        observed("t1", 2, "TOOL", {"input": {"q": 1}}, "5", name="w"),
        observed("s1", 0, "SPAN", None, None, name="outer"),
    ]
    score = {"id": "z", "name": "good", "value": 1, "comment": "yes"}
    found = imported({"trace": {"id": "t", "name": "run", "scores": [score]}, "observations": observations})
    conversation = tree(found)
    assert found.form == "langfuse"
    (leaf,) = conversation.leaves
    assert conversation.transcript(leaf.id) == [user, asked, told, end]
    (fact,) = (event.data for event in found.log.events() if event.type == "fact_added")
    assert (fact["about"], fact["value"]) == (leaf.id, 1)


def test_x5_spans_of_one_conversation_are_one_path() -> None:
    """A tool loop traced by the GenAI conventions and by OpenInference: each call once, one path."""
    call = {"type": "tool_call", "id": "c1", "name": "add", "arguments": {"a": 2}}
    told = {"type": "tool_call_response", "id": "c1", "response": "4"}
    user = {"role": "user", "parts": [{"type": "text", "content": "2+2?"}]}
    asked = {"role": "assistant", "parts": [call], "finish_reason": "tool_call"}
    answered = {"role": "tool", "parts": [told]}
    end = {"role": "assistant", "parts": [{"type": "text", "content": "4"}]}

    def span(n: int, **attributes: Any) -> dict[str, Any]:
        tagged = [{"key": key, "value": value} for key, value in attributes.items()]
        return {
            "traceId": "t", "spanId": f"s{n}", "startTimeUnixNano": str(1767225600 * 10**9 + n * 10**9),
            "endTimeUnixNano": str(1767225600 * 10**9 + n * 10**9 + 5 * 10**8), "attributes": tagged,
        }  # fmt: skip

    def genai(n: int, read: Rows, gave: Rows) -> dict[str, Any]:
        return span(
            n, **{
                "gen_ai.input.messages": {"stringValue": json.dumps(read)},
                "gen_ai.output.messages": {"stringValue": json.dumps(gave)},
                "gen_ai.response.model": {"stringValue": "gpt-4o"},
                "gen_ai.usage.output_tokens": {"intValue": "3"},
            },
        )  # fmt: skip

    other = span(0, **{"http.route": {"stringValue": "/"}})
    spans = [genai(2, [user, asked, answered], [end]), other, genai(1, [user], [asked])]
    document = {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}
    flat = {
        "llm.model_name": "gpt-4o", "llm.token_count.completion": 3,
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.contents.0.message_content.type": "text",
        "llm.input_messages.0.message.contents.0.message_content.text": "2+2?",
        "llm.input_messages.1.message.role": "assistant",
        "llm.input_messages.1.message.tool_calls.0.tool_call.id": "c1",
        "llm.input_messages.1.message.tool_calls.0.tool_call.function.name": "add",
        "llm.input_messages.1.message.tool_calls.0.tool_call.function.arguments": '{"a":2}',
        "llm.input_messages.2.message.role": "tool", "llm.input_messages.2.message.tool_call_id": "c1",
        "llm.input_messages.2.message.content": "4",
        "llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.content": "4",
    }  # fmt: skip
    expected = [("user", "2+2?"), ("assistant", None), ("tool", "4"), ("assistant", "4")]
    for value, calls in ((document, 2), (flat, 1)):
        found = imported(value)
        conversation = tree(found)
        (leaf,) = conversation.leaves
        assert found.form == "otlp"
        assert said(conversation, leaf.id) == expected
        ends = [e.data for e in found.log.events() if e.type == "step_end" and "tokens" in e.data]
        assert [(one["model"], one["tokens"]["output"]) for one in ends] == [("gpt-4o", 3)] * calls
        (tool,) = (event.data for event in found.log.events() if event.type == "tool_call")
        assert (tool["tool"], tool["input"], tool["output"]) == ("add", {"a": 2}, "4")
    steps = [event.data for event in imported(document).log.events() if event.type == "step_start"]
    assert [step["kind"] for step in steps] == ["span", "llm", "llm"]
    assert steps[0]["span"]["attributes"] == {"http.route": "/"} and lost(imported(document)) == {}
    assert [e.data["duration_ms"] for e in imported(document).log.events() if e.type == "step_end"] == [
        500.0
    ] * 3


def test_x5_a_span_of_a_call_that_failed() -> None:
    """Its prompt is there, its step ends with the error, and no message is made up."""
    attributes = {
        "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": "q"}]}])
    }
    span = {"name": "chat", "attributes": attributes, "status": {"code": 2, "message": "404 no such model"}}
    found = imported([span])
    assert [event.type for event in found.log.events()] == ["message", "step_start", "error", "step_end"]
    error, end = list(found.log.events())[2:]
    assert error.data["message"] == "404 no such model" and end.data["outcome"] == "error"
    assert len(tree(found)) == 1 and found.lost == []


def test_x5_the_page_names_every_form() -> None:
    """docs/import.md and the registry."""
    import re

    from lctl.importing.registry import FORMS

    page = (Path(__file__).parents[3] / "docs" / "import.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`[^|]*) \|", page, re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`([^`]+)`", row)} == set(FORMS)


def test_a_stored_call_of_the_responses_api() -> None:
    """What it gave goes on behind what it read, below its instructions."""
    found = imported(
        {
            "object": "response",
            "model": "gpt-5",
            "instructions": "Be brief.",
            "input": [{"role": "user", "content": "q"}],
            "output": [
                {"type": "reasoning", "id": "rs_1", "summary": []},
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]},
            ],
        }
    )
    made = tree(found)
    (leaf,) = made.leaves
    assert [node.role for node in made.path(leaf.id)][:2] == ["system", "user"]
    assert (leaf.role, leaf.text, lost(found)) == ("assistant", "a", {})


def test_a_data_set_in_parquet(tmp_path: Path) -> None:
    """Row by row; a key that another message of the column has is not there where it is null."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    asked, more = {"role": "user", "content": "q"}, {"role": "user", "content": "r"}
    first = [asked, {"role": "assistant", "content": None, "tool_calls": [call]}]
    second = [more, asked]
    rows = [{"id": "a", "messages": first}, {"id": "b", "messages": second}]
    file = tmp_path / "rows.parquet"
    pq.write_table(pa.Table.from_pylist(rows), file)
    found = load(str(file))
    assert (found.form, found.lost) == ("openai", [])
    conversation = tree(found)
    assert conversation.transcript("a/m2") == [asked, {"role": "assistant", "tool_calls": [call]}]
    assert conversation.transcript("b/m2") == second
    with pytest.raises(NotImportable, match="a Parquet file that cannot be read"):
        imported(file.read_bytes()[:-9])
