"""Sessions of Claude Code: the failures its users met, each of them (row X5)."""

from __future__ import annotations

import json
from pathlib import Path

from lctl.training import samples
from lctl.training.exporting import Export
from tests.unit.importing.sources import (
    claude_row,
    imported_lines,
    load,
    lost,
    result,
    said,
    task,
    tree,
    written,
)


def test_x5_rows_are_messages_with_their_ids_times_models_and_usage() -> None:
    """What a row says is in the log: uuid, time, model, tokens as the protocol counts them."""
    found = imported_lines(
        [claude_row("u1", None), claude_row("a1", "u1", "assistant", timestamp="2026-01-01T00:00:02.500Z")]
    )
    conversation = tree(found)
    assert found.form == "claude-code" and "parentUuid" in found.shown
    assert said(conversation, "a1") == [("user", "u1"), ("assistant", "a1")]
    assert conversation["a1"].sampled and not conversation["u1"].sampled
    start, end = (event for event in found.log.events() if event.type in ("step_start", "step_end"))
    assert start.data["model"] == "claude-sonnet-4-5" and start.data["prompt"] == "u1"
    assert end.data["tokens"] == {"input": 15, "output": 3, "cache_read": 5, "cache_write": 0}
    assert (start.timestamp, end.timestamp) == ("2026-01-01T00:00:00.000000Z", "2026-01-01T00:00:02.500000Z")
    assert found.log.chain["imported"]["session"]["sessionId"] == "s1"


def test_x5_one_answer_in_several_rows_is_one_call() -> None:
    """Claude Code writes a row for each block of an answer and repeats its usage: it counts once."""
    answer = {"id": "msg_1", "usage": {"input_tokens": 7, "output_tokens": 9}}
    rows = [claude_row("u1", None)]
    rows += [
        claude_row(f"a{n}", "u1" if n == 1 else f"a{n - 1}", "assistant", message=answer) for n in (1, 2, 3)
    ]
    found = imported_lines(rows)
    ends = [event.data for event in found.log.events() if event.type == "step_end"]
    assert [end["tokens"]["output"] for end in ends] == [9]
    assert ends[0]["message"] == "a3"
    assert [node.id for node in tree(found)["a3"].path] == ["u1", "a1", "a2", "a3"]


def test_x5_progress_is_no_branch() -> None:
    """Progress and system rows stand in the chain of uuids; the messages around them are neighbours."""
    rows = [
        claude_row("u1", None),
        {"type": "progress", "uuid": "p1", "parentUuid": "u1", "sessionId": "s1", "data": {}},
        claude_row("a1", "p1", "assistant"),
        {"type": "progress", "uuid": "p2", "parentUuid": "a1", "sessionId": "s1"},
        {"type": "progress", "uuid": "p3", "parentUuid": "p2", "sessionId": "s1"},
        {"type": "system", "subtype": "info", "uuid": "s1", "parentUuid": "p3", "sessionId": "s1"},
        claude_row("u2", "s1"),
        {"type": "file-history-snapshot", "messageId": "x", "snapshot": {}},
    ]
    found = imported_lines(rows)
    conversation = tree(found)
    assert [node.id for node in conversation.leaves] == ["u2"]
    assert [node.id for node in conversation["u2"].path] == ["u1", "a1", "u2"]
    assert lost(found)["progress row: no message"] == 3
    assert lost(found)["system (info) row: no message"] == 1


def test_x5_a_dangling_parent_is_reported_and_nothing_is_cut() -> None:
    """The message stays, as an orphan that names what is missing; the rest is as it was."""
    rows = [claude_row("u1", None), claude_row("a1", "u1", "assistant"), claude_row("u9", "gone")]
    rows.append(claude_row("a9", "u9", "assistant"))
    found = imported_lines(rows)
    conversation = tree(found)
    assert len(conversation) == 4
    assert [node.id for node in conversation.orphans] == ["u9"]
    assert conversation.is_complete("a1") and not conversation.is_complete("a9")
    (loss,) = (loss for loss in found.lost if "parent" in loss.what)
    assert loss.times == 1 and "gone" in loss.where[0] and "line 3" in loss.where[0]


def test_x5_a_progress_row_that_hangs_on_nothing_is_dangling_too() -> None:
    """The missing row is named, not the progress row between."""
    progress = {"type": "progress", "uuid": "p1", "parentUuid": "gone", "sessionId": "s1"}
    found = imported_lines([claude_row("u0", None), progress, claude_row("u1", "p1")])
    (orphan,) = tree(found).orphans
    assert tree(found).declared_parent(orphan.number) == "gone"


