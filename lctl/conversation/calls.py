"""Which model call each sampled message came from: model, tools, how it ended, what it took.

A call is told of in two ways: by the `call` of the message itself, or by the model call's step, whose
`step_start` is named in the envelope of the message and whose `step_end` names the message.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

Data = Mapping[str, Any]

WHOLE, LIMIT, FILTER = 0, 1, 2
#: How providers say that an answer was cut off by a limit on its length.
CUT = frozenset(
    {
        "length",
        "max_tokens",
        "MAX_TOKENS",
        "incomplete:max_output_tokens",
        "model_context_window_exceeded",
        "incomplete",
    }
)
#: How they say that a filter of theirs ended it, or took its place.
FILTERED = frozenset(
    {
        *("content_filter", "incomplete:content_filter", "refusal"),
        *("content_filtered", "guardrail_intervened"),
        *("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "ERROR_TOXIC"),
    }
)
_INPUT = ("input", "input_tokens", "prompt_tokens")
_OUTPUT = ("output", "output_tokens", "completion_tokens")


class Key(NamedTuple):
    """What a sampled message is on policy for: the model that answered, and the hash of its tools."""

    model: str
    tools: str


class Calls:
    """Rows of what is known of the calls, found by the number of the message they sampled.

    A row's columns are as of the newest event; `answered` and `ended` of a row say since when.

    Attributes:
        definitions: tool definitions by hash.
        has_tokens: some call's token ids are in the log.
    """

    def __init__(self) -> None:
        self.definitions: dict[str, Any] = {}
        self.has_tokens = False
        self.prompt_hashes: dict[int, str] = {}
        self._keys = [Key("", "")]
        self._known: dict[tuple[str, str], int] = {("", ""): 0}
        self._open: dict[int, tuple[int, str | None, bool]] = {}  # step -> key, prompt, gives token ids
        self._row = array("i")  # by message number
        self._asked = array("i")
        self._answered = array("i")
        self._started = array("q")
        self._ended = array("q")
        self._exchange = array("q")
        self._read = array("q")
        self._wrote = array("q")
        self._cut = bytearray()
        self._strayed = bytearray()
        self._exchanges: dict[int, int] = {}  # step -> its newest exchange, where that has token ids

    # -- events ------------------------------------------------------------------------------

    def begin(self, seq: int, data: Data) -> None:
        """A `step_start`."""
        definitions = data.get("tool_definitions")
        tools = data.get("tools")
        if isinstance(tools, str) and definitions:
            self.definitions.setdefault(tools, definitions)
        if data.get("kind") != "llm":
            return
        params = data.get("params")
        ids = isinstance(params, Mapping) and params.get("return_token_ids") is True
        prompt = data.get("prompt")
        key = self._number(name_of(data.get("model")), self._tools(tools))
        self._open[seq] = (key, prompt if isinstance(prompt, str) else None, ids)

    def exchange(self, seq: int, step: int | None) -> None:
        """An `exchange`: kept in mind where the request asked for token ids."""
        if step is not None and (known := self._open.get(step)) is not None and known[2]:
            self._exchanges[step] = seq
            self.has_tokens = True

    def prompt(self, step: int | None) -> str | None:
        """Id of the last prompt message of a call that is under way."""
        opened = self._open.get(step) if step is not None else None
        return opened[1] if opened is not None else None

    def sampled(self, number: int, step: int | None, data: Data, strayed: bool) -> None:
        """A sampled message; `strayed`: its prompt did not end with the message it was placed below."""
        if self.row(number) >= 0:
            return
        call = data.get("call")
        opened = self._open.get(step) if step is not None else None
        key = opened[0] if opened is not None else 0
        if isinstance(call, Mapping):
            key = self._reported(call, key)
        row = self._add(number, key, step if opened is not None and step is not None else 0)
        if opened is not None:
            self._exchange[row] = self._exchanges.get(step or 0, 0)
        if strayed:
            self._strayed[row] = 1
        if isinstance(call, Mapping):
            self._cut[row] = ending(call.get("finish_reason"))
            usage = call.get("usage")
            if usage is not None:
                self._count(row, usage)
            if isinstance(call.get("prompt_hash"), str):
                self.prompt_hashes[number] = call["prompt_hash"]
            if call.get("tokens_ref") or call.get("token_ids"):
                self.has_tokens = True

    def is_of(self, number: int, step: int | None) -> bool:
        """Whether a message is a part of the answer that a call, under way in this step, gives."""
        row = self.row(number)
        return row >= 0 and step is not None and self._started[row] == step

    def _reported(self, call: Data, otherwise: int) -> int:
        """Number of the key that a message's own `call` says; what it leaves out is its step's."""
        model, tools = call.get("model"), call.get("tools")
        if tools is not None:
            tools = self._tools(tools, call.get("tool_definitions"))
        asked = self._keys[otherwise]
        return self._number(name_of(model) or asked.model, tools or asked.tools)

    def end(self, seq: int, step: int | None, data: Data, numbers: list[int]) -> None:
        """A `step_end` that names the sampled messages with these numbers."""
        opened = self._open.pop(step, None) if step is not None else None
        exchange = self._exchanges.pop(step, 0) if step is not None else 0
        for place, number in enumerate(numbers):
            row = self.row(number)
            if row < 0 or self._ended[row]:
                continue
            asked = self._keys[self._asked[row]]
            if opened is not None and not self._started[row]:
                self._started[row] = step or 0
                if asked == Key("", ""):
                    self._asked[row] = opened[0]
                    asked = self._keys[opened[0]]
            if exchange:
                self._exchange[row] = exchange
            model = name_of(data.get("model")) or asked.model
            self._answered[row] = self._number(model, asked.tools)
            self._ended[row] = seq
            if (cut := ending(finish_reason(data, place))) != WHOLE:
                self._cut[row] = cut
            if len(numbers) == 1:
                self._count(row, data.get("tokens"))

    def define(self, tools: Any) -> None:
        """The `tools` of a `session_start`: {hash: definitions}."""
        if isinstance(tools, Mapping):
            for name, definitions in tools.items():
                self.definitions.setdefault(str(name), definitions)

    # -- reading -----------------------------------------------------------------------------

    def row(self, number: int) -> int:
        """-1: nothing is known of its call."""
        return self._row[number] if number < len(self._row) else -1

    def key(self, number: int, seq: int) -> int:
        """Number of its key as of event `seq`; equal keys have equal numbers."""
        row = self.row(number)
        if row < 0:
            return 0
        return self._answered[row] if 0 < self._ended[row] <= seq else self._asked[row]

    def key_named(self, key: int) -> Key:
        return self._keys[key]

    def events(self, number: int) -> tuple[int, int, int]:
        """Seqs of the `step_start`, the `step_end` and the exchange of its call; 0 where there is none."""
        row = self.row(number)
        return (self._started[row], self._ended[row], self._exchange[row]) if row >= 0 else (0, 0, 0)

    def counts(self, number: int) -> tuple[int | None, int | None]:
        """Tokens its call read and wrote; None where nobody said."""
        row = self.row(number)
        if row < 0:
            return None, None
        read, wrote = self._read[row], self._wrote[row]
        return (read if read >= 0 else None, wrote if wrote >= 0 else None)

    def ending(self, number: int) -> int:
        """WHOLE, or what ended it early: LIMIT or FILTER."""
        row = self.row(number)
        return self._cut[row] if row >= 0 else WHOLE

    def strayed(self, number: int) -> bool:
        """Whether the log says that its prompt ended with another message than its parent."""
        row = self.row(number)
        return row >= 0 and bool(self._strayed[row])

    # -- inside ------------------------------------------------------------------------------

    def _add(self, number: int, key: int, started: int) -> int:
        missing = number - len(self._row)
        row = len(self._asked)
        if missing < 0:
            self._row[number] = row
        else:
            if missing:
                self._row.extend(array("i", [-1]) * missing)
            self._row.append(row)
        self._asked.append(key)
        self._answered.append(-1)
        self._started.append(started)
        self._ended.append(0)
        self._exchange.append(0)
        self._read.append(-1)
        self._wrote.append(-1)
        self._cut.append(0)
        self._strayed.append(0)
        return row

    def _count(self, row: int, usage: Any) -> None:
        if not isinstance(usage, Mapping):
            return
        self._read[row] = _count(usage, _INPUT)
        self._wrote[row] = _count(usage, _OUTPUT)

    def _number(self, model: str, tools: str) -> int:
        number = self._known.get((model, tools))
        if number is None:
            number = self._known[model, tools] = len(self._keys)
            self._keys.append(Key(model, tools))
        return number

    def _tools(self, tools: Any, definitions: Any = None) -> str:
        if isinstance(tools, list) and tools:
            tools, definitions = tools_hash(tools), tools
        if not isinstance(tools, str):
            return ""
        if definitions:
            self.definitions.setdefault(tools, definitions)
        return tools


def tools_hash(definitions: list[Any]) -> str:
    """The name a set of tool definitions goes by."""
    from hashlib import sha256

    from lctl.codec.lines import encode_value

    return "sha256:" + sha256(encode_value(definitions, option=orjson.OPT_SORT_KEYS)).hexdigest()


def finish_reason(end: Data, place: int) -> Any:
    """Why one of a call's choices ended, as its `step_end` says: told one by one where they differ."""
    several = end.get("finish_reasons")
    return several[place] if isinstance(several, list) and place < len(several) else end.get("finish_reason")


def ending(reason: Any) -> int:
    """What ended an answer with this finish reason."""
    if not isinstance(reason, str):
        return WHOLE
    return LIMIT if reason in CUT else FILTER if reason in FILTERED else WHOLE


def name_of(model: Any) -> str:
    """A model given by name or as {id}."""
    if type(model) is str:
        return model
    named = model.get("id") if isinstance(model, Mapping) else model
    return named if isinstance(named, str) else ""


def _count(usage: Data, names: tuple[str, ...]) -> int:
    for name in names:
        value = usage.get(name)
        if type(value) is int and 0 <= value < 10**15:
            return value
    return -1
