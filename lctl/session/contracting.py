"""Contracts and cycles that are looked for while the program runs; what is found is recorded."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

from lctl.errors import ContractViolated
from lctl.guard import guard
from lctl.session.emitting import Emitting

if TYPE_CHECKING:
    from lctl.session.watching import Watch
    from lctl.trust.checking import Validation, Violation
    from lctl.trust.contractfiles import Given
    from lctl.trust.cycles import Cycle

Policy = Literal["warn", "raise"]


class Contracting(Emitting):
    """Mixed into `LCTLSession`, which brings the log."""

    _contract_policy: Policy = "warn"

    @property
    def watch(self) -> Watch:
        """What follows the session's facts; begun when first asked for."""
        if self._watch is None:
            from lctl.session.watching import Watch

            with self._session().store.lock:
                if self._watch is None:
                    self._watch = Watch(self._session())
        return self._watch

    def use_contracts(self, contracts: Given, policy: Policy = "warn") -> None:
        """Hold what agents take and give against contracts from now on; each judgement is recorded.

        Args:
            contracts: a file, a folder, a decoded document, or `Contract`s.
            policy: "warn" warns of a violation; "raise" raises `ContractViolated` from the call that
                began or ended the step, or read the fact.

        Raises:
            UsageError: a contract is wrong, and where.
            LogNotFound: there is no such file.
        """
        from lctl.errors import UsageError
        from lctl.trust.checking import Checker
        from lctl.trust.contractfiles import read_contracts

        if policy not in ("warn", "raise"):
            raise UsageError(f"policy={policy!r}: it is warn or raise")
        self._contract_policy = policy
        self.watch.check(Checker(read_contracts(contracts)))

    def detect_cycles(self, rounds: int = 3) -> None:
        """Record an `orchestration_error/cycle_detected` when agents do the same `rounds` times in a row."""
        from lctl.trust.cycles import Cycles

        self.watch.circle(Cycles(rounds))

    def _is_watched(self) -> bool:
        """Contracts are in use, or cycles looked for."""
        return self._watch is not None and bool(self._watch.types)

    def _look(self, quiet: bool = False) -> None:
        """Record what is found after an event; called by the session where somebody watches.

        Args:
            quiet: another exception is on its way, or the caller is no code of the program's own.

        Raises:
            ContractViolated: under that policy.
        """
        violations: list[Violation] = []
        with guard("contracts and cycles"):
            assert self._watch is not None
            validations, cycles = self._watch.look()
            for cycle in cycles:
                self._tell_cycle(cycle)
            for validation in validations:
                self._tell_validation(validation)
                violations += validation.violations
        if violations and self._contract_policy == "raise" and not quiet:
            raise ContractViolated(_said(violations), violations)

    def _tell_cycle(self, cycle: Cycle) -> None:
        self.emit("error", cycle.error(), agent=cycle.agent)

    def _tell_validation(self, validation: Validation) -> None:
        from lctl.trust.deriving import validation_data

        data = validation_data(validation)
        definition = self.watch.definition(validation.contract)
        if definition is not None:
            data["definition"] = definition
        self.emit("contract_validation", data, agent="system", step=validation.step)
        if validation.violations and self._contract_policy == "warn":
            warnings.warn(_said(validation.violations), stacklevel=_outside())

    def _end_watch(self) -> None:
        """At the session's end: what was not judged yet."""
        if self._watch is not None and self._watch.checker is not None:
            self._watch.look()
            for validation in self._watch.finish():
                self._tell_validation(validation)


def _said(violations: Iterable[Any]) -> str:
    found = list(violations)
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    one = found[0]
    return f"contract {one.contract}, {one.direction} of {one.agent}, event {one.seq}: {one.text}{more}"


def _outside() -> int:
    """The stack level of the caller that is not ours, for a warning."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("lctl."):
        frame = frame.f_back
        level += 1
    return level