def test_x5_the_same_uuid_twice() -> None:
    """Lines written again are taken once; two rows of one uuid that differ are said, the first stands."""
    twice = claude_row("a1", "u1", "assistant")
    rows = [claude_row("u1", None), twice, twice, twice, claude_row("a1", "u1", "assistant", "other")]
    found = imported_lines(rows)
    conversation = tree(found)
    assert lost(found)["message there twice, taken once"] == 2
    assert lost(found)["message whose id was used before for another one; the first stands"] == 1
    assert conversation["a1"].text == "a1" and len(conversation) == 2
    assert [note.code for note in conversation.diagnostics] == ["msg_conflict"]


def test_x5_parallel_tool_results_are_one_path() -> None:
    """Each result hangs on the row of its call; read as branches, all but one would be lost."""
    answer = {"id": "msg_1"}
    rows = [
        claude_row("u1", None),
        claude_row("a1", "u1", "assistant", [task("t1", "x")], message=answer),
        claude_row("a2", "a1", "assistant", [task("t2", "y")], message=answer),
        claude_row("r1", "a1", content=[result("t1", "one")]),
        claude_row("r2", "a2", content=[result("t2", "two")]),
        claude_row("a3", "r1", "assistant"),
    ]
    found = imported_lines(rows)
    assert [node.id for node in tree(found).leaves] == ["a3"]
    assert [node.id for node in tree(found)["a3"].path] == ["u1", "a1", "a2", "r1", "r2", "a3"]
    calls = [event.data for event in found.log.events() if event.type == "tool_call"]
    assert [(call["call_id"], call["output"]) for call in calls] == [("t1", "one"), ("t2", "two")]


def test_x5_an_answer_that_goes_on_after_a_result_is_one() -> None:
    """A tool ran while its answer was still given: the next row of that hangs below the result."""
    answer = {"id": "msg_1"}
    rows = [
        claude_row("u1", None),
        claude_row("a1", "u1", "assistant", [task("t1", "x")], message=answer),
        claude_row("r1", "a1", content=[result("t1", "one")]),
        claude_row("a2", "r1", "assistant", [task("t2", "y")], message=answer),
        claude_row("r2", "a2", content=[result("t2", "two")]),
        claude_row("a3", "r2", "assistant"),
    ]
    found = tree(imported_lines(rows))
    assert [node.id for node in found["a3"].path] == ["u1", "a1", "a2", "r1", "r2", "a3"]
    assert found.forest.diagnostics == []


def test_x5_the_rows_of_an_answer_are_trained_as_one() -> None:
    """All of it is the model's: one message where the form has messages of chats."""
    answer = {"id": "msg_1", "usage": {"input_tokens": 7, "output_tokens": 9}}
    rows = [
        claude_row("u1", None),
        claude_row("a1", "u1", "assistant", [{"type": "text", "text": "Look."}], message=answer),
        claude_row("a2", "a1", "assistant", [task("t1", "x")], message=answer),
        claude_row("a3", "a2", "assistant", [task("t2", "y")], message=answer),
        claude_row("r1", "a2", content=[result("t1", "one")]),
        claude_row("r2", "a3", content=[result("t2", "two")]),
        claude_row("a4", "r2", "assistant"),
    ]
    found = imported_lines(rows)
    [row] = samples(tree(found))
    assert row.weights == [0, 1, 1, 1, 0, 0, 1]
    assert row.trained_tokens == 9 + 3
    export = Export(found.log, "openai")
    [line] = [json.loads(piece) for piece in export.pieces()]
    assert [message["role"] for message in line["messages"]] == [
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
    ]
    assert line["messages"][1]["content"] == "Look."
    assert [call["id"] for call in line["messages"][1]["tool_calls"]] == ["t1", "t2"]
    assert export.manifest("x")["trained"] == 4


def test_x5_a_call_answered_again_is_an_alternative() -> None:
    """A retried tool is a branch, unlike parallel results."""
    rows = [
        claude_row("u1", None),
        claude_row("a1", "u1", "assistant", [task("t1", "x")]),
        claude_row("r1", "a1", content=[result("t1", "one")]),
        claude_row("r2", "a1", content=[result("t1", "again")]),
    ]
    assert [node.id for node in tree(imported_lines(rows)).leaves] == ["r1", "r2"]


