"""Comparing two runs."""

from __future__ import annotations

from typing import Any

import pytest

from lctl.analysis.diff import diff, lines
from lctl.analysis.differences import title
from lctl.codec import Log, open_log
from tests.unit.analysis.chains import Script, diff_of, renumbered, spec_example
from tests.unit.analysis.test_diff_words import _refund


def _agent_run(salt: str = "a", agent: str = "worker", words: str = "found it") -> Script:
    """A tool loop of two model calls."""
    script = Script()
    step = script.start(agent, kind="agent", intent="review")
    system = script.message("system", "You review code.\nBe brief.\nBe right.", None, agent, step)
    user = script.message("user", "look at a.py", system, agent, step)
    script.after(3 if salt == "a" else 5)
    call = {
        "id": f"call_{salt}",
        "type": "function",
        "function": {"name": "grep", "arguments": '{"pattern":"sql"}'},
    }
    asked = script.call(user, None, agent, step, salt=salt)
    script.events[-2]["data"]["tool_calls"] = [call]
    told = script.message("tool", "3 matches", asked, agent, step, tool_call_id=f"call_{salt}")
    script.add(
        "tool_call", agent, step, tool="grep", input={"pattern": "sql"}, output="3 matches",
        duration_ms=script.at, call_id=f"call_{salt}", derived=True,
    )  # fmt: skip
    script.call(told, words, agent, step, salt=salt + "2", ms=120 if salt == "a" else 80)
    script.add("fact_added", agent, step, id="F1", text="sql", confidence=0.7, source=agent)
    script.end(step, agent, duration_ms=script.at)
    return script


def test_two_runs_of_the_same_work_differ_in_nothing() -> None:
    """Times, durations, call ids, response ids, request ids and bodies are each run's own."""
    result = diff_of(_agent_run("a").events, _agent_run("b").events)
    assert list(result.differences) == []
    assert result.first_divergence is None
    assert result.equal == len(_agent_run().events)
    assert not result


def _graph_run(salt: int) -> list[dict[str, Any]]:
    """Of a graph whose nodes run in threads, recorded to be run again."""
    script = Script()
    step = script.start("board", kind="chain", intent="board")
    ids = {"checkpoint_id": f"1f{salt}", "parent_checkpoint_id": f"0f{salt}"}
    script.add("checkpoint", "board", step, thread_id="7", source="loop", superstep=1, **ids)
    where: dict[str, Any] = {"lane": f"0.{salt}", "at": 99.134 * salt}
    node = script.start("left", step, kind="node", intent="left", **where)
    script.add("fact_added", "left", node, id="F1", text="sql", confidence=0.7, source="left", **where)
    script.add("tool_call", "left", node, tool="grep", input={}, output="3", **where, turn=salt)
    script.end(node, "left", duration_ms=3.5 * salt, **where)
    script.end(step, "board", duration_ms=9.5 * salt)
    return script.events


def test_in_which_thread_and_when_is_no_difference() -> None:
    """What a rerun needs to keep threads in order, and the ids a framework draws for its checkpoints."""
    result = diff_of(_graph_run(1), _graph_run(2))
    assert [(one.kind, one.fields) for one in result.differences] == []
    assert result.equal == len(_graph_run(1))


def test_a_changed_answer_is_named_with_what_differs() -> None:
    """The message that came out otherwise, and nothing that follows by numbering."""
    result = diff_of(_agent_run("a").events, _agent_run("b", words="found nothing").events)
    [difference] = result.differences
    assert difference.kind == "changed"
    assert difference.left is not None and difference.left.type == "message"
    assert [(change.path, change.left, change.right) for change in difference.fields] == [
        ("content", "found it", "found nothing")
    ]


def test_a_changed_prompt_is_shown_by_line() -> None:
    """A text of several lines comes as a unified diff; the messages behind it hang where they did."""
    right = _agent_run("b").events
    right[1]["data"]["content"] = "You review code.\nBe thorough.\nBe right."
    [difference] = diff_of(_agent_run("a").events, right).differences
    assert difference.fields[0].unified == (" You review code.", "-Be brief.", "+Be thorough.", " Be right.")


