"""Finding events."""

from __future__ import annotations

import pytest

from lctl.analysis.search import Query, QueryError, search
from tests.unit.analysis.chains import Script


def _script() -> Script:
    script = Script()
    step = script.start("worker", kind="agent", intent="look")
    script.add(
        "tool_call",
        "worker",
        step,
        tool="grep",
        input={"pattern": "Straße"},
        output="Found It",
        duration_ms=50,
    )
    script.add(
        "tool_call", "worker", step, tool="read", input={}, error={"type": "OSError", "message": "gone"}
    )
    script.add("error", "helper", step, category="execution_error", type="timeout", message="too slow")
    script.add(
        "message",
        "worker",
        step,
        message_id="m5",
        role="assistant",
        content=[{"type": "text", "text": "deep word"}],
    )
    script.end(step, "worker", tokens={"input": 100, "output": 7})
    script.add("fact_added", "helper", id="F1", text="a fact", confidence=0.9)
    return script


@pytest.mark.parametrize(
    ("query", "seqs"),
    [
        ("", [1, 2, 3, 4, 5, 6, 7]),
        ("type:tool_call", [2, 3]),
        ("type:tool_call tool:grep", [2]),
        ("type:tool_call,error", [2, 3, 4]),
        ("type:step_*", [1, 6]),
        ("-type:tool_call -type:step_*", [4, 5, 7]),
        ("agent:help*", [4, 7]),
        ("AGENT:Helper", [4, 7]),
        ("error:*", [3, 4]),
        ("error:timeout", [4]),
        ("error:OSError", [3]),
        ("step:1", [1, 2, 3, 4, 5, 6]),
        ("seq:2..3", [2, 3]),
        ("seq:6..", [6, 7]),
        ("seq:>5", [6, 7]),
        ("seq:<=1", [1]),
        ("fact:F1", [7]),
        ("role:assistant", [5]),
        ("message:m5", [5]),
        ('"found it"', [2]),
        ("found it", [2]),
        ("straße", [2]),
        ("deep -type:error", [5]),
        ("-worker", [4, 7]),
        ("data.tokens.input:>50", [6]),
        ("data.content.text:deep*", [5]),
        ("data.confidence:0.9", [7]),
        ('data.text:"a fact"', [7]),
        ("nothing-like-it", []),
    ],
)
def test_a_query_finds_what_it_says(query: str, seqs: list[int]) -> None:
    """Fields, globs, ranges, phrases, exclusion; upper and lower case alike."""
    assert [event.seq for event in search(_script().log(), query)] == seqs


@pytest.mark.parametrize(
    ("query", "position", "says"),
    [
        ("toool:grep", 0, "there is no field 'toool'; fields are agent"),
        ("type:error  colour:red", 12, "there is no field 'colour'"),
        ('a "never closed', 2, "a quote is opened here and never closed"),
        ("type:", 0, "type: is followed by nothing"),
        ("seq:twelve", 0, "seq is a number; write seq:12"),
        ("seq:9..2", 0, "the range 9..2 holds nothing; write 2..9"),
        ('x ""', 2, "there is nothing between the quotes"),
        ("- a", 0, "- is followed by nothing"),
    ],
)
def test_a_bad_query_says_where_and_what_to_write(query: str, position: int, says: str) -> None:
    """Before the log is read."""
    with pytest.raises(QueryError) as caught:
        search(_script().log(), query)
    assert caught.value.position == position
    assert says in str(caught.value)
    assert f"column {position + 1}" in str(caught.value)


def test_a_line_is_passed_over_only_when_its_words_are_not_in_it() -> None:
    """Decoding is what costs."""
    query = Query('grep "two words"')
    assert query.may_match(b'{"seq":1,"data":{"tool":"GREP"}}')
    assert not query.may_match(b'{"seq":1,"data":{"tool":"read"}}')
