"""Edits on JSON values, and the changed value written back into the text it came from."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lctl.patch import Unaddressed, change, parse_edit, rewrite

keys = st.sampled_from(["a", "b", "ä", 'q"', "x"])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)


def changed(value: Any, said: str) -> Any:
    """`value` after an edit of what is in `data`."""
    edit = parse_edit(said)
    return change({"data": value}, ("data", *edit.path), edit.operator, edit.value)["data"]


@pytest.mark.parametrize(
    ("said", "before", "after"),
    [
        ("data.a=1", {}, {"a": 1}),
        ("data.a.b=1", {"c": 0}, {"c": 0, "a": {"b": 1}}),
        ("data.a[-1]=9", {"a": [1, 2]}, {"a": [1, 9]}),
        ("data.a[+]=9", {"a": [1]}, {"a": [1, 9]}),
        ("data.a[+0]=9", {"a": [1]}, {"a": [9, 1]}),
        ("data.a+=b", {"a": "x"}, {"a": "x b"}),
        ('data.a+=" b"', {"a": "x"}, {"a": "x b"}),
        ("data.a+=b", {"a": "x\n"}, {"a": "x\nb"}),
        ("data.a+=2", {"a": 1}, {"a": 3}),
        ("data.a+=[2,3]", {"a": [1]}, {"a": [1, 2, 3]}),
        ('data.a+={"y": 2}', {"a": {"x": 1}}, {"a": {"x": 1, "y": 2}}),
        ("data.a-=b", {"a": "abc"}, {"a": "ac"}),
        ("data.a-=1", {"a": [1, True, 1.0]}, {"a": [True, 1.0]}),
        ("data.a-=0.5", {"a": 1}, {"a": 0.5}),
        (r"data.a~=/(\w+) never/\1 always/", {"a": "we never do"}, {"a": "we always do"}),
        ("data.a~=|/X|/|i", {"a": "/x/x"}, {"a": "//"}),
        ("del data.a", {"a": 1, "b": 2}, {"b": 2}),
        ("del data.a[0]", {"a": [1, 2]}, {"a": [2]}),
        ('data["a.b"].c=1', {"a.b": {}}, {"a.b": {"c": 1}}),
    ],
)
def test_operators(said: str, before: Any, after: Any) -> None:
    """Each operator does to a value what the page on the language says; the old value stays as it was."""
    kept = copy.deepcopy(before)
    assert changed(before, said) == after
    assert before == kept


@pytest.mark.parametrize(
    ("said", "value", "why"),
    [
        ("del data.a", {}, "there is no data.a"),
        ("data.a[2]=1", {"a": [1]}, "there is no data.a[2]; data.a has 1 items"),
        ("data.a[0]=1", {"a": "x"}, "data.a is a text and no list"),
        ("data.a.b=1", {"a": [1]}, "data.a is a list and has no b"),
        ("data.a-=q", {"a": "x"}, "does not hold 'q'"),
        ("data.a~=/q/r/", {"a": "x"}, "nothing that fits 'q'"),
        ("data.a~=/q/r/", {"a": 1}, "no text"),
        ("data.a+=x", {"a": 1}, "cannot be added"),
    ],
)
def test_what_is_not_there_is_said(said: str, value: Any, why: str) -> None:
    """An edit that finds nothing to work on says so."""
    with pytest.raises(Unaddressed) as caught:
        changed(value, said)
    assert why in str(caught.value)


@given(values, values, st.sampled_from([(",", ":"), (", ", ": ")]), st.booleans(), st.none() | st.just(2))
def test_rewritten_text_says_the_new_value(
    old: Any, new: Any, separators: tuple[str, str], ascii: bool, indent: int | None
) -> None:
    """Whatever the text was and whatever it should say, it says that then; unchanged it keeps its bytes."""
    body = json.dumps(old, separators=separators, ensure_ascii=ascii, indent=indent).encode("utf-8")
    assert json.dumps(json.loads(rewrite(body, new))) == json.dumps(new)
    assert rewrite(body, json.loads(body)) == body


def test_bytes_of_what_did_not_change_stay() -> None:
    """Numbers, escapes and blanks around the change are as the program sent them."""
    body = rb'{"model": "a",  "top_p":1.0, "messages":[{"role":"user","content":"\u00e9\/"} , {"n":1e3}]}'
    value = json.loads(body)
    value["model"] = "b"
    assert rewrite(body, value) == body.replace(b'"a"', b'"b"')
    value["messages"][1]["n"] = 2
    assert rewrite(body, value) == body.replace(b'"a"', b'"b"').replace(b"1e3", b"2")
    del value["messages"][1]
    assert rb'{"role":"user","content":"\u00e9\/"}' in rewrite(body, value)
