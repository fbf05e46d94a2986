"""Objects that are all data: enums, named tuples, dataclasses, attrs and pydantic models. Classes, by name.

They are made without calling their class: `__new__` of the builtin base, then the attributes they had,
so that no code of theirs runs and what they check or derive when made does not change them.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any

from lctl.session.faithful.classes import checked_name, find
from lctl.session.faithful.coding import Decoder, Encoder
from lctl.session.faithful.tables import DECODERS, SHAPES, Note, Unfaithful
from lctl.session.ownpackages import installed_as

#: Of a pydantic model beside `__dict__`: of version 2, then of version 1.
_PRIVATE = "__pydantic_private__"
_OWN_DICTS = (GetSetDescriptorType, MemberDescriptorType)
_PYDANTIC = (
    ("__pydantic_fields_set__", "__pydantic_extra__", _PRIVATE),
    ("__fields_set__",),
)

_programs: dict[type, bool] = {}
_slots: dict[type, dict[str, MemberDescriptorType]] = {}


def fill() -> None:
    SHAPES.append((lambda kind: issubclass(kind, type), _class, True))
    SHAPES.append((_is_enum, _enum, True))
    SHAPES.append((_is_namedtuple, _namedtuple, False))
    SHAPES.append((is_pydantic, _model, False))
    SHAPES.append((is_record, _object, False))
    DECODERS["class"] = lambda _, made, note: find(made.get("class"))
    DECODERS["enum"] = _of_enum
    DECODERS["namedtuple"] = _of_namedtuple
    DECODERS["model"] = _of_model
    DECODERS["object"] = _of_object


# -- which ---------------------------------------------------------------------------------


def _is_enum(kind: type) -> bool:
    enum = sys.modules.get("enum")
    return enum is not None and issubclass(kind, enum.Enum)


def _is_namedtuple(kind: type) -> bool:
    fields = getattr(kind, "_fields", None)
    return issubclass(kind, tuple) and kind.__base__ is tuple and isinstance(fields, tuple)


def is_pydantic(kind: type) -> bool:
    """A pydantic model of version 1 or 2, told without importing pydantic."""
    if isinstance(vars(kind).get("__pydantic_fields__", vars(kind).get("__fields__")), dict):
        for module, name in (("pydantic.main", "BaseModel"), ("pydantic.v1.main", "BaseModel")):
            base = getattr(sys.modules.get(module), name, None)
            if isinstance(base, type) and issubclass(kind, base):
                return True
    return False


def is_record(kind: type) -> bool:
    """A dataclass or attrs class of which nothing but attributes is kept."""
    if not hasattr(kind, "__dataclass_fields__") and not isinstance(
        getattr(kind, "__attrs_attrs__", None), tuple
    ):
        return False
    maker: Any = kind.__new__
    return maker is object.__new__ and not issubclass(kind, BaseException)


def is_programs(kind: type) -> bool:
    """Whether the program itself defines this class, and its objects have attributes."""
    found = _programs.get(kind)
    if found is None:
        found = _programs[kind] = _is_defined_by_program(kind)
    return found


def _is_defined_by_program(kind: type) -> bool:
    if issubclass(kind, type | BaseException) or (kind.__dictoffset__ == 0 and not slots_of(kind)):
        return False
    return is_programs_module(kind.__module__)


def is_programs_module(module: str) -> bool:
    if module == "__main__":
        return True
    if module.partition(".")[0] in (*sys.stdlib_module_names, "lctl", "lctl_integrations"):
        return False
    file = getattr(sys.modules.get(module), "__file__", None)
    return file is not None and installed_as(file) is None


# -- attributes ------------------------------------------------------------------------------


def state_of(value: Any) -> dict[str, Any]:
    """Every attribute the object itself holds: of its `__dict__` and of its slots."""
    held = _held(value)
    state = dict(held) if type(held) is dict else {}
    for name, slot in slots_of(type(value)).items():
        try:
            state[name] = slot.__get__(value)
        except AttributeError:
            pass  # never set
    return state


def _held(value: Any) -> Any:
    """Its `__dict__`: not the one a proxy gives, which it would have to load."""
    for base in type(value).__mro__:
        found = vars(base).get("__dict__")
        if found is not None:
            return found.__get__(value) if type(found) in _OWN_DICTS else None
    return None


def entries_of(value: Any) -> dict[Any, Any]:
    """What a dict holds, whatever a subclass makes of being asked."""
    is_ordered = issubclass(type(value), OrderedDict)
    return dict(OrderedDict.items(value) if is_ordered else dict.items(value))


def attributes_of(value: Any) -> dict[str, Any]:
    """The same, and the private attributes of a pydantic model, which it keeps apart from its fields."""
    private = _private(value)
    return {**state_of(value), **private} if private else state_of(value)


def _private(value: Any) -> dict[str, Any]:
    held = getattr(value, _PRIVATE, None) if hasattr(type(value), _PRIVATE) else None
    return held if type(held) is dict else {}


def remove(value: Any, name: str) -> None:
    """Take an attribute away from the object, if it has it."""
    slot = slots_of(type(value)).get(name)
    if slot is None:
        value.__dict__.pop(name, None)
        _private(value).pop(name, None)
    elif name in state_of(value):
        slot.__delete__(value)


def slots_of(cls: type) -> dict[str, MemberDescriptorType]:
    known = _slots.get(cls)
    if known is not None:
        return known
    found: dict[str, MemberDescriptorType] = {}
    for base in cls.__mro__:
        for name, slot in vars(base).items():
            if type(slot) is MemberDescriptorType and not name.startswith("__") and "__slots__" in vars(base):
                found.setdefault(name, slot)
    _slots[cls] = found
    return found


def set_state(value: Any, state: dict[str, Any]) -> None:
    """Give the object these attributes, without its own `__setattr__` and without properties."""
    slots, private = slots_of(type(value)), getattr(type(value), "__private_attributes__", None) or ()
    for name, item in state.items():
        if name in slots:
            slots[name].__set__(value, item)
        elif name in private and hasattr(type(value), _PRIVATE):
            _private(value)[name] = item
        else:
            value.__dict__[name] = item


# -- to and fro --------------------------------------------------------------------------------


def _class(_: Encoder, value: type) -> dict[str, Any]:
    return {"$": "class", "class": checked_name(value)}


def _enum(encoder: Encoder, value: Any) -> dict[str, Any]:
    kind = type(value)
    made = {"$": "enum", "class": checked_name(kind)}
    name = value._name_
    if kind._member_map_.get(name) is value:
        return {**made, "name": name}
    return {**made, "v": encoder.value(value._value_)}  # several flags


def _of_enum(decoder: Decoder, made: dict[str, Any], _: Note) -> Any:
    import enum

    cls = find(made.get("class"))
    if issubclass(cls, enum.Enum):
        if "name" in made:
            return cls._member_map_[made["name"]]
        number = decoder.value(made["v"])
        if issubclass(cls, enum.Flag) and type(number) is int:
            return cls(number)
    raise Unfaithful(f"a {made.get('class')} as an enum")


def _namedtuple(encoder: Encoder, value: Any) -> dict[str, Any]:
    kind = type(value)
    return {"$": "namedtuple", "class": checked_name(kind), "v": [encoder.value(item) for item in value]}


def _of_namedtuple(decoder: Decoder, made: dict[str, Any], _: Note) -> Any:
    cls = find(made.get("class"))
    if not _is_namedtuple(cls):
        raise Unfaithful(f"a {made.get('class')} as a named tuple")
    items = [decoder.value(item) for item in made["v"]]
    if len(items) != len(cls._fields):  # type: ignore[attr-defined]
        raise Unfaithful(f"a {made.get('class')} of {len(items)} items")
    return tuple.__new__(cls, items)


def _object(encoder: Encoder, value: Any) -> dict[str, Any]:
    name = checked_name(type(value))
    return {"$": "object", "class": name, "fields": encoder.fields(state_of(value))}


def _of_object(decoder: Decoder, made: dict[str, Any], note: Note) -> Any:
    cls = find(made.get("class"))
    if not is_record(cls):
        raise Unfaithful(f"a {made.get('class')}, which is no dataclass here")
    value = note(object.__new__(cls))
    set_state(value, decoder.fields(made["fields"]))
    return value


def _model(encoder: Encoder, value: Any) -> dict[str, Any]:
    kind = type(value)
    made = {"$": "model", "class": checked_name(kind), "fields": encoder.fields(vars(value))}
    for name in _beside(kind):
        item = getattr(value, name, None)
        if isinstance(item, set):
            item = sorted(item)  # names of fields; a set of them has no order to keep
        made[name] = encoder.value(item)
    return made


def _of_model(decoder: Decoder, made: dict[str, Any], note: Note) -> Any:
    cls: Any = find(made.get("class"))
    if not is_pydantic(cls):
        raise Unfaithful(f"a {made.get('class')}, which is no pydantic model here")
    value = note(object.__new__(cls))
    object.__setattr__(value, "__dict__", decoder.fields(made["fields"]))
    for name in _beside(cls):
        item = decoder.value(made.get(name))
        object.__setattr__(value, name, set(item) if name.endswith("fields_set__") else item)
    return value


def _beside(kind: type) -> tuple[str, ...]:
    return _PYDANTIC[0] if hasattr(kind, "__pydantic_fields__") else _PYDANTIC[1]
