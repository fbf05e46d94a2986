"""Rows of training data: prompts with an answer or with two."""

from __future__ import annotations

from typing import Any

import pytest

from lctl.analysis.branches import Shape
from lctl.analysis.transcripts import transcript_json
from tests.unit.importing.sources import Rows, imported_lines, lost, tree

USER = {"role": "user", "content": "2+2?"}
ANSWER = {"role": "assistant", "content": "4."}
WRONG = {"role": "assistant", "content": "5."}


@pytest.mark.parametrize(
    ("row", "prompt", "answers"),
    [
        ({"instruction": "Add.", "input": "2+2", "output": "4"}, "Add.\n\n2+2", ["4"]),
        ({"instruction": "Add.", "input": "", "output": "4"}, "Add.", ["4"]),
        ({"prompt": "2+2", "completion": "4", "label": True}, "2+2", ["4"]),
        ({"instruction": "Add.", "context": "2+2", "response": "4"}, "Add.\n\n2+2", ["4"]),
        ({"prompt": [USER], "completion": [ANSWER]}, "2+2?", ["4."]),
        ({"prompt": [USER], "chosen": [ANSWER], "rejected": [WRONG]}, "2+2?", ["4.", "5."]),
        ({"chosen": [USER, ANSWER], "rejected": [USER, WRONG]}, "2+2?", ["4.", "5."]),
        (
            {"input": {"messages": [USER]}, "preferred_output": [ANSWER], "non_preferred_output": [WRONG]},
            "2+2?",
            ["4.", "5."],
        ),
    ],
)
def test_rows_of_training_data(row: dict[str, Any], prompt: str, answers: list[str]) -> None:
    """The answers are alternatives below the prompt; the preferred one is that which is shown."""
    found = imported_lines([row, row])
    assert (found.form, lost(found)) == ("training", {})
    made = tree(found)
    assert [root.text for root in made.roots] == [prompt, prompt]
    assert [[child.text for child in root.children] for root in made.roots] == [answers, answers]
    (first,) = [leaf for leaf in Shape(made).line_of.values() if leaf < 3][:1]
    assert made.node(first).text == answers[0]


def test_rows_of_training_data_with_a_history() -> None:
    rows: Rows = [
        {"instruction": "c", "output": "d", "system": "S", "history": [["a", "b"]], "source": "x"},
        {"instruction": "no output"},
    ]
    found = imported_lines(rows)
    (row,) = transcript_json(found.log)
    assert [(one["role"], one["content"]) for one in row["messages"]] == [
        ("system", "S"),
        ("user", "a"),
        ("assistant", "b"),
        ("user", "c"),
        ("assistant", "d"),
    ]
    assert lost(found) == {"row without a prompt and an answer": 1}
