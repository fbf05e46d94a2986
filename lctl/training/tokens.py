"""Token ids of calls, where the log has them.

Three places: `call.prompt_token_ids`, `call.token_ids` and `call.logprobs` of the message; a `blob` event
of JSON with those names, which `call.tokens_ref` names by its hash; the exchange of a call that asked the
server for them (`return_token_ids`, as vLLM understands it).
"""

from __future__ import annotations

import base64
import re
from array import array
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import orjson

from lctl.conversation.tree import Tree
from lctl.values import items

Data = Mapping[str, Any]

#: Of a stream of events. What else separates lines of a text (U+2028) stands as it is in JSON.
_LINE_END = re.compile(r"\r\n|\n|\r")


class Tokens(NamedTuple):
    """What one call read and wrote, in tokens; `logprobs` are of what it wrote, None where not kept."""

    prompt: array[int]
    completion: array[int]
    logprobs: list[float] | None

    @property
    def end(self) -> int:
        """How many tokens prompt and completion are."""
        return len(self.prompt) + len(self.completion)

    def begins(self, other: Tokens) -> bool:
        """Whether the prompt of `other` begins with all of this."""
        split, end = len(self.prompt), self.end
        return other.prompt[:split] == self.prompt and other.prompt[split:end] == self.completion


def tokens_of(tree: Tree, number: int, data: Data) -> Tokens | None:
    """Tokens of the call that sampled a message; None where the log lacks any of them."""
    call = data.get("call")
    if isinstance(call, Mapping):
        found = _read(call)
        reference = call.get("tokens_ref")
        if found is None and isinstance(reference, str):
            found = _read(_blob(tree, reference))
        if found is not None:
            return found
    _, ended, exchange = tree.forest.calls.events(number)
    if not exchange or exchange > tree.seq:
        return None
    place = choice(tree.forest.ids[number], event_data(tree, ended))
    return _exchanged(event_data(tree, exchange), place)


def event_data(tree: Tree, seq: int) -> Data:
    """What the log holds at a seq; nothing where it is not kept in memory."""
    try:
        return tree.forest.data_at(seq) if seq else {}
    except KeyError:
        return {}


def _read(held: Any) -> Tokens | None:
    if not isinstance(held, Mapping):
        return None
    prompt, completion = _ids(held.get("prompt_token_ids")), _ids(held.get("token_ids"))
    if prompt is None or not completion:
        return None
    logprobs = held.get("logprobs")
    known = isinstance(logprobs, list) and len(logprobs) == len(completion)
    if known and not all(isinstance(value, int | float) for value in logprobs or ()):
        known = False
    return Tokens(prompt, completion, [float(value) for value in logprobs] if known and logprobs else None)


def _ids(value: Any) -> array[int] | None:
    try:
        return array("q", value) if isinstance(value, list) else None
    except (TypeError, OverflowError):
        return None


def _blob(tree: Tree, hash: str) -> Any:
    data = event_data(tree, tree.forest.blobs.get(hash, 0))
    content = data.get("content")
    if not isinstance(content, str):
        return None
    try:
        return orjson.loads(base64.b64decode(content) if data.get("encoding") == "base64" else content)
    except ValueError:
        return None


# -- on the wire -----------------------------------------------------------------------------


def choice(id: str, end: Data) -> int:
    """Which of the choices of a call, that ended so, a message is."""
    named = end.get("messages")
    return named.index(id) if isinstance(named, list) and id in named else 0


def _exchanged(data: Data, index: int) -> Tokens | None:
    whole: dict[str, Any] = {"prompt_token_ids": None, "token_ids": [], "logprobs": []}
    for part in _documents(data):
        if isinstance(part.get("prompt_token_ids"), list):
            whole["prompt_token_ids"] = part["prompt_token_ids"]
        for choice in items(part.get("choices")):
            if not isinstance(choice, dict) or choice.get("index", 0) != index:
                continue
            if isinstance(choice.get("token_ids"), list):
                whole["token_ids"] += choice["token_ids"]
            if isinstance(choice.get("prompt_token_ids"), list):
                whole["prompt_token_ids"] = choice["prompt_token_ids"]
            whole["logprobs"] += _logprobs(choice.get("logprobs"))
    return _read(whole)


def _logprobs(value: Any) -> list[Any]:
    if not isinstance(value, dict):
        return []
    content = value.get("content")
    if not isinstance(content, list):
        return items(value.get("token_logprobs"))  # of a completion
    return [one.get("logprob") for one in content if isinstance(one, dict)]


def _documents(data: Data) -> Iterator[dict[str, Any]]:
    """The JSON documents of a response: one, or one an event of a stream.

    Texts that stand in the message's own event are left out: they are strings of which nothing is read.
    """
    if data.get("body") is not None:
        yield from _parsed(_text(data["body"]))
        return
    around = data.get("around")
    before, after = around if isinstance(around, list) and len(around) == 2 else ("", "")
    pieces = []
    for chunk in items(data.get("chunks")):
        if isinstance(chunk, list) and len(chunk) > 1:
            held = chunk[1]
            pieces.append(
                f"{before}{_text(held[0])}{after}"
                if isinstance(held, list) and len(held) == 1
                else _text(held)
            )
    for line in _LINE_END.split("".join(pieces)):
        if line.startswith("data:"):
            yield from _parsed(line[5:])


def _text(held: Any) -> str:
    if isinstance(held, str):
        return held
    if isinstance(held, list):
        return "".join(_text(piece) if isinstance(piece, str) else _left_out(piece) for piece in held)
    return ""


def _left_out(reference: Any) -> str:
    """A value that is stored with its message: whatever it is, null is a value too."""
    return "null" if isinstance(reference, dict) else ""


def _parsed(text: str) -> Iterator[dict[str, Any]]:
    try:
        made = orjson.loads(text)
    except ValueError:
        return
    if isinstance(made, dict):
        yield made
