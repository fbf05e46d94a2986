"""Confidences that are no numbers from 0 to 1: recorded as they were given, and said once."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import lctl
from lctl.codec import open_log
from lctl.session import confidences

NUMBERS = [(0, 0), (1, 1), (0.5, 0.5), (Decimal("0.95"), 0.95), (Fraction(1, 4), 0.25)]
SURE: Any = Decimal("0.97")
ODD: list[Any] = [85, -0.5, "high", True, Decimal("NaN"), 10**400]


def _recorded(folder: Path, given: list[Any]) -> list[Any]:
    log = folder / "facts.lctl.json"
    with lctl.LCTLSession(path=log) as session:
        for number, confidence in enumerate(given):
            session.add_fact(f"F{number}", "it is so", confidence=confidence)
    return [event.to_dict()["data"]["confidence"] for event in open_log(log).events()]


def test_numbers_of_all_kinds_are_numbers(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert _recorded(tmp_path, [given for given, _ in NUMBERS]) == [number for _, number in NUMBERS]
    assert "confidence" not in capfd.readouterr().err


def test_what_is_none_is_kept_and_told_once(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confidences, "_told", set())
    assert _recorded(tmp_path, ODD)[:4] == ODD[:4]
    said = [line for line in capfd.readouterr().err.splitlines() if "confidence" in line]
    assert said == [
        "lctl: add_fact('F0'): confidence=85 is no number from 0 to 1: gates and consensus pass it over"
    ]


def test_no_gate_lets_it_through(tmp_path: Path) -> None:
    with lctl.LCTLSession(path=tmp_path / "gate.lctl.json") as session:
        session.add_fact("F1", "it is so", confidence=85)
        session.add_fact("F2", "it is so", confidence=SURE)
        assert session.gate("F1") != "proceed"
        assert session.gate("F2") == "proceed"
