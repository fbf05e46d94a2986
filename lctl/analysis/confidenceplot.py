"""Confidence over the events as a picture: for a terminal, and as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from lctl.analysis.confidence import Confidence, Curve
from lctl.trust.gates import Thresholds
from lctl.trust.numbers import shown

_MARKS = "ox+*#@%&=~"
#: Of Okabe and Ito: told apart by people who do not see all colours.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5b5b5b", "#a6761d")
_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM = 760, 360, 48, 16, 44
_LEGEND = 22


def terminal_plot(found: Confidence, columns: int = 72, rows: int = 16) -> list[str]:
    """Lines of text: confidence upwards, events to the right, thresholds dotted, a letter a fact."""
    curves = found.curves
    if not curves:
        return ["There is no confidence to draw."]
    width = max(20, columns - 7)
    grid = [[" "] * width for _ in range(rows + 1)]
    for bound in _bounds(found.thresholds):
        line = grid[_row(bound, rows)]
        line[:] = ["·" if n % 2 else " " for n in range(width)]
    for n, curve in enumerate(curves):
        _draw(grid, curve, _MARKS[n % len(_MARKS)], found, width, rows)
    said = []
    for n, line in enumerate(grid):
        value = 1 - n / rows
        label = f"{value:.2f}" if n % (rows // 4) == 0 else ""
        said.append(f"{label:>5} │{''.join(line)}".rstrip())
    said.append(f"{'':>5} └{'─' * width}")
    said.append(f"{'':>7}{found.first}{f'event {found.last}':>{max(1, width - len(str(found.first)))}}")
    names = [f"{_MARKS[n % len(_MARKS)]} {curve.fact}" for n, curve in enumerate(curves)]
    return [*said, f"{'':>7}{'   '.join(names)}"]


def svg_plot(found: Confidence) -> str:
    """An SVG document. Every curve is stepped: a confidence holds until something changes it."""
    curves = found.curves
    height = _HEIGHT + _LEGEND * ((len(curves) + 4) // 5)
    style = f'width="{_WIDTH}" height="{height}" font-family="sans-serif" font-size="12" role="img"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" {style}>',
        f"<title>Confidence of the facts of {escape(found.chain_id or 'the chain')}</title>",
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        *_frame(found),
    ]
    for n, curve in enumerate(curves):
        parts += _curve(curve, _COLOURS[n % len(_COLOURS)], found)
        parts += _legend(curve.fact, n)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _draw(grid: list[list[str]], curve: Curve, mark: str, found: Confidence, width: int, rows: int) -> None:
    ends = [*(seq for seq, _ in curve.points[1:]), found.last]
    for (seq, value), end in zip(curve.points, ends, strict=True):
        row = grid[_row(value, rows)]
        start = _place(seq, found, width - 1)
        for column in range(start, _place(end, found, width - 1) + 1):
            if row[column] in " ·":
                row[column] = "─"
        row[start] = mark


def _row(value: float, rows: int) -> int:
    return min(rows, max(0, round((1 - value) * rows)))


def _place(seq: int, found: Confidence, room: float) -> int:
    span = max(1, found.last - found.first)
    return round((seq - found.first) / span * room)


def _bounds(thresholds: Thresholds) -> tuple[float, float, float]:
    return thresholds.proceed, thresholds.warn, thresholds.verify


def _x(seq: int, found: Confidence) -> float:
    span = max(1, found.last - found.first)
    return round(_LEFT + (seq - found.first) / span * (_WIDTH - _LEFT - 24), 1)


def _y(value: float) -> float:
    return round(_TOP + (1 - value) * (_HEIGHT - _TOP - _BOTTOM), 1)


def _frame(found: Confidence) -> Sequence[str]:
    parts = []
    proceed, warn, verify = _bounds(found.thresholds)
    right = _WIDTH - 24
    for high, low, colour in (
        (1.0, proceed, "#eef7ee"),
        (proceed, warn, "#fbf8e6"),
        (warn, verify, "#fdf1e3"),
        (verify, 0.0, "#fbe9e9"),
    ):
        size = f'width="{right - _LEFT}" height="{round(_y(low) - _y(high), 1)}"'
        parts.append(f'<rect x="{_LEFT}" y="{_y(high)}" {size} fill="{colour}"/>')
    for name, value in (("proceed", proceed), ("warn", warn), ("verify", verify)):
        parts.append(
            f'<line x1="{_LEFT}" x2="{right}" y1="{_y(value)}" y2="{_y(value)}" stroke="#bbbbbb" '
            f'stroke-dasharray="3 3"/><text x="{right - 4}" y="{_y(value) - 4}" text-anchor="end" '
            f'fill="#666666">{name} {shown(value)}</text>'
        )
    for value in (0.0, 0.5, 1.0):
        parts.append(
            f'<text x="{_LEFT - 6}" y="{_y(value) + 4}" text-anchor="end" fill="#333333">{value:.1f}</text>'
        )
    base = _y(0.0)
    parts.append(f'<path d="M{_LEFT} {_y(1.0)}V{base}H{right}" fill="none" stroke="#333333"/>')
    for seq, anchor in ((found.first, "start"), (found.last, "end")):
        place = f'x="{_x(seq, found)}" y="{base + 18}" text-anchor="{anchor}"'
        parts.append(f'<text {place} fill="#333333">event {seq}</text>')
    return parts


def _curve(curve: Curve, colour: str, found: Confidence) -> Sequence[str]:
    path = ""
    for seq, value in curve.points:
        x, y = _x(seq, found), _y(value)
        path += f"H{x}V{y}" if path else f"M{x} {y}"
    path += f"H{_x(found.last, found)}"
    dots = [
        f'<circle cx="{_x(seq, found)}" cy="{_y(value)}" r="3.5" fill="{colour}"><title>'
        f"{escape(curve.fact)} {shown(value)} at event {seq}</title></circle>"
        for seq, value in curve.points
    ]
    return [f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2"/>', *dots]


def _legend(name: str, n: int) -> Sequence[str]:
    x, y = _LEFT + n % 5 * 140, _HEIGHT + n // 5 * _LEGEND
    said = name if len(name) <= 16 else name[:15] + "…"
    return [
        f'<rect x="{x}" y="{y - 9}" width="10" height="10" fill="{_COLOURS[n % len(_COLOURS)]}"/>',
        f'<text x="{x + 15}" y="{y}" fill="#333333">{escape(said)}</text>',
    ]
