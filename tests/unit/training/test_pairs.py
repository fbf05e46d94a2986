"""Preference pairs and labels from siblings (row G17)."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from lctl.errors import UsageError
from lctl.training.constraints import problems
from lctl.training.exporting import Export
from lctl.training.preferences import Preferences
from tests.unit.conversation.events import Log
from tests.unit.training.fixtures import Talk, start
from tests.unit.training.talks import CHAT_TOOLS, DIALECTS, talk_of


def siblings(*values: Any, **data: Any) -> Talk:
    """Answers a2, b2, c2, ... to one prompt, rated so; None: not rated."""
    talk = start()
    names = ["a2", "b2", "c2", "d2", "e2"][: len(values)]
    for name in names[1:]:
        talk.a(name, "u2", **data)
    for n, (name, value) in enumerate(zip(names, values, strict=True)):
        if value is not None:
            talk.add("fact_added", id=f"F{n}", about=name, value=value)
    return talk


def pairs(talk: Log, **options: Any) -> list[tuple[str, str, str]]:
    """(chosen, rejected, by)"""
    return [(*pair.ids, pair.by) for pair in Preferences(talk.tree, **options).pairs()]


def excluded(talk: Log, **options: Any) -> dict[str, int]:
    found = Preferences(talk.tree, **options)
    list(found.pairs())
    return dict(found.excluded)


def rows(talk: Log, format: str, **options: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    export = Export(talk.tree, format, **options)
    return [orjson.loads(piece) for piece in export.pieces()], export.manifest("x")


def test_g17_by_fact_value() -> None:
    """The better rated answer to the same prompt is chosen."""
    [pair] = Preferences(siblings(0.2, 0.9).tree).pairs()
    assert pair.ids == ("b2", "a2")
    assert [message["content"] for message in pair.prompt] == ["s1", "u1", "a1", "u2"]
    assert (pair.chosen, pair.rejected) == (
        [{"role": "assistant", "content": "b2"}],
        [{"role": "assistant", "content": "a2"}],
    )


def test_g17_by_rating() -> None:
    """Thumbs and the words people use for them."""
    assert pairs(siblings("up", "down")) == [("a2", "b2", "rating")]
    assert pairs(siblings(False, True)) == [("b2", "a2", "rating")]
    assert pairs(siblings(" Good ", "BAD")) == [("a2", "b2", "rating")]
    assert pairs(siblings("up", "down"), by="value") == []
    assert pairs(siblings(0.9, 0.1), by="rating") == []


def test_g17_by_human_edit() -> None:
    """What a person wrote in place of an answer is chosen over it, whether or not they rated it."""
    talk = start().tell("x2", "u2", role="assistant", fork_of="a2")
    assert pairs(talk) == pairs(talk, by="edit") == [("x2", "a2", "edit")]
    assert pairs(talk, by="value") == []


def test_g17_an_edit_is_of_the_answer_it_names() -> None:
    """Of three answers only the edited one is rejected for it."""
    talk = start().a("b2", "u2", fork_of="a2").tell("x2", "u2", role="assistant", fork_of="b2")
    assert pairs(talk) == [("x2", "b2", "edit")]


def test_g17_ties_make_no_pair() -> None:
    assert pairs(siblings(0.5, 0.5)) == []
    assert excluded(siblings(0.5, 0.5)) == {"tie": 1}


def test_g17_three_and_more_siblings() -> None:
    """The best is paired with each that is worse; what ties with it is on no pair."""
    assert pairs(siblings(0.2, 0.9, 0.5)) == [("b2", "a2", "value"), ("b2", "c2", "value")]
    talk = siblings(0.9, 0.9, 0.1, None)
    assert pairs(talk) == [("a2", "c2", "value")]
    assert excluded(talk) == {"tie": 1, "unrated": 1}


def test_g17_one_rated_answer_is_no_pair() -> None:
    assert pairs(siblings(0.9, None)) == []
    assert excluded(siblings(None, None)) == {"unrated": 2}
    assert pairs(start().add("fact_added", id="F", about="a2", value=1)) == []


@pytest.mark.parametrize("status", ["aborted", "error"])
def test_g17_unfinished_siblings_are_excluded(status: str) -> None:
    talk = siblings(0.9, 0.1, status=status)
    assert pairs(talk) == []
    assert excluded(talk) == {"failed": 1, "other_call": 1}


def test_g17_streaming_siblings_are_excluded() -> None:
    talk = siblings(0.9)
    talk.add("stream_start", message_id="b2", parent_id="u2", role="assistant", sampled=True)
    talk.add("stream_chunk", message_id="b2", index=0, content="par")
    talk.add("fact_added", id="F9", about="b2", value=0.1)
    assert pairs(talk) == []


def test_g17_other_models_answers_are_no_siblings() -> None:
    """Same parent and same model and tools: a pair compares answers of one policy."""
    assert pairs(siblings(0.9, 0.1, model="n")) == []
    assert pairs(siblings(0.9, 0.1, tools="sha256:1")) == []
    assert excluded(siblings(0.9, 0.1, model="n")) == {"other_call": 2}


def test_g17_the_newest_rating_counts() -> None:
    talk = siblings(0.9, 0.1).add("fact_modified", id="F0", value=0.0)
    assert pairs(talk) == [("b2", "a2", "value")]
    found = list(Preferences(talk.tree.at(len(talk.events) - 1)).pairs())
    assert found[0].ids == ("a2", "b2")


def test_g17_continuation() -> None:
    """Both sides go on with what followed, each to its newest leaf."""
    talk = siblings(0.9, 0.1).tell("u3", "a2").a("a3", "u3")
    [pair] = Preferences(talk.tree, continuation=True).pairs()
    assert [message["content"] for message in pair.chosen] == ["a2", "u3", "a3"]
    assert [message["content"] for message in pair.rejected] == ["b2"]
    [row], _ = rows(talk, "dpo", continuation=True)
    assert [message["role"] for message in row["chosen"]] == ["assistant", "user", "assistant"]
    with pytest.raises(UsageError, match="dpo-openai takes one assistant message a side"):
        Export(talk.tree, "dpo-openai", continuation=True)


def test_g17_answers_to_nothing() -> None:
    talk = Talk().a("a1", None).a("b1", None)
    talk.add("fact_added", id="F1", about="a1", value=1).add("fact_added", id="F2", about="b1", value=0)
    assert pairs(talk) == []
    assert excluded(talk) == {"no_prompt": 2}


def test_g17_dpo_rows() -> None:
    [row], made = rows(siblings(0.2, 0.9), "dpo")
    assert sorted(row) == ["chosen", "prompt", "rejected"]
    assert row["chosen"] == [{"role": "assistant", "content": "b2"}]
    assert problems("dpo", row) == []
    assert (made["rows"], made["excluded"]) == (1, {})


def test_g17_dpo_openai_rows() -> None:
    [row], _ = rows(siblings(0.2, 0.9), "dpo-openai")
    assert sorted(row) == ["input", "non_preferred_output", "preferred_output"]
    assert [message["role"] for message in row["input"]["messages"]] == [
        *("system", "user", "assistant", "user")
    ]
    assert row["preferred_output"] == [{"role": "assistant", "content": "b2"}]
    assert problems("dpo-openai", row) == []


@pytest.mark.parametrize("dialect", DIALECTS)
def test_g17_pairs_of_every_dialect(dialect: str) -> None:
    """Prompts with tools, images and reasoning; OpenAI takes text alone, and that is said."""
    messages, tools = DIALECTS[dialect]
    talk = talk_of(messages, tools)
    last = f"m{len(messages) - 1}"
    talk.tell("x", f"m{len(messages) - 2}", role="assistant", fork_of=last, content="better")
    [row], _ = rows(talk, "dpo")
    assert row["chosen"] == [{"role": "assistant", "content": "better"}]
    assert row["tools"][0]["function"]["name"] == CHAT_TOOLS[0]["function"]["name"]
    found, made = rows(talk, "dpo-openai")
    assert found == []
    assert made["refused"][0]["problems"] == ["an image: text alone can be preferred"]


def test_g17_equal_answers_are_refused() -> None:
    talk = siblings(0.9, 0.1, content="a2")
    _, made = rows(talk, "dpo")
    assert made["refused"] == [{"row": "a2 > b2", "problems": ["chosen and rejected are the same"]}]


def test_g17_kto() -> None:
    """Every rated answer with a thumb; what is on no known scale is left out and counted."""
    talk = siblings("up", False, 0.7, -1, 4)
    found, made = rows(talk, "kto")
    assert [(row["completion"][0]["content"], row["label"]) for row in found] == [
        *(("a2", True), ("b2", False), ("c2", True), ("d2", False))
    ]
    assert all(problems("kto", row) == [] for row in found)
    assert made["excluded"] == {"unknown_scale": 1, "unrated": 1}


def test_g17_the_rating_of_a_fact() -> None:
    """A word or a thumb may stand under `rating`, and be changed there."""
    talk = siblings(None, None, None)
    for n, (name, rating) in enumerate((("a2", "good"), ("b2", "bad"), ("c2", "good"))):
        talk.add("fact_added", id=f"R{n}", about=name, rating=rating)
    talk.add("fact_modified", id="R2", rating="bad")
    assert pairs(talk) == [("a2", "b2", "rating"), ("a2", "c2", "rating")]
    found, _ = rows(talk, "kto")
    assert [row["label"] for row in found] == [True, False, False]
    assert [row.reward for row in talk.rows()] == [1.0, 0.0, 0.0]
    talk.add("fact_modified", id="R0", value=-1)
    assert pairs(talk, by="value") == [] and pairs(talk, by="rating") == []


def test_g17_one_kind_of_labels() -> None:
    """`pairs=` takes one kind alone for kto, too."""
    talk = siblings("up", 0.9, "down", 0.1)
    for by, labels in (("rating", [True, False]), ("value", [True, False]), ("edit", [])):
        found, made = rows(talk, "kto", pairs=by)
        assert [row["label"] for row in found] == labels
        assert made["excluded"] == {"unrated": 5 - len(labels)}
    assert len(rows(talk, "kto")[0]) == 4


def test_g17_what_tells_pairs_apart_is_checked() -> None:
    with pytest.raises(UsageError, match="pairs is 'value', 'rating' or 'edit', not 'stars'"):
        list(Export(start().tree, "dpo", pairs="stars").pieces())


def test_g17_a_prompt_that_is_not_whole_is_no_prompt() -> None:
    """The message above it is missing, or it goes on from a response of another program."""
    for beginning in ({"parent_id": "missing"}, {"parent_id": None, "continues": "resp_1"}):
        talk = Talk()
        talk.add("message", message_id="u1", role="user", content="u1", **beginning)
        talk.a("a1", "u1").a("a2", "u1")
        talk.add("fact_added", fact_id="F1", text="good", about="a1", value=1.0)
        talk.add("fact_added", fact_id="F2", text="bad", about="a2", value=0.0)
        for asked in ("pairs", "labels"):
            found = Preferences(talk.tree)
            assert list(getattr(found, asked)()) == []
            assert found.excluded == {"broken": 2}
