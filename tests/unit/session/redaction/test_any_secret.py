"""Secrets among any text, in any structure: found, and what is none stays."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lctl.session import Redactor
from lctl.session.redaction.formats import FORMATS
from lctl.session.redaction.tokens import ESCAPES
from lctl.testing import FixedClock
from tests.seeds import tries
from tests.unit.session.redaction.samples import SECRETS

_FILLER = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_WRAPPED = st.recursive(
    st.just(...),
    lambda inner: (
        st.tuples(st.just("list"), _FILLER, inner)
        | st.tuples(st.just("dict"), _FILLER, inner)
        | st.tuples(st.just("json"), _FILLER, inner)
    ),
    max_leaves=4,
)


def _wrap(shape: Any, value: Any) -> Any:
    if shape is ...:
        return value
    kind, filler, inner = shape
    made = _wrap(inner, value)
    if kind == "list":
        return [filler, made, 1]
    if kind == "dict":
        return {filler: None, "k": made}
    return json.dumps({"text": filler, "inner": made})


@settings(max_examples=tries(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    kind=st.sampled_from(sorted(set(SECRETS) - {"private-key"})),
    before=_FILLER,
    after=_FILLER,
    shape=_WRAPPED,
)
def test_no_structure_hides_a_secret(tmp_path: Path, kind: str, before: str, after: str, shape: Any) -> None:
    """Any nesting of lists, objects and JSON in strings, any text around it (not letters and digits: then
    it is no longer that secret), alone and in a batch."""
    from lctl.record.recorder import Recorder
    from lctl.record.store import MemoryStore
    from lctl.session import jsonable
    from lctl.session.redaction.scrub import Scrubber

    scrub = Scrubber(Redactor())
    recorder = Recorder(
        MemoryStore(),
        clock=FixedClock(),
        default=jsonable.default,
        encode=jsonable.encode,
        scrub=scrub,
        passes=scrub.passes,
    )
    secret = SECRETS[kind]
    data = {"value": _wrap(shape, f"{before} {secret} {after}")}
    request = {"hash": "sha256:" + "0a" * 32}
    recorder.record("t", "a", data)
    recorder.record_many(lambda first: [("t", "a", request, None), ("t", "a", data, 1)], True)
    alone, other, among = recorder.store.read()
    assert json.loads(other)["data"] == request
    for line in (alone, among):
        assert secret.encode() not in line
        assert secret.encode() not in line.replace(b"\\", b"")


#: The forms of `formats` that are met wherever they stand; the others need what stands beside them, too.
_BESIDE = ("auth", "basic", "pgpass", "private-key", "signature")


def _unescaped(form: str) -> str:
    """A form as it begins a word, without what else it may stand behind."""
    for escape in ESCAPES:
        form = re.sub(rf"\|\(\?<={re.escape(escape)}[^()]*\)", "", form)
    return form


_PLAIN = [(kind, _unescaped(form)) for kind, form in FORMATS]
_MET = [(kind, form) for kind, form in _PLAIN if kind not in _BESIDE and "(?<=" not in form]


@settings(max_examples=tries(150), deadline=None)
@given(data=st.data(), size=st.sampled_from([0, 400]))
def test_the_shortest_of_every_form_is_suspected(data: st.DataObject, size: int) -> None:
    """In short lines and long ones, which are searched in other ways."""
    kind, form = data.draw(st.sampled_from(_MET))
    secret = data.draw(st.from_regex(re.compile(form, re.ASCII), fullmatch=True))
    redactor = Redactor()
    line = orjson.dumps(f"{' lorem' * size} {secret} {'ipsum ' * size}")
    if redactor.text(orjson.loads(line)) != orjson.loads(line):
        assert redactor.suspicion(line, line.lower().decode("latin-1")), (kind, secret)


_INTRODUCTIONS = """password=|"api_key": "|--token |Authorization: Basic |authorization=|bearer |basic |https://a:
?sig=|secret: |cookie=|PWD=|hooks.slack.com/services/||-----BEGIN PRIVATE KEY-----"""
_INTRODUCED = st.tuples(
    st.sampled_from(re.split(r"[|\n]", _INTRODUCTIONS)),
    st.sampled_from([*SECRETS.values(), *["hunter2-hunter2"] * 8, *["dXNlcjpwYXNzd29yZA=="] * 4, "a/" * 20]),
    st.sampled_from([" ", '", ', "@host ", "\n"]) | _FILLER.filter(str.isascii),
)


@settings(max_examples=tries(500), deadline=None)
@given(pieces=st.lists(_INTRODUCED, min_size=1, max_size=3))
def test_a_text_is_searched_for_all_that_may_be_in_it(pieces: list[tuple[str, str, str]]) -> None:
    """A letter that is not of ASCII has it searched for everything: the same is found without."""
    redactor = Redactor(key=b"k")
    text = "So " + "".join(map("".join, pieces))
    if "BEGIN" in text:
        text += "-----END PRIVATE KEY-----"
    assert redactor.text(f'{text}" \n . .') == redactor.text(f'{text}" \n . . é')[:-2]


@pytest.mark.parametrize("size", [0, 400])
@pytest.mark.parametrize("name", ["sig", "x-amz-signature", "x-amz-security-token"])
def test_a_signature_is_suspected_whatever_is_in_it(name: str, size: int) -> None:
    """Base64 as it is, with no twenty letters and digits in a row."""
    text = f"https://store.example/a?v=1&{name}=ab/cd+ef/gh+ij/kl+mn/op{' lorem' * size}"
    line = orjson.dumps(text)
    redactor = Redactor()
    assert "ab/cd" not in redactor.text(text)
    assert redactor.suspicion(line, line.lower().decode("latin-1"))


#: Not a name that secrets go by: generators take words from the code under test, too.
_ORDINARY = _FILLER.filter(lambda text: not re.search("(?i)key|pass|pwd|secret|token|auth|cookie|cred", text))


@settings(max_examples=tries(200), deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**53), 2**53) | _ORDINARY,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_ORDINARY, inner, max_size=4),
        max_leaves=15,
    )
)
def test_ordinary_values_pass_unchanged(value: Any) -> None:
    """Nothing without a secret is touched."""
    assert Redactor(key=b"k").value(value) == value