def test_a_message_put_into_a_conversation_is_one_difference() -> None:
    """Everything behind it names other ids and another parent, which says nothing new."""
    events = _agent_run("b").events
    system = events[1]
    extra = {
        **system,
        "seq": 1.5,
        "data": {"message_id": "m1.5", "parent_id": "m2", "role": "user", "content": "hi"},
    }
    events[2]["data"]["parent_id"] = "m1.5"
    right = renumbered([*events[:2], extra, *events[2:]])
    [difference] = diff_of(_agent_run("a").events, right).differences
    assert (difference.kind, difference.right and difference.right.data["content"]) == ("added", "hi")


def test_a_message_hung_elsewhere_is_a_difference() -> None:
    """Same words, another place in the conversation."""
    right = _agent_run("b").events
    right[2]["data"]["parent_id"] = None
    [difference] = diff_of(_agent_run("a").events, right).differences
    assert [change.path for change in difference.fields] == ["parent_id"]


def test_an_answer_to_another_call_of_the_message_is_a_difference() -> None:
    """Call ids are each run's own, but which call a result answers is not."""

    def run(order: tuple[str, str], salt: str) -> list[dict[str, Any]]:
        script = Script()
        user = script.message("user", "go", None)
        calls = [
            {"id": f"{name}_{salt}", "function": {"name": name, "arguments": "{}"}} for name in ("one", "two")
        ]
        asked = script.message("assistant", None, user, tool_calls=calls, sampled=True)
        first = script.message("tool", "same", asked, tool_call_id=f"{order[0]}_{salt}")
        script.message("tool", "other", first, tool_call_id=f"{order[1]}_{salt}")
        return script.events

    assert not diff_of(run(("one", "two"), "a"), run(("one", "two"), "b"))
    swapped = diff_of(run(("one", "two"), "a"), run(("two", "one"), "b"))
    assert [change.path for one in swapped.differences for change in one.fields] == ["answers", "answers"]


def test_a_step_only_one_run_has_is_one_difference() -> None:
    """It stands for everything in it."""
    longer = _agent_run("b")
    step = longer.start("helper", kind="agent", intent="extra")
    longer.add("fact_added", "helper", step, id="F9", text="more", confidence=1.0)
    longer.end(step, "helper")
    [difference] = diff_of(_agent_run("a").events, longer.events).differences
    assert (difference.kind, difference.events) == ("added", 3)
    assert title(difference) == "+ helper: step_start (extra) and 2 events in it"


def test_tokens_that_differ_show_what_they_cost() -> None:
    """Cost is in no event; it is worked out for the two."""
    right = _agent_run("b").events
    right[6]["data"]["tokens"] = {"input": 1000, "output": 5}
    [difference] = diff_of(_agent_run("a").events, right).differences
    assert [change.path for change in difference.fields] == ["tokens.input", "cost"]
    assert difference.fields[1].left == pytest.approx(10 * 2.5e-6 + 5 * 1e-5)


def test_totals_of_both_runs_are_there() -> None:
    """Tokens, cost and duration of each side."""
    right = _agent_run("b").events
    right[6]["data"]["tokens"] = {"input": 1000, "output": 5}
    result = diff_of(_agent_run("a").events, right)
    assert (result.left.tokens.input, result.right.tokens.input) == (20, 1010)
    assert (
        result.left.cost is not None
        and result.right.cost is not None
        and result.right.cost > result.left.cost
    )
    assert result.left.duration_ms != result.right.duration_ms


def test_keys_in_another_order_are_the_same() -> None:
    """An object is not its order."""
    left, right = Script(), Script()
    left.add("tool_call", tool="grep", input={"a": 1, "b": 2})
    right.add("tool_call", input={"b": 2, "a": 1}, tool="grep")
    assert not diff(left.log(), right.log())


def test_logs_of_the_plain_protocol_compare() -> None:
    """Without step keys an event belongs to the newest open step of its agent."""
    right = spec_example().events
    right[1]["data"]["confidence"] = 0.5
    [difference] = diff_of(spec_example().events, right).differences
    assert [change.path for change in difference.fields] == ["confidence"]


