"""`lctl validate --contracts`: what agents took and gave, held against contracts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lctl.cli import DIFFERENCE, OK
from lctl.cli.screen import Screen
from lctl.cli.text import plain, plural

if TYPE_CHECKING:
    from lctl.codec import Log
    from lctl.trust.checking import Validation, Violation


def check_contracts(
    screen: Screen, log: Log, paths: tuple[str, ...], limit: int, *, strict: bool = False
) -> int:
    """One line for each contract and direction, then each violation; 1 when there is any, and when `strict`
    also where there is nothing to hold against a contract: a name that is mistyped, as a rule."""
    from lctl.trust.checking import check
    from lctl.trust.contractfiles import read_contracts

    contracts = read_contracts(list(paths))
    found = check(contracts, log.events())
    by_side: dict[tuple[str, str], list[Validation]] = {
        (contract.name, direction): []
        for contract in contracts
        for direction in ("inputs", "outputs")
        if contract.shapes(direction)
    }
    for validation in found:
        by_side[validation.contract, validation.direction].append(validation)
    violations = [one for validation in found for one in validation.violations]
    met = {name for (name, _), some in by_side.items() if some}
    unmet = [contract.name for contract in contracts if contract.name not in met] if strict else []
    if screen.json:
        document = _document(len(log), by_side, violations)
        screen.json_value({**document, "ok": False, "unmet": unmet} if unmet else document)
        return DIFFERENCE if violations or unmet else OK
    screen.line(f"Validating {plural(len(log), 'event')} against {plural(len(contracts), 'contract')}...")
    for (name, direction), some in by_side.items():
        _side(screen, f"{plain(name, 60)} {direction}", some, limit)
    screen.line()
    if unmet:
        screen.line(f"Nothing in the log is of {', '.join(plain(name, 60) for name in unmet)}.")
    if violations:
        screen.line(f"{plural(len(violations), 'violation')}.")
    if violations or unmet:
        return DIFFERENCE
    screen.line("All contracts satisfied.")
    return OK


def _side(screen: Screen, named: str, some: list[Validation], limit: int) -> None:
    violations = [one for validation in some for one in validation.violations]
    if not violations:
        note = "" if some else "  (nothing of it in this log)"
        screen.line(("✓ ", "green"), f"{named} valid", (note, "dim"))
        return
    screen.line(("✗ ", "red"), f"{named}: {plural(len(violations), 'violation')}")
    for one in violations[:limit]:
        screen.line("  ", (f"[{one.seq}] ", "dim"), f"{plain(one.agent, 40)}: ", plain(one.text, 300))
    if len(violations) > limit:
        screen.line((f"  … {len(violations) - limit:,} more; --limit shows them", "dim"))


def _document(
    events: int, by_side: dict[tuple[str, str], list[Validation]], violations: list[Violation]
) -> dict[str, Any]:
    return {
        "ok": not violations,
        "events": events,
        "contracts": [
            {
                "contract": name,
                "direction": direction,
                "checked": sum(one.checked for one in some),
                "violations": sum(len(one.violations) for one in some),
            }
            for (name, direction), some in by_side.items()
        ],
        "violations": [
            {"contract": one.contract, "direction": one.direction, **one.document()} for one in violations
        ],
    }
