"""The patch language: every edit can be said, and what is said is read as it was meant."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lctl.patch import Before, Edit, PatchError, Scope, parse_edit
from lctl.rerun.forking import edits_of

text = st.text(max_size=20)
names = st.one_of(st.from_regex(r"[A-Za-z_][\w-]{0,8}", fullmatch=True), st.text(max_size=8))
segments = st.one_of(names, st.integers(-99, 999), st.builds(Before, st.none() | st.integers(0, 99)))
paths = st.lists(segments, max_size=4).map(tuple)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)
scopes = st.builds(
    Scope,
    at=st.none() | st.integers(0, 10**6),
    start=st.none() | st.integers(0, 10**6),
    agent=st.none() | names,
    everywhere=st.booleans(),
)
keys = st.text(min_size=1, max_size=8).filter(
    lambda key: key not in {"stream", "model", "messages", "input", "tools", "system", "instructions"}
)
named = st.tuples(keys, paths).map(lambda both: (both[0], *both[1]))
targets = st.one_of(
    st.just(("model", ())),
    st.just(("prompt", ("system",))),
    st.tuples(st.just("params"), named),
    st.tuples(st.just("body"), named),
    st.tuples(st.just("data"), named),
    st.tuples(st.just("tools"), named),
    st.tuples(st.just("answer"), paths),
    st.tuples(st.just("message"), st.tuples(st.integers(-9, 9) | names, st.just("content"))),
    st.tuples(
        st.just("tool"),
        st.tuples(names, st.sampled_from(["input", "output"]), paths).map(lambda t: (*t[:2], *t[2])),
    ),
)


@st.composite
def edits(draw: st.DrawFn) -> Edit:
    root, path = draw(targets)
    scope = draw(scopes)
    puts = any(isinstance(segment, Before) for segment in path)
    if root in ("params", "body", "data", "tools") and not puts and draw(st.integers(0, 5)) == 0:
        return Edit(root, path, "del", None, scope)
    operator: Any = "=" if puts else draw(st.sampled_from(["=", "+=", "-=", "~="]))
    if operator == "~=":
        pattern, flags = draw(text.map(re.escape)), draw(st.sampled_from(["", "i", "s", "is"]))
        return Edit(root, path, operator, [pattern, draw(text.filter(lambda t: "\\" not in t)), flags], scope)
    plain = root in ("model", "prompt") or path[-1:] == ("content",)
    value = draw(text if plain or path[-1:] in (("role",), ("name",), ("description",)) else values)
    return Edit(root, path, operator, value, scope)


@given(edits())
def test_what_is_printed_is_read_again(edit: Edit) -> None:
    """str(edit) parses to the same edit, whatever texts and names are in it."""
    assert parse_edit(str(edit)) == edit


@given(st.text(max_size=40) | edits().map(str).flatmap(lambda t: st.integers(0, len(t)).map(lambda n: t[:n])))
def test_any_text_is_an_edit_or_a_clear_error(given_text: str) -> None:
    """Whatever is typed, the answer is an edit that prints and parses again, or an error with its place."""
    try:
        edit = parse_edit(given_text.replace("@", ""))
    except PatchError as error:
        assert 0 <= error.at <= len(error.text)
        line, caret = error.detail
        assert caret.strip() == "^"
        assert len(caret) <= len(line) + 1
    else:
        assert parse_edit(str(edit)) == edit


@pytest.mark.parametrize(
    ("said", "place", "why"),
    [
        ("params..temperature=0", 7, "a name is expected"),
        ("temperature=0", 0, "params.temperature"),
        ("model", 5, "= and a value"),
        ("model!=429", 5, "what fails is a tool"),
        ("message.content=x", 7, "which message?"),
        ("tool:grep.count=1", 9, "tool:NAME.input and tool:NAME.output"),
        ("tool:grep!=429", 11, "a tool fails with an exception"),
        ("answer!=200", 8, "400 to 599"),
        ('answer={"content"', 17, "begins as JSON"),
        ("answer~=/(/x/", 9, "regular expression"),
        ("answer~=/a/b", 8, "three times"),
        ("@x model=1", 1, "number of an event"),
        ("@1 @2 model=1", 3, "twice"),
        ("params.stream=true", 0, "decided by the program"),
        ("params.model=x", 0, "that is model"),
        ("event.seq=4", 0, "of an event there are"),
        ("message[0=x", 9, "']' is expected"),
        ("message[+].role=x", 7, "given whole"),
        ("del model x", 10, "nothing can follow"),
        ('data."a=1', 5, "not closed"),
        ("model=@no/such/file", 6, "no such file"),
        ("model=gpt-4.1 prompt.system=Sing.", 13, "a further edit is given apart"),
    ],
)
def test_errors_point_at_the_place(said: str, place: int, why: str) -> None:
    """An error says what would be right, and where."""
    with pytest.raises(PatchError, match=re.escape(why)) as caught:
        parse_edit(said)
    assert caught.value.at == place
    assert str(caught.value).splitlines()[1:] == [said, " " * place + "^"]


def test_values() -> None:
    """JSON is itself, other text is text; names and texts that look like numbers stay texts."""
    assert parse_edit("params.stop=null").value is None
    assert parse_edit("params.seed=12345678901234567890123").value == 12345678901234567890123
    assert parse_edit("params.stop=NaN").value == "NaN"
    assert parse_edit('params.stop="1"').value == "1"
    assert parse_edit("model=4").value == "4"
    assert parse_edit("message[0].content=1.50").value == "1.50"
    assert parse_edit("message[0].content= two ").value == " two "
    assert parse_edit("message[0].content=@@home").value == "@home"


def test_a_model_whose_name_has_blanks() -> None:
    """Quoted it is a name, also in the printed edit and in a mapping of Python's."""
    edit = parse_edit('agent=writer model="My model"')
    assert edit.value == "My model"
    assert parse_edit(str(edit)) == edit
    assert [one.value for one in edits_of({"agent=writer model": "My model"})] == ["My model"]


def test_values_from_files(tmp_path: Path) -> None:
    """@FILE is the file's text, of a .json file its value; the printed edit holds it."""
    (tmp_path / "prompt.txt").write_text("Line one\nline two\n")
    (tmp_path / "answer.json").write_text(json.dumps({"content": "Hi"}))
    edit = parse_edit(f"prompt.system=@{tmp_path / 'prompt.txt'}")
    assert edit.value == "Line one\nline two"
    assert parse_edit(str(edit)) == edit
    assert parse_edit(f"answer=@{tmp_path / 'answer.json'}").value == {"content": "Hi"}


def test_results_have_short_names() -> None:
    """What comes back is said shortly: the model's answer, a tool's output, an HTTP status."""
    assert parse_edit("model.content=Hi", results=True) == parse_edit("answer.content=Hi")
    assert parse_edit("http!=429", results=True) == parse_edit("answer!=429")
    assert parse_edit("tool:grep.hits=[]", results=True) == parse_edit("tool:grep.output.hits=[]")
    assert parse_edit("tool:grep!=TimeoutError: gone", results=True).value == "TimeoutError: gone"
    with pytest.raises(PatchError, match="a result is that of"):
        parse_edit("params.temperature=0", results=True)
