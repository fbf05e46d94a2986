"""No secret of a streamed answer reaches a file, wherever the answer is cut: not at any moment the one beside
the log, not at the end the log. Neither as it stands nor as its pieces give it when they are joined."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lctl import LCTLSession
from lctl.instrument import ensure_installed, uninstrument
from lctl.instrument.bodies import rebuild_chunks
from lctl.instrument.openstreams import frames
from tests.seeds import tries

_LONG = "aZ3kQ9xW_b7-" * 24
#: What a text says before a secret, the secret, and what ends it. Made up, all of them.
SECRETS = [
    ("", "sk-proj-MaNyChUnKs0123456789abcdefGH", " "),
    ('"', "sk-ant-api03-0123456789abcdefghijKLMN", '"'),
    ("(", "AKIAIOSFODNN7EXAMPLE", ")"),
    ("", "ghp_0123456789abcdefghijklmnopqrstuvwxyz", ","),
    ("", f"eyJ{_LONG[:90]}.{_LONG}.{_LONG[:43]}", " "),
    ("postgres://admin:", "Tr0ub4dor-and-3", "@db.example/app "),
    ("password=", "hunter2-hunter2", " "),
    ('{"api_key": "', "correct-horse-battery", '"}'),
    ("Authorization: Bearer ", "abcdef0123456789abcdef", "\n"),
    ("-----BEGIN PRIVATE KEY-----\n", "MIIEvQIBADANBgkqhkiG9w0B\n" * 11, "-----END PRIVATE KEY-----\n"),
    ("", "of-the-environment-9", " "),
]
_FILLER = st.lists(
    st.sampled_from(
        ["The ", "quick brown fox ", "x = 1\n", 'a "b" ', "é ☃ ", "monkey ", "the_name_of_it ", "a/b/c "]
    )
    | st.integers(1, 60).map(lambda count: "word " * count),
    max_size=3,
).map("".join)
_TEXTS = st.tuples(
    _FILLER, st.lists(st.tuples(st.sampled_from(SECRETS), _FILLER), min_size=1, max_size=2), _FILLER
)
_Text = tuple[str, list[tuple[tuple[str, str, str], str]], str]

Event = Callable[[str, int], list[Any]]


def _choice(text: str, index: int = 0, name: str = "content") -> dict[str, Any]:
    choice = {"index": index, "delta": {name: text}, "logprobs": None, "finish_reason": None}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


def _chat(text: str, n: int) -> list[Any]:
    return [_choice(text)]


def _padded(text: str, n: int) -> list[Any]:
    return [{**_choice(text), "obfuscation": "aB3xY"[n % 5 :]}]


def _side_by_side(text: str, n: int) -> list[Any]:
    """Two answers to one question, of which the other has a word more at each turn."""
    return [_choice(f"other{n} ", 1), _choice(text)]


def _reasoning(text: str, n: int) -> list[Any]:
    return [_choice(text, name="reasoning_content")]


def _response(text: str, n: int) -> list[Any]:
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    kind = "response.output_text.delta"
    return [{"type": kind, "sequence_number": n, **place, "delta": text, "obfuscation": "aB3xY"[n % 5 :]}]


def _claude(text: str, n: int) -> list[Any]:
    kind = "content_block_delta"
    return [{"type": kind, "index": 0, "delta": {"type": "text_delta", "text": text}}]


def _arguments(text: str, n: int) -> list[Any]:
    """The text is a value in JSON that comes in pieces itself."""
    delta = {"type": "input_json_delta", "partial_json": json.dumps(text)[1:-1]}
    return [{"type": "content_block_delta", "index": 0, "delta": delta}]


def _local(text: str, n: int) -> list[Any]:
    return [{"model": "m", "message": {"role": "assistant", "content": text}, "done": False}]


_SENT, _LINES = "text/event-stream", "application/x-ndjson"
WIRES: list[tuple[str, str, Event]] = [
    ("/v1/chat/completions", _SENT, _chat),
    ("/v1/chat/completions", _SENT, _padded),
    ("/v1/chat/completions", _SENT, _side_by_side),
    ("/v1/chat/completions", _SENT, _reasoning),
    ("/v1/responses", _SENT, _response),
    ("/v1/messages", _SENT, _claude),
    ("/v1/messages", _SENT, _arguments),
    ("/api/chat", _LINES, _local),
]


@pytest.fixture(scope="module", autouse=True)
def _instrumented() -> Iterator[None]:
    ensure_installed()
    yield
    uninstrument()


def _whole(text: _Text) -> tuple[str, list[str]]:
    before, parts, after = text
    said = before + "".join(f"{intro}{secret}{end}{more}" for (intro, secret, end), more in parts)
    return said + after, [secret for (_, secret, _), _ in parts]


def _cut(data: Any, at: list[int]) -> list[Any]:
    """`data` in pieces, cut at these places."""
    places = sorted({0, len(data), *(place % (len(data) + 1) for place in at)})
    return [data[start:end] for start, end in pairwise(places)]


def _texts(body: bytes) -> list[str]:
    """What each text says that grows by pieces, joined."""
    texts: dict[Any, str] = {}
    for line in body.split(b"\n"):
        try:
            event = json.loads(line.removeprefix(b"data: "))
        except ValueError:  # torn, or no JSON
            continue
        for place, piece in _leaves(event, ()):
            texts[place] = texts.get(place, "") + piece
    return list(texts.values())


def _leaves(value: Any, place: tuple[Any, ...]) -> Iterator[tuple[Any, str]]:
    if isinstance(value, dict):
        place = (*place, value.get("index"))
        for name, inner in value.items():
            yield from _leaves(inner, (*place, name))
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, place)
    elif isinstance(value, str) and place[-1] not in ("obfuscation", "type", "id", "model"):
        yield place, value


def _gone(secrets: list[str], body: bytes) -> None:
    """In none of its texts is a secret, or much of one."""
    for text in (*_texts(body), body.decode("utf-8", "replace")):
        for secret in secrets:
            step = len(secret) // 20 + 1
            parts = (secret[n : n + 12] for n in range(0, len(secret) - 11, step))
            assert not any(part in text for part in parts), (secret, text[-2000:])


def _events(event: Event, kind: str, pieces: list[str]) -> list[bytes]:
    """Each with what stands between it and the next."""
    start, end = (b"data: ", b"\n\n") if kind == _SENT else (b"", b"\n")
    said = [one for n, piece in enumerate(pieces) for one in event(piece, n)]
    return [start + json.dumps(one, ensure_ascii=False).encode() + end for one in said]


_EVERYWHERE = settings(
    max_examples=tries(100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@_EVERYWHERE
@given(
    text=_TEXTS,
    wire=st.sampled_from(WIRES),
    size=st.sampled_from([2, 5, 12, 60, 700, 20_000]),
    cuts=st.lists(st.integers(0, 20_000), max_size=12),
    torn=st.none() | st.lists(st.integers(0, 50_000), max_size=30),
)
def test_no_secret_reaches_a_file(
    tmp_path_factory: pytest.TempPathFactory, text: _Text, wire: tuple[str, str, Event], size: int,
    cuts: list[int], torn: list[int] | None,
) -> None:  # fmt: skip
    said, secrets = _whole(text)
    path, kind, event = wire
    pieces = _cut(said, [*range(0, len(said), size), *cuts])
    chunks = _events(event, kind, pieces)
    if torn is not None:  # the network cuts anywhere
        chunks = _cut(b"".join(chunks), torn)
    log = tmp_path_factory.mktemp("cut") / "run.lctl.json"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("APP_SECRET", "of-the-environment-9")
        _recorded(log, path, kind, chunks, secrets)
    for line in json.loads(log.read_text())["events"]:
        if line["type"] == "exchange":
            _gone(secrets, b"".join(chunk for _, chunk in rebuild_chunks(line["data"])))
    _gone(secrets, log.read_bytes())


def _recorded(log: Path, path: str, kind: str, chunks: list[bytes], secrets: list[str]) -> None:
    """A call is recorded that has these chunks for an answer; at twenty of them the file beside the log is
    read."""
    for n, kept in enumerate(_kept(log, path, kind, chunks)):
        if n % (len(chunks) // 20 + 1) == 0:
            _gone(secrets, kept)


def _kept(log: Path, path: str, kind: str, chunks: list[bytes]) -> Iterator[bytes]:
    """What of the answer is in the file beside the log when the program has each chunk."""
    beside = log.with_name(f".{log.name}.streams")
    answer = httpx.MockTransport(
        lambda request: httpx.Response(200, content=iter(chunks), headers={"content-type": kind})
    )
    asked = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "Hi"}], "input": "Hi"}
    with (
        LCTLSession("c", log),
        httpx.Client(transport=answer) as client,
        client.stream("POST", f"http://model{path}", json=asked) as response,
    ):
        for _ in response.iter_raw():
            yield b"".join(inside for letter, _, inside in frames(beside.read_bytes()) if letter in b"CR")


def test_what_holds_no_secret_is_kept_as_far_as_it_can_be_read(tmp_path: Path) -> None:
    """Whole events, wherever the network cuts them."""
    body = b"".join(_events(_chat, _SENT, _cut("The quick brown fox jumps. " * 40, [*range(0, 1080, 5)])))
    chunks = _cut(body, [*range(0, len(body), 777)])
    came = 0
    for chunk, kept in zip(
        chunks, _kept(tmp_path / "run.lctl.json", WIRES[0][0], _SENT, chunks), strict=True
    ):
        came += len(chunk)
        assert body.startswith(kept)
        assert len(kept) >= came - 3 * len(body) // 216


def test_a_text_that_ended_in_a_long_word_keeps_back_no_other(tmp_path: Path) -> None:
    said = [_choice("It is inconsistent"), *(_choice(f"other {n} ", 1) for n in range(30))]
    chunks = [b"data: " + json.dumps(one).encode() + b"\n\n" for one in said]
    *_, kept = _kept(tmp_path / "run.lctl.json", WIRES[0][0], _SENT, chunks)
    assert kept == b"".join(chunks)


@pytest.mark.parametrize("data", [
    {"type": "response.created", "response": {"instructions": f"Use {SECRETS[0][1]}."}},
    {"error": {"message": f"Incorrect API key provided: {SECRETS[0][1]}."}},
])  # fmt: skip
def test_an_event_that_says_no_more_of_a_text(tmp_path: Path, data: dict[str, Any]) -> None:
    chunks = [*_events(_claude, _SENT, ["One ", "two "]), b"data: " + json.dumps(data).encode() + b"\n\n"]
    _recorded(tmp_path / "run.lctl.json", "/v1/messages", _SENT, [*chunks, *chunks[:2]], [SECRETS[0][1]])