def test_x5_sidechains_are_nested_in_the_call_that_started_them() -> None:
    """By the prompt that both have; the main chain stays as it was."""
    rows = [
        claude_row("u1", None),
        claude_row("a1", "u1", "assistant", [task("t1", "find it"), task("t2", "count it")]),
        claude_row("s1", None, content="count it", isSidechain=True),
        claude_row("s2", "s1", "assistant", isSidechain=True),
        claude_row("k1", None, content="find it", isSidechain=True),
        claude_row("k2", "k1", "assistant", isSidechain=True),
        claude_row("r1", "a1", content=[result("t1", "found"), result("t2", "3")]),
        claude_row("a2", "r1", "assistant"),
    ]
    conversation = tree(imported_lines(rows))
    assert [node.id for node in conversation["a1"].nested] == ["s1", "k1"]
    assert conversation["s1"].data["nested_in"] == {"message_id": "a1", "tool_call_id": "t2"}
    assert conversation["k1"].data["nested_in"] == {"message_id": "a1", "tool_call_id": "t1"}
    assert [node.id for node in conversation["a2"].path] == ["u1", "a1", "r1", "a2"]
    assert [node.id for node in conversation["s2"].path] == ["s1", "s2"]
    assert conversation["s2"].conversation != conversation["k2"].conversation
    assert conversation.tip() == conversation["a2"]


def test_x5_sub_agents_in_files_of_their_own(tmp_path: Path) -> None:
    """Files beside the session, with the call's id beside them or in the tool's result."""
    rows = [
        claude_row("u1", None),
        claude_row("a1", "u1", "assistant", [task("t1", "x"), task("t2", "y")]),
        claude_row("r1", "a1", content=[result("t2", "done")], toolUseResult={"agentId": "b7"}),
    ]
    path = written(tmp_path / "s1.jsonl", rows)
    folder = tmp_path / "s1" / "subagents"
    written(folder / "agent-a3.jsonl", [claude_row("x1", None, isSidechain=True, agentId="a3")])
    (folder / "agent-a3.meta.json").write_text(json.dumps({"agentType": "Explore", "toolUseId": "t1"}))
    written(tmp_path / "agent-b7.jsonl", [claude_row("y1", None, isSidechain=True, agentId="b7")])
    written(tmp_path / "agent-other.jsonl", [claude_row("z1", None, isSidechain=True, sessionId="s2")])
    found = load(str(path))
    conversation = tree(found)
    assert conversation["x1"].data["nested_in"] == {"message_id": "a1", "tool_call_id": "t1"}
    assert conversation["y1"].data["nested_in"] == {"message_id": "a1", "tool_call_id": "t2"}
    assert "z1" not in conversation
    agents = {
        event.data["message_id"]: event.agent for event in found.log.events() if event.type == "message"
    }
    assert (agents["x1"], agents["y1"], agents["u1"]) == ("Explore", "Explore", "claude-code")


def test_x5_a_sub_agent_without_its_call_is_reported() -> None:
    """A conversation of its own, not a branch of the main one."""
    found = imported_lines([claude_row("u1", None), claude_row("s1", "u1x", isSidechain=True, agentId="q")])
    assert "message whose parent is not in the file" in lost(found)
    found = imported_lines([claude_row("u1", None), claude_row("s1", None, isSidechain=True, agentId="q")])
    assert lost(found)["sub-agent whose tool call is not in the file; a conversation of its own"] == 1
    assert [node.id for node in tree(found).leaves] == ["u1", "s1"]
    assert tree(found)["s1"].conversation == "q"


def test_x5_a_main_message_bridged_into_a_sub_agent_comes_back() -> None:
    """A recovered session may go on below a sub-agent's message: the main chain must not pass through it."""
    rows = [
        claude_row("u1", None),
        claude_row("a1", "u1", "assistant", [task("t1", "x")]),
        claude_row("s1", "a1", content="x", isSidechain=True),
        claude_row("s2", "s1", "assistant", isSidechain=True),
        claude_row("u2", "s2"),
    ]
    found = imported_lines(rows)
    assert [node.id for node in tree(found)["u2"].path] == ["u1", "a1", "u2"]
    assert lost(found)["message of the main chain that followed a sub-agent's; put after its call"] == 1


