"""Exceptions of their real class, with arguments, attributes, notes and cause.

They are made by the builtin exception they derive from: a class's own `__init__` may take anything, and
is not called. An attribute that cannot be kept (the connection a request failed on) does not make the
exception unfaithful: what stands in its place stops a rerun when the program touches it.
"""

from __future__ import annotations

from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any, NoReturn

from lctl.errors import RerunStopped
from lctl.interrupts import RAISED, let_through
from lctl.session.faithful.classes import checked_name, find
from lctl.session.faithful.coding import Decoder, Encoder
from lctl.session.faithful.objects import set_state, state_of
from lctl.session.faithful.tables import DECODERS, SHAPES, Note, Unfaithful
from lctl.session.faithful.validation import is_validation, made_of, parts_of

#: What a builtin exception holds that is not for keeping.
_FLEETING = frozenset({"args", "characters_written"})


def fill() -> None:
    SHAPES.append((lambda kind: issubclass(kind, BaseException), _exception, False))
    SHAPES.append((lambda kind: kind is Lost, lambda _, value: value._lost_made, True))
    DECODERS["exception"] = _of_exception
    DECODERS["lost"] = lambda _, made, note: Lost(str(made.get("what")), str(made.get("of")))


class Lost:
    """In place of what could not be kept; any use of it ends the rerun, saying so."""

    __slots__ = ("_lost_of", "_lost_what")

    def __init__(self, what: str, of: str) -> None:
        object.__setattr__(self, "_lost_what", what)
        object.__setattr__(self, "_lost_of", of)

    @property
    def _lost_made(self) -> dict[str, Any]:
        return {"$": "lost", "what": self._lost_what, "of": self._lost_of}

    def _lost_stop(self, *_: Any) -> NoReturn:
        raise RerunStopped(
            f"the program looks at `{self._lost_of}`, which the recording does not hold: {self._lost_what}"
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)  # asked by the interpreter and by debuggers
        self._lost_stop()

    __call__ = __iter__ = __len__ = __bool__ = __getitem__ = __str__ = _lost_stop

    def __repr__(self) -> str:
        return f"<not recorded: {self._lost_what}>"


def _exception(encoder: Encoder, value: BaseException) -> dict[str, Any]:
    kind = type(value)
    name = checked_name(kind)
    made: dict[str, Any] = {"$": "exception", "class": name}
    if is_validation(kind):
        made["args"], made["validation"] = [], encoder.value(parts_of(value))
    elif isinstance(value, BaseExceptionGroup):
        made["args"] = [encoder.value(value.message), encoder.value(list(value.exceptions))]
    else:
        made["args"] = [_kept(encoder, item, f"{kind.__name__}.args") for item in value.args]
    state = state_of(value)
    held = _held(value)
    for part, items in (("fields", state), ("builtin", held)):
        if items:
            made[part] = {key: _kept(encoder, item, f"{kind.__name__}.{key}") for key, item in items.items()}
    if value.__cause__ is not None:
        made["cause"] = encoder.value(value.__cause__)
    if value.__suppress_context__:
        made["suppress"] = True
    return made


def _kept(encoder: Encoder, item: Any, of: str) -> Any:
    mark = encoder.mark()
    try:
        return encoder.value(item)
    except Unfaithful as reason:
        encoder.back_to(mark)
        return {"$": "lost", "what": str(reason), "of": of}


def _of_exception(decoder: Decoder, made: dict[str, Any], note: Note) -> Any:
    cls = find(made.get("class"))
    if not issubclass(cls, BaseException):
        raise Unfaithful(f"a {made.get('class')}, which is no exception")
    base = _builtin_base(cls)
    args = tuple(decoder.value(item) for item in made["args"])
    value: BaseException
    if is_validation(cls):
        value = note(made_of(cls, decoder.value(made["validation"])))
    else:
        value = note(base.__new__(cls, *(args if issubclass(cls, BaseExceptionGroup) else ())))
    if not isinstance(value, cls):
        raise Unfaithful(f"a {made.get('class')} that becomes a {type(value).__name__}")
    if not issubclass(cls, BaseExceptionGroup):
        value.args = args
    for name, item in decoder.fields(made.get("builtin", {})).items():
        if name not in _descriptors(base):
            raise Unfaithful(f"an attribute {name} of {base.__name__}")
        setter = _descriptors(base)[name]
        setter.__set__(value, item)
    set_state(value, decoder.fields(made.get("fields", {})))
    if "cause" in made:
        cause = decoder.value(made["cause"])
        if not isinstance(cause, BaseException):
            raise Unfaithful("a cause that is no exception")
        value.__cause__ = cause
    value.__suppress_context__ = bool(made.get("suppress"))
    return value


def _builtin_base(cls: type) -> Any:
    """The nearest builtin exception; what it keeps outside `__dict__` is set by its own descriptors."""
    return next(base for base in cls.__mro__ if base.__module__ == "builtins")


def _descriptors(base: type) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for cls in base.__mro__:
        for name, item in vars(cls).items():
            if type(item) in (GetSetDescriptorType, MemberDescriptorType) and not name.startswith("_"):
                found.setdefault(name, item)
    return found


def _held(value: BaseException) -> dict[str, Any]:
    """What the builtin part holds beside its arguments: errno, filename, name, value, ..."""
    if isinstance(value, BaseExceptionGroup):
        return {}
    held = {}
    for name, item in _descriptors(_builtin_base(type(value))).items():
        if name in _FLEETING:
            continue
        try:
            got = item.__get__(value)
        except RAISED as error:
            let_through(error)
            continue
        if got is not None:
            held[name] = got
    return held
