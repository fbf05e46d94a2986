"""Patches come off without a trace: static, class and inherited methods, and others' wrappers on top."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from lctl.instrument.patches import PatchSet


@pytest.fixture
def module() -> ModuleType:
    class Base:
        def inherited(self) -> str:
            return "inherited"

        @classmethod
        def made(cls) -> str:
            return cls.__name__

        @staticmethod
        def plain(x: int) -> int:
            return x

    class Child(Base):
        own = 1

    module = ModuleType("patched")
    module.__dict__.update(Base=Base, Child=Child)
    return module


def note(calls: list[Any]) -> Any:
    def wrapper(wrapped: Any, instance: Any, args: Any, kwargs: Any) -> Any:
        calls.append((wrapped.__name__, args))
        return wrapped(*args, **kwargs)

    return wrapper


def contents(cls: Any) -> list[tuple[str, int]]:
    return [(name, id(value)) for name, value in vars(cls).items()]


def test_wrap_and_undo_every_kind_of_method(module: Any) -> None:
    """Instance, class, static and inherited methods are called through, then are what they were."""
    before = contents(module.Base), contents(module.Child)
    calls: list[Any] = []
    patches = PatchSet()
    for path in ("Base.inherited", "Base.made", "Base.plain", "Child.inherited"):
        patches.wrap(module, path, note(calls))
    assert module.Base().inherited() == "inherited"
    assert module.Child.made() == "Child"
    assert module.Base.plain(3) == 3
    module.Child().inherited()
    assert [name for name, _ in calls] == ["inherited", "made", "plain", "inherited", "inherited"]
    assert patches.undo() == []
    assert (contents(module.Base), contents(module.Child)) == before


def test_an_inherited_method_is_not_left_on_the_subclass(module: Any) -> None:
    """Undoing a patch of an attribute the class only inherits deletes it again."""
    patches = PatchSet()
    patches.wrap(module, "Child.plain", note([]))
    assert "plain" in vars(module.Child)
    patches.undo()
    assert "plain" not in vars(module.Child)
    assert module.Child.plain(1) == 1


def test_wrapping_twice_wraps_once(module: Any) -> None:
    """The same attribute under two names of its module is wrapped once."""
    calls: list[Any] = []
    alias = ModuleType("alias")
    alias.Base = module.Base  # type: ignore[attr-defined]
    patches = PatchSet()
    patches.wrap(module, "Base.inherited", note(calls))
    patches.wrap(alias, "Base.inherited", note(calls))
    module.Base().inherited()
    assert len(calls) == 1
    assert patches.points == ["patched:Base.inherited"]


def test_a_wrapper_on_top_of_ours_stays(module: Any) -> None:
    """When somebody wrapped our wrapper, theirs stays and ours goes silent."""
    calls: list[Any] = []
    patches = PatchSet()
    patches.wrap(module, "Base.inherited", note(calls))
    ours = module.Base.inherited
    module.Base.inherited = lambda self: "theirs " + ours(self)
    assert patches.undo() == ["patched:Base.inherited"]
    assert module.Base().inherited() == "theirs inherited"
    assert calls == []


def test_a_missing_attribute_says_so(module: Any) -> None:
    """A renamed attribute is an AttributeError that names it, and nothing is patched."""
    patches = PatchSet()
    with pytest.raises(AttributeError, match=r"patched has no Base\.gone"):
        patches.wrap(module, "Base.gone", note([]))
    assert patches.points == []
