"""What `lctl export` writes for trainers, `lctl import` reads: the rows come out again as they were."""

from __future__ import annotations

import io
from typing import Any

import orjson
import pytest

from lctl.codec import Log
from lctl.importing import Imported, convert
from lctl.importing.source import Source
from lctl.training.exporting import Export
from tests.unit.importing.sources import Rows, imported, imported_lines, lines, lost, tree
from tests.unit.training.fixtures import Talk

PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
GREP = {
    "name": "grep",
    "description": "Find.",
    "parameters": {"type": "object", "properties": {"q": {"type": "string"}}},
}
TOOLS = [{"type": "function", "function": GREP}]


def _call(id: str, q: str) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": "grep", "arguments": f'{{"q":"{q}"}}'}}


@pytest.fixture(scope="module")
def talk() -> Talk:
    """Parallel calls, tools, a picture, an answer that is context, a short conversation, rated answers."""
    talk = Talk()
    talk.add("session_start", session_id="s", tools={"sha256:t": TOOLS})
    talk.tell("s1", None, role="system", content="Be brief.")
    talk.tell("u1", "s1", content=[{"type": "text", "text": "Where?"}, PICTURE])
    talk.a("a1", "u1", tools="sha256:t", content=None, tool_calls=[_call("c1", "a"), _call("c2", "b")])
    talk.tell("t1", "a1", role="tool", tool_call_id="c1", content="a.py")
    talk.tell("t2", "t1", role="tool", tool_call_id="c2", content="b.py")
    talk.a("a2", "t2", tools="sha256:t", content="In two files.")
    talk.tell("u2", "a2", content="Why?").a("a3", "u2", tools="sha256:t", call={"finish_reason": "length"})
    talk.tell("u3", "a3", content="Go on.").a("a4", "u3", tools="sha256:t", content="So it is.")
    talk.tell("v1", None, conversation_id="v", content="2+2?")
    for id, value in (("w1", 0.9), ("w2", 0.1), ("w3", 0.2)):
        talk.a(id, "v1", conversation_id="v", content=f"answer {id}")
        talk.add("fact_added", id=f"F{id}", about=id, value=value)
    return talk


def exported(source: Any, format: str) -> Rows:
    return [orjson.loads(piece) for piece in Export(source, format).pieces()]


def again(rows: Rows, format: str, form: str = "auto") -> tuple[Imported, Rows]:
    found = convert(Source(lines(rows), "the file"), form)
    tree(found)  # is sound
    log: Log = found.log
    return found, exported(log, format)


@pytest.mark.parametrize("format", ["openai", "axolotl", "sharegpt", "dpo", "dpo-openai", "kto"])
def test_rows_come_out_as_they_were(talk: Talk, format: str) -> None:
    rows = exported(talk.tree, format)
    found, back = again(rows, format)
    assert len(rows) > 1 and back == rows
    assert set(lost(found)) <= {"one observation for several calls; it is that of the first"}


def test_rows_of_trl_come_out_as_they_train(talk: Talk) -> None:
    """A completion whose prompt has no answer in it trains what the list of both does, which is its form."""
    rows = exported(talk.tree, "hf")
    assert {"messages", "prompt"} <= {key for row in rows for key in row}
    found, back = again(rows, "hf")
    assert (found.form, lost(found)) == ("training", {})
    assert [_listed(row) for row in back] == [_listed(row) for row in rows]
    reverse, back = again(rows[::-1], "hf")
    assert (reverse.form, lost(reverse)) == ("training", {})
    assert [_listed(row) for row in back] == [_listed(row) for row in rows[::-1]]


def _listed(row: dict[str, Any]) -> dict[str, Any]:
    """A row as one list, where it has one answer."""
    whole = row.get("messages") or [*row["prompt"], *row["completion"]]
    if sum(one["role"] == "assistant" for one in whole) > 1:
        return row
    return {key: value for key, value in row.items() if key == "tools"} | {"messages": whole}