@pytest.mark.parametrize(
    "data", [None, [], "x", {"tokens": 350}, {"confidence": "high"}, {"message": {"a": 1}}]
)
def test_odd_data_is_compared_and_never_raises(data: Any) -> None:
    """Values of the wrong type are values."""
    types = (
        "step_start",
        "step_end",
        "message",
        "tool_call",
        "exchange",
        "error",
        "checkpoint",
        "blob",
        "strange",
    )
    events: list[dict[str, Any]] = [
        {"seq": n, "type": type, "timestamp": "", "agent": "a", "data": data}
        for n, type in enumerate(types, 1)
    ]
    assert not diff_of(events, events)
    list(diff_of(events, events[:3]).differences)


def test_what_is_nested_very_deeply_is_compared() -> None:
    """Deeper than Python copies: its text is."""

    def run(at_the_bottom: bytes) -> Log:
        deep = b'{"tree":' + b"[" * 900 + at_the_bottom + b"]" * 900 + b"}"
        event = b'{"seq":1,"type":"tool_call","timestamp":"","agent":"a","data":{"tool":"walk","input":%b}}'
        return open_log(b'{"lctl":"4.0","chain":{"id":"c"},"events":[\n' + event % deep + b"\n]}\n")

    [difference] = diff(run(b"1"), run(b"2")).differences
    assert [change.path for change in difference.fields] == ["input"]
    assert list(lines(diff(run(b"1"), run(b"2"))))
    assert not diff(run(b"1"), run(b"1"))


#: (type, what a run says, the same said by another run, something else)
_SAID: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    (
        "message",
        {"message_id": "m1", "parent_id": None, "role": "user", "content": text},
        {"message_id": "m9", "parent_id": None, "role": "user", "content": text},
        {"message_id": "m1", "parent_id": None, "role": "user", "content": text + "!"},
    )
    for text in ("plain", 'say "status":"x"', "a\nb", '"},"sampled":true}', "back\\", '{"id":1}', "")
] + [
    (
        "step_end",
        {"outcome": "success", **said, "duration_ms": 4.5},
        {"outcome": "success", **said, "duration_ms": 1e-07},
        {"outcome": "error", **said, "duration_ms": 4.5},
    )
    for said in ({}, {"output_summary": "done"}, {"output_summary": 'a "quote"'}, {"error": "no", "x": 1})
]


@pytest.mark.parametrize(("type", "said", "again", "other"), _SAID)
def test_an_event_cut_from_its_bytes_says_what_it_says(
    type: str, said: dict[str, Any], again: dict[str, Any], other: dict[str, Any]
) -> None:
    """Whether its line had to be decoded or not: times and ids count for nothing, the rest for all."""

    def run(data: dict[str, Any]) -> list[dict[str, Any]]:
        script = Script()
        step = script.start("a", kind="agent", intent="x")
        script.add(type, "a", step, **data)
        return script.events

    assert list(diff_of(run(said), run(again)).differences) == []
    assert len(diff_of(run(said), run(other)).differences) == 1


def test_one_event_is_one_event() -> None:
    """In the number of events as in the words after it."""
    script = Script()
    script.end(script.start("a", kind="agent", intent="x"), "a")
    [difference] = diff_of([], script.events).differences
    assert title(difference) == "+ a: step_start (x) and 1 event in it"
    once = Script()
    once.add("fact_added", "a", None, id="F1", text="t")
    assert lines(diff_of(once.events, once.events)) == ["No difference in 1 event."]


def test_what_one_run_did_stands_before_what_the_other_did_instead() -> None:
    """In the list and side by side, however much the other went on to do."""
    failed, well = _refund("14o").events, _refund("140").events
    same = len(failed) - 1
    for left, right in ((failed, well), (well, failed)):
        result = diff_of(left, right)
        kinds = [one.kind for one in result.differences]
        assert kinds == sorted(kinds, reverse=True) and set(kinds) == {"removed", "added"}
        alone = [(seq, 0) for seq in range(same + 1, len(left) + 1)]
        instead = [(0, seq) for seq in range(same + 1, len(right) + 1)]
        assert list(result.pairs())[same:] == alone + instead
