"""The canonical form of one line, both ways. Loads orjson and nothing else: recorders import it."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lctl.events import Event

#: An escape in JSON text; group 1 is half of a surrogate pair without the other, which UTF-8 cannot hold.
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)

#: Every digit as 0, and so many of them: what a number past 64 bits has in it, and hardly anything else.
_DIGITS = bytes(48 if 48 <= code <= 57 else code for code in range(256))
_LONG = b"0" * 19

#: Start of a canonical event line; group 1 is its seq.
SEQ = re.compile(rb'\{"seq":(\d{1,18})[,}]')


def encode(event: Event) -> bytes:
    """The canonical line of an event: keys in envelope order, no spaces, UTF-8, no line end."""
    return encode_value(event.to_dict())


def encode_value(value: Any, *, default: Callable[[Any], Any] | None = None, option: int = 0) -> bytes:
    """JSON, compact unless `option` says otherwise.

    What orjson refuses (numbers past 64 bits, lone surrogates, more than 254 levels) goes the slow way,
    which is always compact. `default` and `option` are as in `orjson.dumps`. What is read from a log is
    written with this, not with `orjson.dumps`: others' logs hold such values.
    """
    try:
        return orjson.dumps(value, default=default, option=option)
    except TypeError:
        return "".join(_pieces(value, default, bool(option & orjson.OPT_SORT_KEYS))).encode()


def header(chain: dict[str, Any], extra: dict[str, Any] | None = None) -> bytes:
    """First line of a file, up to and with the `[` that opens the events; no line end."""
    return encode_value({"lctl": "4.0", "chain": chain, **(extra or {})})[:-1] + b',"events":['


def is_header(value: Any) -> bool:
    """Whether the first line of JSON Lines is a header and not an event."""
    if not isinstance(value, dict) or ("seq" in value and "type" in value):
        return False
    return "lctl" in value or "chain" in value


def closing(tail: dict[str, Any]) -> bytes:
    """What follows the last event line of a closed file, first line feed included."""
    body = encode_value(tail)[1:-1]
    return b"\n]" + (b"," + body if body else b"") + b"}\n"


def decode(line: bytes, *, as_written: bool = False) -> Any:
    """The value of one line, trailing comma and blanks allowed.

    Raises ValueError, with the reason as its text: not JSON, not UTF-8, or nested too deeply.

    Args:
        as_written: as `loads`.
    """
    line = line.strip(b", \t\r\n")
    try:
        return strictly(line)
    except ValueError:
        pass
    try:  # NaN, lone surrogates and long numbers: JSON in the eyes of most other writers
        return loads(line.decode(), as_written=as_written)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except UnicodeDecodeError:
        raise ValueError("not UTF-8") from None
    except ValueError:
        raise ValueError("not JSON") from None


def strictly(raw: bytes) -> Any:
    """The value of JSON as the standard has it. Raises ValueError."""
    if _LONG in raw.translate(_DIGITS):  # orjson makes floats of whole numbers past 64 bits
        import msgspec  # here: a recorder has no other need of it

        try:
            return msgspec.json.decode(raw)
        except RecursionError:  # it counts the levels of the program around it too
            pass
    return orjson.loads(raw)


def loads(text: str, *, as_written: bool = False) -> Any:
    """The value of JSON text as other writers have it: NaN is null, half a surrogate pair is spelled out.

    Raises ValueError or RecursionError.

    Args:
        as_written: keep such halves as they are. UTF-8 cannot hold them: such a value is to be written
            again and for nothing else.
    """
    import json

    return json.loads(text if as_written else _whole_escapes(text), parse_constant=_no_constant)


def spelled(value: Any) -> Any:
    """The value with each half of a surrogate pair spelled out (`\\ud800`); itself if there is none."""
    text = encode_value(value).decode()
    whole = _whole_escapes(text)
    return value if whole == text else loads(whole)


def _whole_escapes(text: str) -> str:
    """JSON text whose every string UTF-8 can hold: half a surrogate pair becomes the text `\\ud800`."""
    if "\\u" not in text:
        return text
    return _ESCAPE.sub(lambda found: "\\" + found[0] if found[1] else found[0], text)


def _no_constant(name: str) -> None:
    """NaN and Infinity, which JSON does not have, read as null."""
    return


def _pieces(value: Any, default: Callable[[Any], Any] | None, sort: bool) -> Iterator[str]:
    """The text of `value` bit by bit; without recursion, since its levels may be more than Python's."""
    import json

    waiting: list[Any] = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, _Text):
            yield value
        elif isinstance(value, dict):
            waiting.append(_CLOSE_OBJECT)
            pairs = sorted(value.items()) if sort else list(value.items())
            for n, (key, item) in enumerate(reversed(pairs)):
                comma = "," if n < len(value) - 1 else ""
                waiting += (item, _Text(f"{comma}{json.dumps(str(key))}:"))
            yield "{"
        elif isinstance(value, list | tuple):
            waiting.append(_CLOSE_LIST)
            for n, item in enumerate(reversed(value)):
                waiting.append(item)
                if n < len(value) - 1:
                    waiting.append(_COMMA)
            yield "["
        elif isinstance(value, float) and not math.isfinite(value):
            yield "null"
        elif value is None or isinstance(value, str | bool | int | float) or default is None:
            yield json.dumps(value)
        else:
            waiting.append(default(value))


class _Text(str):
    """JSON already written, among values still to write."""

    __slots__ = ()


_COMMA, _CLOSE_LIST, _CLOSE_OBJECT = _Text(","), _Text("]"), _Text("}")
