"""How confidences are written: two decimals, a half to the even digit, as the protocol's examples are."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal

_PLACES = Decimal("0.01")


def rounded(value: float) -> float:
    """To two decimals. The float's shortest decimal is what is rounded: 0.855 is 0.86, 0.885 is 0.88."""
    return float(Decimal(repr(round(value, 12))).quantize(_PLACES, ROUND_HALF_EVEN))


def shown(value: float | None) -> str:
    """`0.86`; `-` for None."""
    return "-" if value is None else f"{rounded(value):.2f}"


def unit(value: object) -> float | None:
    """The value as a number from 0 to 1, else None (a bool is no number)."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= 1 else None
