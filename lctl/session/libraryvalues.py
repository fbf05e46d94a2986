"""Values of libraries as something nearer to JSON: known by their shape, so that no library is imported."""

from __future__ import annotations

from types import MemberDescriptorType
from typing import Any

from lctl.interrupts import RAISED, let_through

#: Items of an array that are written out.
_ARRAY = 10_000


def is_stand_in(kind: type) -> bool:
    """Whether objects of the class say that they are of another: proxies, lazy objects, mocks. To ask one may
    load what it stands for, or be noted."""
    return any("__class__" in vars(base) for base in kind.__mro__[:-1])


def by_library(value: Any, kind: type) -> Any:
    """What it is made of; None of a kind that is not known."""
    fields = getattr(kind, "__dataclass_fields__", None)
    if fields is not None:
        return {name: _field(value, kind, name) for name in fields}
    if callable(getattr(kind, "model_dump", None)):
        made = _dumped(value, kind)
        # A model of one value, or one that says how it is written, gives another thing than a dict.
        return made if type(made) in (dict, list, str, int, float, bool) else None
    module = str(kind.__module__)
    if module.startswith("pydantic.v1") or hasattr(kind, "__fields_set__"):
        return value.dict()
    for listed in ("__struct_fields__", "__attrs_attrs__"):  # msgspec, attrs
        names = getattr(kind, listed, None)
        if names:
            return {n: getattr(value, n, None) for n in (getattr(f, "name", f) for f in names)}
    if module.partition(".")[0] == "numpy":
        return _numpy(value)
    if module.partition(".")[0] in (
        "datetime",
        "enum",
        "uuid",
        "decimal",
        "pathlib",
        "fractions",
        "ipaddress",
    ):
        return _standard(value)
    if module == "collections" and hasattr(kind, "__len__"):
        return list(value)
    if any(base.__name__ == "Enum" for base in kind.__mro__) and hasattr(value, "value"):
        return value.value
    if any(base.__module__ == "pathlib" for base in kind.__mro__):
        return str(value)
    return None


def _dumped(value: Any, kind: type) -> Any:
    """Of pydantic's models and their like. Where code of the program's in it fails (a computed field, what
    serializes one), its fields as they are."""
    try:
        try:
            return value.model_dump(warnings=False)  # the host's stderr stays as it was
        except TypeError:
            return value.model_dump()
    except RAISED as error:
        let_through(error)
        held, known = _attributes(value, kind), getattr(kind, "model_fields", None)
        if held is None or not isinstance(known, dict):
            raise
        return {name: item for name, item in held.items() if not getattr(known.get(name), "exclude", None)}


def _field(value: Any, kind: type, name: str) -> Any:
    """Of a dataclass. Not by a descriptor of some library's, which may read it from a database."""
    held = _attributes(value, kind)
    if held is not None and name in held:
        return held[name]
    known = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)
    is_own = type(known) in (property, MemberDescriptorType) or not hasattr(type(known), "__get__")
    return getattr(value, name, None) if is_own else None


def _attributes(value: Any, kind: type) -> dict[str, Any] | None:
    held = vars(value) if kind.__dictoffset__ else None
    return held if type(held) is dict else None


def _standard(value: Any) -> Any:
    seconds = getattr(value, "total_seconds", None)
    if seconds is not None:
        return seconds()
    iso = getattr(value, "isoformat", None)
    return iso() if iso is not None else str(value)


def _numpy(value: Any) -> Any:
    if getattr(value, "shape", ()) == ():
        item = value.item()
        return item if type(item) is not type(value) else None
    if value.size > _ARRAY:
        return {"$array": {"dtype": str(value.dtype), "shape": list(value.shape)}}
    return value.tolist()