@pytest.mark.parametrize("format", ["axolotl", "sharegpt", "dpo", "kto"])
def test_rows_in_parquet(talk: Talk, format: str) -> None:
    """A column has a value in every row: what is null in it was not there."""
    pa = pytest.importorskip("pyarrow", reason="reading Parquet needs: pip install 'lctl[parquet]'")
    pq = pytest.importorskip("pyarrow.parquet")
    rows = exported(talk.tree, format)
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), file)
    found = convert(Source(file.getvalue(), "the file"))
    assert exported(found.log, format) == rows


def test_rows_that_say_everything(talk: Talk) -> None:
    rows = exported(talk.tree, "calls")
    kept = ("messages", "loss_mask", "model", "tools", "reward")
    found, back = again(rows, "calls")
    assert [[row[key] for key in kept] for row in back] == [[row[key] for key in kept] for row in rows]
    assert lost(found) == {}


def test_lists_that_mark_nothing_train_where_the_file_is_said_to_be_training_data() -> None:
    rows: Rows = [
        {"messages": [{"role": "user", "content": f"{n}?"}, {"role": "assistant", "content": f"{n}."}]}
        for n in range(2)
    ]
    assert again(rows, "hf")[1] == []
    assert again(rows, "hf", "training")[1] == rows


def test_each_row_is_read_by_its_own_shape() -> None:
    """Whichever comes first; what is none of them is counted, with its place."""
    shapes: Rows = [
        {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]},
        {"prompt": "a", "completion": "b"},
        {"conversations": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}]},
        {"messages": []},
    ]
    for n in range(4):
        found = imported_lines(shapes[n:] + shapes[:n])
        assert [[node.text for node in leaf.path] for leaf in tree(found).leaves] == [["a", "b"]] * 3
        ((what, times, where),) = found.lost
        assert (times, where) == (1, (f"line {4 - n}",)) and what


# -- facts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("label", [True, False])
def test_labels_are_facts_about_their_answer(label: bool) -> None:
    row = {"prompt": "p", "completion": "c", "label": label, "score": 0.3, "source": "x"}
    found = imported_lines([row, row])
    facts = [one.data for one in found.log.events() if one.type == "fact_added"]
    assert [(one["about"], one["value"]) for one in facts] == [
        ("c1/completion1", 0.3),
        ("c1/completion1", label),
        ("c2/completion1", 0.3),
        ("c2/completion1", label),
    ]
    first = tree(found).roots[0]
    assert first.data["details"]["conversation"] == {"source": "x"}
    assert [one["label"] for one in exported(found.log, "kto")] == [label, label]


def test_the_preferred_of_two_answers_is_good_and_the_other_bad() -> None:
    row = {"prompt": "p", "chosen": "c", "rejected": "r", "score_chosen": 8.0, "score_rejected": 3.5}
    found = imported(row)
    facts = [one.data for one in found.log.events() if one.type == "fact_added"]
    assert [(one["about"], one["text"], one["value"]) for one in facts] == [
        ("chosen1", "score 8.0", 8.0),
        ("chosen1", "chosen", "good"),
        ("rejected1", "score 3.5", 3.5),
        ("rejected1", "rejected", "bad"),
    ]
    (pair,) = exported(found.log, "dpo")
    assert [pair[key][0]["content"] for key in ("prompt", "chosen", "rejected")] == ["p", "c", "r"]


# -- ShareGPT --------------------------------------------------------------------------------


def test_parallel_calls_and_what_each_gave() -> None:
    """Observations answer the calls in their order; one for all of them is that of the first."""
    asked = '[{"name":"f","arguments":{"a":1}},{"name":"f","arguments":{"a":2}}]'
    turns = [("human", "q"), ("function_call", asked), ("observation", "1"), ("observation", "2")]
    row = {"conversations": [{"from": who, "value": value} for who, value in turns]}
    found = imported(row)
    calls = [one.data for one in found.log.events() if one.type == "tool_call"]
    assert [(one["input"], one["output"]) for one in calls] == [({"a": 1}, "1"), ({"a": 2}, "2")]
    assert lost(found) == {}
    del row["conversations"][3]
    row["conversations"].append({"from": "gpt", "value": "done"})
    assert lost(imported(row)) == {"one observation for several calls; it is that of the first": 1}
