"""The variables around a function: of its module, and of the functions it is defined in.

Those that its code names, and that of the program's functions it calls by name; variables that hold what is
looked into (see `kinds`), and no modules, classes, clients or locks.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterator
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from lctl.session.concurrency.signals import is_waited_for
from lctl.session.faithful.flags import is_event
from lctl.session.faithful.kinds import is_plain
from lctl.session.faithful.objects import is_programs_module

ATOMS = frozenset({str, int, float, bool, bytes, complex, type(None)})
DICTS = frozenset({dict, defaultdict, OrderedDict, Counter})
ROWS = frozenset({list, tuple, deque})
BUILTIN = DICTS | ROWS | {set, bytearray}
#: Functions whose code is looked at for one tool.
_FUNCTIONS = 50
_MISSING = object()


class _Variable(NamedTuple):
    """`holder` is a module's dict, or a cell."""

    holder: dict[str, Any] | CellType
    name: str

    def get(self) -> Any:
        if isinstance(self.holder, dict):
            return self.holder.get(self.name, _MISSING)
        try:
            return self.holder.cell_contents
        except ValueError:  # not set yet
            return _MISSING

    def put(self, value: Any) -> None:
        if isinstance(self.holder, dict):
            self.holder[self.name] = value
        else:
            self.holder.cell_contents = value


class Scope:
    """The variables of one function, by names that are the same in each run."""

    __slots__ = ("_variables",)

    def __init__(self, variables: dict[str, _Variable]) -> None:
        self._variables = variables

    def now(self) -> dict[str, Any]:
        """What they hold, of those that hold what is looked into."""
        values = ((name, variable.get()) for name, variable in self._variables.items())
        return {name: value for name, value in values if _is_looked_into(type(value))}

    def all(self) -> dict[str, Any]:
        """What they hold, whatever it is."""
        values = ((name, variable.get()) for name, variable in self._variables.items())
        return {name: value for name, value in values if value is not _MISSING}

    def put(self, values: dict[Any, Any]) -> None:
        for name, value in values.items():
            if name in self._variables:
                self._variables[name].put(value)


def scope_of(function: Any) -> Scope | None:
    """Of a function of the program; None where it names no variables."""
    if not isinstance(function, FunctionType) or not is_programs_module(str(function.__module__)):
        return None
    known = _scopes.get(function)
    if known is None:
        known = _scopes[function] = Scope(dict(_variables(function)))
    return known if known._variables else None


_scopes: WeakKeyDictionary[FunctionType, Scope] = WeakKeyDictionary()


def _variables(function: FunctionType) -> Iterator[tuple[str, _Variable]]:
    seen: set[CodeType] = set()
    queue = [function]
    for each in queue:  # grows while it is gone through
        inner = each
        while isinstance(getattr(inner, "__wrapped__", None), FunctionType):
            inner = inner.__wrapped__  # type: ignore[attr-defined]
        code = inner.__code__
        if code in seen or len(seen) >= _FUNCTIONS:
            continue
        seen.add(code)
        names = set(_names(code))
        for place, variable in [*_of_modules(inner.__globals__, names), *_of_cells(inner)]:
            value = variable.get()
            if not issubclass(type(value), FunctionType):
                yield place, variable
            elif is_programs_module(str(value.__module__)):
                queue.append(value)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _names(part)


def _of_modules(around: dict[str, Any], names: set[str]) -> Iterator[tuple[str, _Variable]]:
    """Variables of the function's module, and of modules of the program that it knows by name."""
    for name in sorted(names):
        if name.startswith("__") or name not in around:
            continue
        value = around[name]
        if not issubclass(type(value), ModuleType):
            yield f"{around.get('__name__')}.{name}", _Variable(around, name)
        elif is_programs_module(value.__name__):
            held = vars(value)
            for part in sorted(names & held.keys()):
                if not part.startswith("__"):
                    yield f"{value.__name__}.{part}", _Variable(held, part)


def _of_cells(function: FunctionType) -> Iterator[tuple[str, _Variable]]:
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        yield f"{function.__module__}.{function.__qualname__}({name})", _Variable(cell, name)


def _is_looked_into(kind: type) -> bool:
    return kind in ATOMS or kind in BUILTIN or is_plain(kind) or is_event(kind) or is_waited_for(kind)
