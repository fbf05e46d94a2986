"""Which objects are looked into for what a tool changed: those of the program's classes, no framework's."""

from __future__ import annotations

from lctl.session.faithful.objects import is_programs, is_programs_module

#: Modules of bases that bring nothing of their own into an object.
_NEUTRAL = frozenset({"builtins", "abc", "typing", "pydantic.main", "pydantic.v1.main", "agno.tools.toolkit"})

_plain: dict[type, bool] = {}
_additions: dict[type, frozenset[str]] = {}


def is_looked_into(kind: type) -> bool:
    """Whether a call of a method can have changed what is looked into: of the program's subclass of a
    framework's class, the attributes that only the program's part knows."""
    return is_plain(kind) or bool(added(kind))


def added(kind: type) -> frozenset[str]:
    """Attributes that the program's classes name and those of the framework beneath them do not."""
    found = _additions.get(kind)
    if found is None:
        is_known = is_programs(kind) and not _has_code_of_its_own(kind)
        found = _additions[kind] = _names_added(kind) if is_known else frozenset()
    return found


def _names_added(kind: type) -> frozenset[str]:
    own: set[str] = set()
    others: set[str] = set()
    for base in kind.__mro__[:-1]:
        names = own if is_programs_module(base.__module__) else others
        names.update(vars(base).get("__annotations__", ()))
        for name, value in vars(base).items():
            code = getattr(value, "__code__", None)
            if names is others:
                names.add(name)
            if code is not None and (names is own or name == "__init__"):
                names.update(code.co_names)
    return frozenset(own - others)


def is_plain(kind: type) -> bool:
    """Whether a class and all its bases are the program's: its objects are no framework's."""
    found = _plain.get(kind)
    if found is None:
        found = _plain[kind] = _decide(kind)
    return found


def _decide(kind: type) -> bool:
    if not is_programs(kind) or _has_code_of_its_own(kind):
        return False
    return all(base.__module__ in _NEUTRAL or is_programs_module(base.__module__) for base in kind.__mro__)


def _has_code_of_its_own(kind: type) -> bool:
    """For asking for attributes, which are taken from its `__dict__` here."""
    return any("__getattribute__" in vars(base) for base in kind.__mro__[:-1])
