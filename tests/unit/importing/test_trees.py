"""Exports that are trees: ChatGPT, pi, assistant-ui, OpenAssistant, ToolBench (row X5)."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from typing import Any

from lctl.importing import convert
from lctl.importing.source import Source
from tests.unit.importing.sources import imported, imported_lines, lost, said, tree

# -- ChatGPT ---------------------------------------------------------------------------------


def _node(
    id: str, parent: str | None, role: str = "user", text: str | None = None, **more: Any
) -> dict[str, Any]:
    message = {
        "id": id,
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": 1700000000.5 + int(id[1:]),
        "content": {"content_type": "text", "parts": [text or id]},
        "status": "finished_successfully",
        "recipient": "all",
        "metadata": {"model_slug": "gpt-4o"} if role == "assistant" else {},
        **more,
    }
    return {"id": id, "message": message, "parent": parent, "children": []}


def _chat(*nodes: dict[str, Any], current: str = "", id: str = "c1") -> dict[str, Any]:
    root: dict[str, Any] = {"id": "root", "message": None, "parent": None, "children": []}
    mapping = {node["id"]: node for node in (root, *nodes)}
    return {"title": "A chat", "conversation_id": id, "mapping": mapping, "current_node": current}


def test_x5_chatgpt_mapping_and_current_node() -> None:
    """Versions of a question are branches; the branch that was shown is the one that is."""
    from lctl.analysis.branches import active_leaf

    chat = _chat(
        _node("n1", "root"),
        _node("n2", "n1", "assistant"),
        _node("n3", "n2"),
        _node("n4", "n3", "assistant"),
        _node("n5", "n2"),
        _node("n6", "n5", "assistant"),
        current="n4",
    )
    found = imported(chat)
    conversation = tree(found)
    assert found.form == "chatgpt"
    assert [node.id for node in conversation["n2"].children] == ["n3", "n5"]
    assert [node.id for node in conversation.roots] == ["n1"]
    active = active_leaf(conversation)
    assert active is not None and active.id == "n4"
    assert conversation["n1"].data["details"]["conversation"] == {"title": "A chat", "id": "c1"}
    first = next(event for event in found.log.events() if event.type == "message")
    assert first.timestamp == "2023-11-14T22:13:21.500000Z"
    assert [e.data["model"] for e in found.log.events() if e.type == "step_end"] == ["gpt-4o"] * 3


def test_x5_chatgpt_tools_and_parts() -> None:
    """A message to a tool is a call, its answer a result; images and thoughts stay, said in the report."""
    code = {"content_type": "code", "language": "unknown", "text": "1+1"}
    image = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"}
    chat = _chat(
        _node("n1", "root", content={"content_type": "multimodal_text", "parts": [image, "what is it?"]}),
        _node("n2", "n1", "assistant", content=code, recipient="python"),
        _node("n3", "n2", "tool", content={"content_type": "execution_output", "text": "2"}),
        _node("n4", "n3", "assistant", content={"content_type": "thoughts", "thoughts": [{"content": "hm"}]}),
        current="n4",
    )
    found = imported(chat)
    conversation = tree(found)
    assert conversation["n1"].message["content"] == [image, {"type": "text", "text": "what is it?"}]
    calls = [event.data for event in found.log.events() if event.type == "tool_call"]
    assert [(call["tool"], call["input"], call["output"]) for call in calls] == [("python", "1+1", "2")]
    assert lost(found)["image or file that the export only points to"] == 1
    assert lost(found)["content of type thoughts: kept as it is"] == 1


def test_chatgpt_a_tool_that_says_several_things() -> None:
    """They are one path, in their order; a tool that failed says so; a sound is named as not there."""
    failed = {"content_type": "system_error", "name": "Timeout", "text": "too slow"}
    spoken = {
        "content_type": "multimodal_text",
        "parts": [
            {"content_type": "audio_transcription", "text": "hi", "direction": "in"},
            {
                "content_type": "real_time_user_audio_video_asset_pointer",
                "audio_asset_pointer": {"asset_pointer": "sediment://x"},
            },
        ],
    }
    thoughts = {"content_type": "thoughts", "thoughts": [{"summary": "S", "content": "hm"}]}
    chat = _chat(
        _node("n1", "root", content=spoken),
        _node("n2", "n1", "assistant", "q", recipient="web.run"),
        *(_node(f"n{n}", f"n{n - 1}", "tool") for n in (3, 4, 5)),
        _node("n6", "n5", "assistant", content=thoughts),
        _node("n7", "n6", "assistant", "q", recipient="web.run"),
        _node("n8", "n7", "tool", content=failed),
        current="n8",
    )
    found = imported(chat)
    conversation = tree(found)
    assert [node.id for node in conversation.path("n8")] == [f"n{n}" for n in range(1, 9)]
    assert [conversation[id].message.get("tool_call_id") for id in ("n3", "n4", "n5")] == ["n2", None, None]
    calls = [event.data for event in found.log.events() if event.type == "tool_call"]
    assert [(call.get("output"), call.get("error")) for call in calls] == [("n3", None), (None, "too slow")]
    assert lost(found)["image or file that the export only points to"] == 1
    from lctl.state.messages import reasoning_of

    assert reasoning_of(conversation["n6"].data) == "hm"


def test_x5_chatgpt_many_chats_from_the_zip() -> None:
    """Each chat is a conversation of its own; a chat that was cut or points nowhere is reported."""
    chats = [
        _chat(_node("n1", "root"), current="n1", id="one"),
        _chat(_node("n2", "gone"), current="n9", id="two"),
    ]
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("chat.html", "<html>")
        archive.writestr("conversations.json", json.dumps(chats))
    found = convert(Source(held.getvalue(), "export.zip"))
    conversation = tree(found)
    assert conversation.conversations == ["one", "two"]
    assert lost(found) == {
        "node whose parent is not in the mapping": 1,
        "current_node that is not in the mapping": 1,
    }
    assert [node.id for node in conversation.orphans] == ["n2"]


def test_chatgpt_empty_nodes_in_a_circle() -> None:
    """A damaged export ends: what was shown is reported as not there, the messages are all read."""
    chat = _chat(_node("n1", "root"), current="e1")
    chat["mapping"] |= {
        id: {"id": id, "message": None, "parent": other} for id, other in (("e1", "e2"), ("e2", "e1"))
    }
    found = convert(Source(json.dumps([chat]).encode(), "conversations.json"))
    assert [node.id for node in tree(found)] == ["n1"]
    assert lost(found) == {"current_node that is not in the mapping": 1}


def test_what_is_wrong_with_a_compressed_export_is_reported() -> None:
    """All that can be unpacked is imported; a wrong checksum is said."""
    packed = bytearray(gzip.compress(json.dumps([_chat(_node("n1", "root"), current="n1")]).encode()))
    packed[-6] ^= 1
    found = convert(Source(bytes(packed), "conversations.json.gz"))
    assert [node.id for node in tree(found)] == ["n1"]
    assert [text for text in lost(found) if text.startswith("the checksum of the compressed stream")]


# -- pi --------------------------------------------------------------------------------------

_PI = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/w"}


def _entry(id: str, parent: str | None, type: str = "message", **more: Any) -> dict[str, Any]:
    return {"type": type, "id": id, "parentId": parent, "timestamp": "2026-01-01T00:00:01.000Z", **more}


def _pi_said(role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"message": {"role": role, "content": content, "timestamp": 1767225600000, **more}}


def test_x5_pi_entries_branches_tools_and_labels() -> None:
    """Entries that are no messages are passed over; tool calls and results meet; labels are facts."""
    call = {"type": "toolCall", "id": "t1", "name": "bash", "arguments": {"command": "ls"}}
    usage = {"input": 10, "output": 4, "cacheRead": 6, "cacheWrite": 0}
    rows = [
        _PI,
        _entry("e1", None, **_pi_said("user", "look")),
        _entry("e2", "e1", "model_change", provider="anthropic", modelId="claude-sonnet-4-5"),
        _entry(
            "e3",
            "e2",
            **_pi_said("assistant", [{"type": "text", "text": "so"}, call], model="m", usage=usage),
        ),
        _entry(
            "e4",
            "e3",
            **_pi_said("toolResult", [{"type": "text", "text": "a b"}], toolCallId="t1", toolName="bash"),
        ),
        _entry("e5", "e4", **_pi_said("assistant", [], model="m", stopReason="aborted")),
        _entry("e6", "e1", **_pi_said("assistant", [{"type": "text", "text": "other"}], model="m")),
        _entry("e7", "e6", "label", targetId="e6", label="good"),
    ]
    found = imported_lines(rows)
    conversation = tree(found)
    assert found.form == "pi"
    assert [node.id for node in conversation["e1"].children] == ["e3", "e6"]
    assert [node.id for node in conversation["e5"].path] == ["e1", "e3", "e4", "e5"]
    assert conversation["e5"].status == "aborted"
    events = list(found.log.events())
    (tool,) = (event.data for event in events if event.type == "tool_call")
    assert (tool["tool"], tool["input"], tool["call_id"]) == ("bash", {"command": "ls"}, "t1")
    tokens = next(event.data["tokens"] for event in events if event.type == "step_end")
    assert tokens == {"input": 16, "output": 4, "cache_read": 6, "cache_write": 0}
    assert [e.data["about"] for e in events if e.type == "fact_added"] == ["e6"]
    assert lost(found) == {"model_change entry: no message": 1}


def test_x5_pi_compaction_is_its_summary_and_what_was_kept() -> None:
    """The context after it: summary, the kept messages as copies, what follows. The old path stays."""
    rows = [_PI]
    rows += [
        _entry(f"e{n}", f"e{n - 1}" if n > 1 else None, **_pi_said("user", f"m{n}")) for n in range(1, 5)
    ]
    rows.append(_entry("c1", "e4", "compaction", summary="so far", firstKeptEntryId="e3", tokensBefore=9))
    rows.append(_entry("e5", "c1", **_pi_said("user", "m5")))
    conversation = tree(imported_lines(rows))
    assert [text for _, text in said(conversation, "e5")] == ["so far", "m3", "m4", "m5"]
    assert [text for _, text in said(conversation, "e4")] == ["m1", "m2", "m3", "m4"]
    assert conversation["c1+1"].origin == conversation["e3"]


def test_x5_pi_orphans_and_version_one() -> None:
    """A missing parent is said; sessions without ids are one line of messages."""
    found = imported_lines([_PI, _entry("e1", "gone", **_pi_said("user", "x"))])
    assert lost(found) == {"entry whose parent is not in the file": 1}
    assert [node.id for node in tree(found).orphans] == ["e1"]
    plain = [{"type": "message", **_pi_said("user", str(n))} for n in range(3)]
    conversation = tree(imported_lines([_PI, *plain]))
    assert [text for _, text in said(conversation, conversation.leaves[0].id)] == ["0", "1", "2"]


# -- assistant-ui ----------------------------------------------------------------------------


def _aui(id: str, parent: str | None, role: str, *content: dict[str, Any], **more: Any) -> dict[str, Any]:
    message = {
        "id": id,
        "role": role,
        "content": list(content),
        "createdAt": "2026-01-01T00:00:00.000Z",
        **more,
    }
    return {"message": message, "parentId": parent}


def test_x5_assistant_ui_repository() -> None:
    """Branches, the shown head, and a message that holds tool calls and results as those of a model."""
    text = {"type": "text", "text": "hi"}
    call = {
        "type": "tool-call",
        "toolCallId": "t1",
        "toolName": "w",
        "args": {"q": 1},
        "argsText": '{"q": 1}',
        "result": 7,
    }
    repository = {
        "headId": "a2",
        "messages": [
            _aui("u1", None, "user", text),
            _aui("a1", "u1", "assistant", text, status={"type": "incomplete", "reason": "cancelled"}),
            _aui("a2", "u1", "assistant", text, call, {"type": "text", "text": "seven"}),
            _aui("u2", "a2", "user", text),
        ],
    }
    found = imported(repository)
    conversation = tree(found)
    assert found.form == "assistant-ui"
    assert [node.id for node in conversation["u1"].children] == ["a1", "a2"]
    assert conversation["a1"].status == "aborted"
    assert said(conversation, "u2") == [
        ("user", "hi"),
        ("assistant", "hi"),
        ("tool", "7"),
        ("assistant", "seven"),
        ("user", "hi"),
    ]
    (tool,) = (event.data for event in found.log.events() if event.type == "tool_call")
    assert (tool["tool"], tool["input"], tool["output"]) == ("w", {"q": 1}, "7")
    (selected,) = (event.data for event in found.log.events() if event.type == "view_select")
    assert selected["message_id"] == "a2#2"


def test_x5_assistant_ui_children_before_their_parents() -> None:
    """What follows an answer with tools follows its last part, wherever in the file it stands."""
    text = {"type": "text", "text": "hi"}
    call = {"type": "tool-call", "toolCallId": "t1", "toolName": "w", "args": {}, "result": 7}
    rows = [
        _aui("a10", "a1", "user", text),
        _aui("a1", "u1", "assistant", call),
        _aui("u1", None, "user", text),
    ]
    conversation = tree(imported({"messages": rows}))
    assert [node.id for node in conversation["a10"].path] == ["u1", "a1", "a1:t1", "a10"]


def test_x5_assistant_ui_storage_rows() -> None:
    """The rows its cloud keeps, newest first."""
    rows = [
        {
            "id": "a1",
            "parent_id": "u1",
            "format": "aui/v0",
            "content": {"role": "assistant", "content": [{"type": "text", "text": "yo"}]},
        },
        {
            "id": "u1",
            "parent_id": None,
            "format": "aui/v0",
            "content": {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        },
    ]
    assert said(tree(imported({"messages": rows})), "a1") == [("user", "hi"), ("assistant", "yo")]


# -- OpenAssistant ---------------------------------------------------------------------------


def test_x5_oasst_trees_and_messages() -> None:
    """The same conversation from either form; ranks are facts, the best the greatest."""
    reply = {
        "message_id": "a1",
        "parent_id": "u1",
        "role": "assistant",
        "text": "one",
        "rank": 1,
        "replies": [],
    }
    better = {**reply, "message_id": "a2", "text": "two", "rank": 0, "lang": "en"}
    prompt = {
        "message_id": "u1",
        "role": "prompter",
        "text": "q",
        "created_date": "2023-02-05T14:23:50+00:00",
    }
    row = {"message_tree_id": "u1", "tree_state": "ready", "prompt": {**prompt, "replies": [reply, better]}}
    flat = [
        {**one, "message_tree_id": "u1", "parent_id": one.get("parent_id")} for one in (prompt, reply, better)
    ]
    for found in (imported_lines([row, row]), imported_lines(flat)):
        conversation = tree(found)
        assert found.form == "oasst"
        assert said(conversation, "a2") == [("user", "q"), ("assistant", "two")]
        assert [node.id for node in conversation["u1"].children] == ["a1", "a2"]
        ranks = {e.data["about"]: e.data["value"] for e in found.log.events() if e.type == "fact_added"}
        assert ranks == {"a1": -1, "a2": 0}


def test_x5_oasst_many_trees_are_many_conversations() -> None:
    rows = [
        {"message_tree_id": f"t{n}", "prompt": {"message_id": f"u{n}", "role": "prompter", "text": "q"}}
        for n in range(3)
    ]
    assert tree(imported_lines(rows)).conversations == ["t0", "t1", "t2"]


# -- ToolBench -------------------------------------------------------------------------------


def _step(type: str, description: str, *children: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"node_type": type, "description": description, "children": list(children), **more}


def test_x5_toolbench_thoughts_actions_and_observations() -> None:
    """Thought, action and input are one message; what was observed is the tool's; forks are forks."""
    end = _step("Action", "Finish", _step("Action Input", "{}", observation="done", observation_code=3))
    stray = _step("Thought", "give up", pruned=True)
    first = _step("Action Input", '{"q": 1}', end, stray, observation="42", observation_code=0)
    root = _step("Action Input", "", _step("Thought", "I look", _step("Action", "search", first)))
    document = {
        "win": True,
        "tree": {"tree": root},
        "answer_generation": {"query": "how many?", "train_messages": []},
    }
    found = imported(document)
    conversation = tree(found)
    assert found.form == "toolbench"
    assert [len(node.path) for node in conversation.leaves] == [5, 4]
    leaf = conversation.leaves[0].id
    messages = conversation.transcript(leaf)
    assert [m["role"] for m in messages] == ["user", "assistant", "tool", "assistant", "tool"]
    assert messages[1]["content"] == "I look"
    assert messages[1]["tool_calls"][0]["function"] == {"name": "search", "arguments": '{"q": 1}'}
    assert messages[2]["content"] == "42"
    assert conversation.leaves[1].text == "give up"
