"""Secrets in streams: one that is spread over several chunks is in none of them, and yet in the log.

What an answer says is redacted where it stands whole, in its `message` event. The raw chunks of the
same stream hold it in pieces, which anybody can join. So where the answer holds a secret the chunks are
rewritten: the pieces of each text are joined, redacted and dealt out again, and each event of the
stream stays valid JSON in its place. Events are server-sent, or in AWS's frames.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from operator import methodcaller
from typing import TYPE_CHECKING, Any

import orjson

from lctl.instrument.codecs import aws
from lctl.instrument.streamforms import FRAMES, Form, form_of

if TYPE_CHECKING:
    from lctl.session.redaction.redact import Redactor

Path = tuple[str | int, ...]

#: Where a text's pieces are: under `delta` in most dialects, else under one of these names.
_PIECES = frozenset(
    {"text", "content", "thinking", "reasoning", "reasoning_content", "response", "transcript"}
    | {
        "token",
        "generation",
        "outputText",
        "completion",
        "generated_text",
        "arguments",
        "stringValue",
        "value",
    }
)
#: What tells texts apart that grow side by side in one stream; in this order.
_PLACES = dict.fromkeys(
    ("index", "output_index", "content_index", "summary_index", "item_id", "contentBlockIndex")
)
#: Texts beside a piece that are none.
_UNSAID = frozenset({"id", "type", "role", "name", *_PLACES})
#: The text that a torn event ends in.
_OPEN = re.compile(rb'": ?"([^"\\]*)\Z')
_ends_line = methodcaller("endswith", b"\n")


def may_hold_secret(
    redactor: Redactor,
    chunks: Sequence[bytes],
    messages: Collection[Mapping[str, Any]],
    *,
    frames: bool = False,
) -> bool:
    """Whether what was streamed, taken together, may hold a secret; cheap where it does not.

    Args:
        frames: the stream is of AWS's frames, in which base64 hides what there is from a look at the bytes.
    """
    if any(suspicious(redactor, orjson.dumps(message, default=str)) for message in messages):
        return True
    if frames:
        held = aws.split_frames(b"".join(chunks))
        return suspicious(redactor, b"\n".join(aws.payload_of(frame) for frame in held))
    if not messages and _grows_to_secret(redactor, b"".join(chunks)):  # of a form that has no codec
        return True
    if chunks and not _ends_line(chunks[-1]) and _goes_on_torn(redactor, b"".join(chunks)):
        return True
    # Outside the answer (an echoed prompt, an error) only the network cuts, in the middle of an event.
    return not all(map(_ends_line, chunks[:-1])) and suspicious(redactor, b"".join(chunks))


def _goes_on_torn(redactor: Redactor, body: bytes) -> bool:
    """Whether a text may hold a secret with what the torn end of a stream says: no answer has that."""
    whole = body[: body.rfind(b"\n") + 1]
    more = _OPEN.search(body, len(whole))
    if more is None:
        return False
    return any(suspicious(redactor, said.encode() + more[1]) for _, said in growing_texts(whole))


def _grows_to_secret(redactor: Redactor, body: bytes) -> bool:
    return any(suspicious(redactor, said.encode()) for _, said in growing_texts(body))


def suspicious(redactor: Redactor, text: bytes) -> bool:
    """Whether bytes may hold a secret as they stand."""
    return redactor.suspicion(text, text.lower().decode("latin-1"))


def conceal(redactor: Redactor, chunks: Sequence[bytes], *, frames: bool = False) -> list[bytes]:
    """`chunks` of a stream of events, as many, without secrets.

    An event is in the chunk that ended it. What cannot be read (the torn end of a cut stream) is left out.
    """
    body = b"".join(chunks)
    form: Form = FRAMES if frames else form_of(body)
    events, ends = form.split(body)
    changed = _redacted(redactor, form, events)
    if changed == events and len(chunks) == 1:
        return list(chunks)
    made: list[list[bytes]] = [[] for _ in chunks]
    at, passed = 0, len(chunks[0]) if chunks else 0
    for event, end in zip(changed, ends, strict=True):
        while passed < end:
            at += 1
            passed += len(chunks[at])
        made[at].append(event)
    return [b"".join(parts) for parts in made]


def conceal_tokens(redactor: Redactor, body: bytes) -> bytes:
    """A whole answer that says its text in pieces (log probabilities token by token, a list of the chunks of
    a stream), without secrets."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return body
    if not isinstance(value, dict | list):
        return body
    texts: dict[Any, list[tuple[int, Path, str]]] = {}
    _collect(value, 0, (), (), False, texts)
    before = orjson.dumps(value)
    for pieces in texts.values():
        _deal(redactor, [value], pieces)
    now = orjson.dumps(value)
    return body if now == before else now


