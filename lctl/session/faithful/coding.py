"""The two walks, over values and over what stands for them."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import TYPE_CHECKING, Any

import orjson

from lctl.session.faithful.tables import (
    BY_NAME,
    CUSTOM,
    DECODERS,
    ENCODERS,
    LEAVES,
    Encode,
    Note,
    Unfaithful,
    fill,
    shape_of,
)

if TYPE_CHECKING:
    from lctl.session.faithful.arguments import Given

_DEPTH = 100
_INT = 1 << 63
#: Bytes of JSON that stand for one call's result.
LIMIT = 16 << 20


def encode(value: Any) -> Any:
    """JSON that stands for `value`.

    Raises:
        Unfaithful: there is none of which `decode` makes the same again.
    """
    return encode_parts(value, Encoder.value, Decoder.value)


def decode(made: Any) -> Any:
    """The value that `made` stands for.

    Raises:
        Unfaithful: it stands for nothing that can be made here.
    """
    return Decoder().value(made)


def encode_parts(
    parts: Any,
    write: Callable[[Encoder, Any], Any],
    read: Callable[[Decoder, Any], Any],
    given: Given | None = None,
) -> Any:
    """What `write` makes of `parts`, objects that occur twice marked, if `read` makes the same of it again.

    Raises:
        Unfaithful: some value cannot be written, or would not come back as it was.
    """
    fill()
    try:
        first = Encoder(given)
        made = write(first, parts)
        if first.again:
            made = write(Encoder(given, first.again, first.loose), parts)
        text = orjson.dumps(made)
        if len(text) > LIMIT:
            raise Unfaithful(f"a result of {len(text)} bytes, of which {LIMIT} are kept")
        back = read(Decoder(given), orjson.loads(text))
        same = orjson.dumps(write(Encoder(given, first.again, first.loose), back)) == text
    except RecursionError:
        raise Unfaithful("values nested too deep") from None
    if not same:
        raise Unfaithful("a result that is another when it is read back")
    return made


class Encoder:
    """One walk over values.

    Attributes:
        again: numbers of the objects met more than once.
        loose: numbers of the sets whose elements may come in any order, for theirs could not be kept.
    """

    def __init__(
        self, given: Given | None = None, again: set[int] | None = None, loose: set[int] | None = None
    ) -> None:
        self._given = given.index if given is not None else {}
        self._numbers: dict[int, int] = {}
        self._kept: list[Any] = []  # an id stays taken while its object lives
        self._depth = 0
        self._marked = again or set()
        self.again: set[int] = set()
        self.loose: set[int] = loose or set()

    def value(self, value: Any) -> Any:
        kind = type(value)
        if kind is str:
            return value if _is_text(value) else {"$": "str", "points": [ord(c) for c in value]}
        if value is None or kind is bool:
            return value
        if kind is int:
            return value if -_INT <= value < _INT else {"$": "int", "hex": hex(value)}
        if kind is float:
            return value if isfinite(value) else {"$": "float", "v": repr(value)}
        known = ENCODERS.get(kind) or shape_of(kind)
        if known is not None and (kind in LEAVES or (kind is tuple and not value)):
            return known(self, value)
        old = self._given.get(id(value))
        if old is not None:
            return {"$": "given", "n": old}
        number = self._numbers.get(id(value))
        if number is not None:
            self.again.add(number)
            return {"$": "ref", "n": number}
        number = self._numbers[id(value)] = len(self._numbers)
        self._kept.append(value)
        self._depth += 1
        if self._depth > _DEPTH:
            raise Unfaithful(f"values nested more than {_DEPTH} deep")
        try:
            made = self._container(value, kind, known)
        finally:
            self._depth -= 1
        if number in self._marked:
            return {"$": "def", "n": number, "v": made}
        return made

    def _container(self, value: Any, kind: type, known: Encode | None) -> Any:
        if kind is list:
            return [self.value(item) for item in value]
        if kind is dict:
            return self.mapping(value)
        custom = CUSTOM.get(kind)
        if custom is not None:
            return {"$": "custom", "class": custom.name, "v": self.value(custom.encode(value))}
        if known is None:
            raise Unfaithful(f"{_article(kind)}, which JSON cannot hold")
        return known(self, value)

    def is_loose(self, value: Any) -> bool:
        return self._numbers.get(id(value)) in self.loose

    def loosen(self, value: Any) -> None:
        self.loose.add(self._numbers[id(value)])

    def mark(self) -> int:
        """Where the walk is, for `back_to` when what comes next cannot be written after all."""
        return len(self._kept)

    def back_to(self, mark: int) -> None:
        for value in self._kept[mark:]:
            self._numbers.pop(id(value), None)
        del self._kept[mark:]

    def mapping(self, value: dict[Any, Any]) -> Any:
        """A dict: as it is where its keys are texts, else in pairs."""
        if all(type(key) is str and _is_text(key) for key in value) and "$" not in value:
            return {key: self.value(item) for key, item in value.items()}
        return {"$": "dict", "pairs": self.pairs(value)}

    def pairs(self, value: Any) -> list[Any]:
        return [[self.value(key), self.value(item)] for key, item in value.items()]

    def fields(self, state: dict[str, Any]) -> dict[str, Any]:
        """Attributes by name."""
        for name in state:
            if type(name) is not str or not _is_text(name):
                raise Unfaithful("an attribute whose name is no text")
        return {name: self.value(item) for name, item in state.items()}


class Decoder:
    """One walk over what stands for values. `given` are the arguments that results may refer to."""

    def __init__(self, given: Given | None = None) -> None:
        fill()
        self._given = given.nodes if given is not None else []
        self._known: dict[int, Any] = {}
        self._depth = 0

    def value(self, made: Any, note: Note = lambda value: value) -> Any:
        kind = type(made)
        if kind is not list and kind is not dict:
            return made
        self._depth += 1
        if self._depth > 3 * _DEPTH:
            raise Unfaithful("values nested too deep")
        try:
            return self._container(made, note)
        finally:
            self._depth -= 1

    def _container(self, made: Any, note: Note) -> Any:
        if type(made) is list:
            items: list[Any] = note([])
            items.extend(self.value(item) for item in made)
            return items
        tag = made.get("$")
        if tag is None:
            mapping: dict[str, Any] = note({})
            for key, item in made.items():
                mapping[key] = self.value(item)
            return mapping
        if tag == "def":
            return self._defined(made)
        if tag == "ref" or tag == "given":
            return self._referred(made, tag)
        if tag == "custom":
            custom = BY_NAME.get(str(made.get("class")))
            if custom is None:
                raise Unfaithful(f"a {made.get('class')}, which is not registered here")
            return custom.decode(self.value(made.get("v")))
        known = DECODERS.get(tag) if type(tag) is str else None
        if known is None:
            raise Unfaithful(f"a value of unknown kind {tag!r}")
        try:
            return known(self, made, note)
        except Unfaithful:
            raise
        except RecursionError:
            raise Unfaithful("values nested too deep") from None
        except Exception as error:
            raise Unfaithful(f"a {tag} that cannot be made: {type(error).__name__}: {error}") from error

    def _defined(self, made: dict[str, Any]) -> Any:
        number = made.get("n")
        if type(number) is not int:
            raise Unfaithful("a broken reference")

        def note(value: Any) -> Any:
            self._known[number] = value
            return value

        return note(self.value(made.get("v"), note))

    def _referred(self, made: dict[str, Any], tag: str) -> Any:
        number = made.get("n")
        if type(number) is int:
            if tag == "ref" and number in self._known:
                return self._known[number]
            if tag == "given" and 0 <= number < len(self._given):
                return self._given[number]
        raise Unfaithful("a broken reference")

    def fields(self, made: Any) -> dict[str, Any]:
        if type(made) is not dict:
            raise Unfaithful("attributes that are no object")
        return {name: self.value(item) for name, item in made.items()}


def _is_text(value: str) -> bool:
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _article(kind: type) -> str:
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