def test_x5_edits_and_regenerations_are_branches() -> None:
    """Two rows below one row are two branches, whatever their times."""
    rows = [
        claude_row("u1", None),
        claude_row("a1", "u1", "assistant"),
        claude_row("u2", "a1"),
        claude_row("a2", "u2", "assistant", timestamp="2027-01-01T00:00:00Z"),
        claude_row("u2b", "a1"),
        claude_row("a2b", "u2b", "assistant"),
    ]
    conversation = tree(imported_lines(rows))
    assert [node.id for node in conversation.leaves] == ["a2", "a2b"]
    assert [node.id for node in conversation["a1"].children] == ["u2", "u2b"]


def test_x5_children_before_their_parents() -> None:
    """Rows in the wrong order make the same tree, and no event comes before the one it hangs on."""
    rows = [claude_row("u1", None), claude_row("a1", "u1", "assistant"), claude_row("u2", "a1")]
    found = imported_lines(rows[::-1])
    assert [node.id for node in tree(found)["u2"].path] == ["u1", "a1", "u2"]
    messages = [event.data["message_id"] for event in found.log.events() if event.type == "message"]
    assert messages == ["u1", "a1", "u2"]


def test_x5_compaction_begins_anew() -> None:
    """After it the model reads the summary and what follows; the old path stays whole."""
    rows = [
        claude_row("u1", None),
        claude_row("a1", "u1", "assistant"),
        {
            "type": "system",
            "subtype": "compact_boundary",
            "uuid": "c1",
            "parentUuid": None,
            "logicalParentUuid": "a1",
            "sessionId": "s1",
        },
        claude_row("u2", "c1", content="Summary: ...", isCompactSummary=True),
        claude_row("a2", "u2", "assistant"),
    ]
    conversation = tree(imported_lines(rows))
    assert [node.id for node in conversation["a2"].path] == ["u2", "a2"]
    assert [node.id for node in conversation["a1"].path] == ["u1", "a1"]
    assert conversation["u2"].data["details"]["isCompactSummary"] is True


def test_x5_what_no_model_said_is_not_sampled() -> None:
    """Error texts in a model's place have no call."""
    rows = [claude_row("u1", None), claude_row("a1", "u1", "assistant", message={"model": "<synthetic>"})]
    found = imported_lines(rows)
    assert not tree(found)["a1"].sampled
    assert not [event for event in found.log.events() if event.type == "step_start"]


def test_x5_a_circle_of_parents_ends() -> None:
    """It is said by the log's reader; the import terminates with every row in the log."""
    found = imported_lines([claude_row("u0", None), claude_row("u1", "u2"), claude_row("u2", "u1")])
    assert len(tree(found)) == 3
    assert "msg_cycle" in [note.code for note in tree(found).diagnostics]
    progress = [{"type": "progress", "uuid": p, "parentUuid": q, "sessionId": "s1"} for p, q in ("ab", "ba")]
    found = imported_lines([claude_row("u0", None), *progress, claude_row("u1", "a")])
    assert "message whose parent is not in the file" in lost(found)


def test_x5_a_summary_is_a_fact_about_its_branch() -> None:
    """The title that Claude Code gave; one of another file is reported."""
    rows = [claude_row("u1", None), claude_row("a1", "u1", "assistant")]
    rows += [{"type": "summary", "summary": "A title", "leafUuid": id} for id in ("a1", "elsewhere")]
    found = imported_lines(rows)
    (fact,) = (event.data for event in found.log.events() if event.type == "fact_added")
    assert (fact["text"], fact["about"]) == ("A title", "a1")
    assert lost(found)["summary of a branch that is not in the file"] == 1


def test_x5_a_torn_last_line_is_reported() -> None:
    """The program was killed while it wrote: the rest is imported."""
    from lctl.importing import convert
    from lctl.importing.source import Source
    from tests.unit.importing.sources import lines

    data = lines([claude_row("u1", None), claude_row("a1", "u1", "assistant")]) + b'{"parentUuid":"a1","isSi'
    found = convert(Source(data, "s.jsonl"))
    assert found.messages == 2
    assert lost(found)["line that is no JSON object (cut short?)"] == 1


def test_x5_five_thousand_rows_deep() -> None:
    """Nothing recurses: one chain of 5,000 messages, as coding sessions have."""
    rows = [
        claude_row(f"m{n}", f"m{n - 1}" if n else None, "assistant" if n % 2 else "user") for n in range(5000)
    ]
    conversation = tree(imported_lines(rows))
    assert len(conversation["m4999"].path) == 5000
