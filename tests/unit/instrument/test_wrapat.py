"""Functions named from outside become tools, wherever they are used from."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lctl.errors import UsageError
from lctl.instrument import wrapat
from lctl.instrument.wrapat import named
from lctl.session import LCTLSession

SHOP = """
def pay(amount):
    return amount + 1

async def ship(where):
    return where

class Till:
    def open(self, code):
        return code

    @staticmethod
    def close(code):
        return code
"""

made: list[Callable[[], None]] = []


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "wrapshop").mkdir()
    (tmp_path / "wrapshop" / "__init__.py").write_text("from wrapshop.tools import pay\n")
    (tmp_path / "wrapshop" / "tools.py").write_text(SHOP)
    (tmp_path / "wrapuser.py").write_text("from wrapshop.tools import pay as buy\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    while made:
        made.pop()()
    for name in ("wrapshop", "wrapshop.tools", "wrapuser"):
        sys.modules.pop(name, None)
    named.clear()


def wrap_at(spec: str) -> Callable[[], None]:
    """Taken away after the test, if it does not do that."""
    take_away = wrapat.wrap_at(spec)
    made.append(take_away)
    return take_away


def loaded(name: str) -> Any:
    from importlib import import_module

    module: ModuleType = import_module(name)
    return module


def calls(session: LCTLSession) -> list[tuple[str, Any]]:
    events = [json.loads(line) for line in session.lines()]
    return [(e["data"]["tool"], e["data"]["input"]) for e in events if e["type"] == "tool_call"]


@pytest.mark.parametrize("already", [False, True])
def test_functions_and_methods(folder: Path, already: bool) -> None:
    """Before its module is imported, and after others have taken the function."""
    if already:
        loaded("wrapuser")
    specs = [f"wrapshop.tools:{path}" for path in ("pay", "Till.open", "Till.close")]
    undo = [wrap_at(spec) for spec in specs]
    user, shop, tools = (loaded(name) for name in ("wrapuser", "wrapshop", "wrapshop.tools"))
    with LCTLSession("c", folder / "c.lctl.json") as session:
        assert [user.buy(1), shop.pay(2), tools.pay(3)] == [2, 3, 4]
        assert [tools.Till().open(4), tools.Till.close(5)] == [4, 5]
    assert calls(session) == [
        *(("pay", {"amount": n}) for n in (1, 2, 3)),
        ("open", {"code": 4}),
        ("close", {"code": 5}),
    ]
    assert all(named[spec] is None for spec in specs)
    for take_away in undo:
        take_away()
    with LCTLSession("d", folder / "d.lctl.json") as session:
        assert [user.buy(1), tools.Till().open(4), tools.Till.close(5)] == [2, 4, 5]
    assert calls(session) == []


def test_a_function_that_is_one_already_is_recorded_once(folder: Path) -> None:
    wrap_at("wrapshop.tools:pay")
    wrap_at("wrapshop.tools:pay")
    with LCTLSession("c", folder / "c.lctl.json") as session:
        loaded("wrapshop").pay(1)
    assert len(calls(session)) == 1


def test_what_does_not_exist(folder: Path) -> None:
    """Said at once where it can be known, and kept for the end where not."""
    with pytest.raises(UsageError, match="MODULE:FUNCTION"):
        wrap_at("wrapshop.tools.pay")
    wrap_at("wrapshop.tools:pya")
    wrap_at("wrapnowhere:x")
    loaded("wrapshop")
    assert named["wrapshop.tools:pya"] == "wrapshop.tools has no pya; it has pay"
    assert named["wrapnowhere:x"] == "wrapnowhere was never imported"
    with pytest.raises(UsageError, match=r"--tool wrapshop\.tools:Till\.opne: .* has no opne; it has open"):
        wrap_at("wrapshop.tools:Till.opne")
    with pytest.raises(UsageError, match="has no class Tell; it has Till"):
        wrap_at("wrapshop.tools:Tell.open")
    with pytest.raises(UsageError, match="is a type, not a function"):
        wrap_at("wrapshop.tools:Till")