def _redacted(redactor: Redactor, form: Form, events: list[bytes]) -> list[bytes]:
    values = [form.read(event) for event in events]
    texts: dict[Any, list[tuple[int, Path, str]]] = {}
    for n, value in enumerate(values):
        if isinstance(value, dict):
            _collect(value, n, (), (str(value.get("type")),), False, texts)
    before = [orjson.dumps(value) for value in values]
    for pieces in texts.values():
        _deal(redactor, values, pieces)
    made = []
    for event, value, was in zip(events, values, before, strict=True):
        if not isinstance(value, dict):
            made.append(form.clean(redactor, event))
            continue
        now = orjson.dumps(redactor.value(value))
        made.append(event if now == was else form.write(event, now))
    return made


def growing_texts(body: bytes) -> list[tuple[Any, str]]:
    """What whole events say of each text that grows by pieces, as JSON has it in a string, after what tells
    that text from the others. Of none that they say nothing of."""
    if b"{" not in body:  # the mark of the end, a comment
        return []
    form = form_of(body)
    texts: dict[Any, list[tuple[int, Path, str]]] = {}
    for event in form.split(body)[0]:
        value = form.read(event)
        if isinstance(value, dict):
            _collect(value, 0, (), (str(value.get("type")),), False, texts)
    said = [(place, "".join([text for _, _, text in pieces])) for place, pieces in texts.items()]
    return [(place, _escaped(text)) for place, text in said if text]


def spelled(said: bytes) -> str | None:
    """What is in a string of JSON, as `growing_texts` spells it; None if it is not all of that string."""
    try:
        return orjson.dumps(orjson.loads(b'"%b"' % said))[1:-1].decode()
    except orjson.JSONDecodeError:
        return None


def _escaped(text: str) -> str:
    if '"' in text or "\\" in text or not text.isprintable():
        return orjson.dumps(text.encode("utf-8", "replace").decode())[1:-1].decode()
    return text


def _collect(value: Any, event: int, path: Path, place: tuple[Any, ...], piece: bool, texts: Any) -> None:
    """Every piece of a growing text in one event, under what tells that text from the others."""
    if isinstance(value, list):
        for n, inner in enumerate(value):
            if isinstance(inner, str):
                if piece:
                    texts.setdefault(place, []).append((event, (*path, n), inner))
            elif isinstance(inner, dict | list):
                _collect(inner, event, (*path, n), place, piece, texts)
        return
    if not _PLACES.keys().isdisjoint(value) and not isinstance(
        value.get("token"), dict
    ):  # it is a token's number
        place = (*place, *(f"{name} {value[name]}" for name in _PLACES if name in value))
    for name, inner in value.items():
        inside = piece or name == "delta"
        if isinstance(inner, str):
            if (inside or name in _PIECES) and name not in _UNSAID:
                texts.setdefault((*place, name), []).append((event, (*path, name), inner))
        elif isinstance(inner, dict | list) and name != "top_logprobs":
            _collect(inner, event, (*path, name), (*place, name), inside, texts)


def _deal(redactor: Redactor, values: list[Any], pieces: list[tuple[int, Path, str]]) -> None:
    """Put the redacted whole in place of the pieces; those before and after the secrets stay as they are."""
    whole = "".join(text for _, _, text in pieces)
    clean = redactor.text(whole)
    if clean == whole:
        return
    shorter = min(len(whole), len(clean))
    head = next((n for n in range(shorter) if whole[n] != clean[n]), shorter)
    tail = next((n for n in range(shorter - head) if whole[-1 - n] != clean[-1 - n]), shorter - head)
    middle = clean[head : len(clean) - tail]
    start = 0
    for event, path, text in pieces:
        end = start + len(text)
        kept = text[: max(0, head - start)]
        if start <= head < end:
            kept += middle
        kept += text[max(0, len(whole) - tail - start) :]
        if kept != text:
            _put(values[event], path, kept)
        start = end


def _put(value: Any, path: Path, text: str) -> None:
    for key in path[:-1]:
        value = value[key]
    if "logprob" in value:
        value.update({name: [] for name in ("bytes", "top_logprobs") if name in value})
    value[path[-1]] = text
