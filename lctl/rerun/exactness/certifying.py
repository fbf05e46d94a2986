"""The certificate of each session of a rerun: how exact it was, or that it was not opened again."""

from __future__ import annotations

from lctl.clock import monotonic
from lctl.instrument import provenance
from lctl.rerun.exactness.certificate import Certificate, Difference
from lctl.rerun.exactness.echo import EchoStore
from lctl.rerun.exactness.outcomes import named, output_equal, reaches_nobody
from lctl.rerun.guarding.auditing import Guard
from lctl.rerun.guarding.halting import Halt
from lctl.rerun.order.score import Violation
from lctl.rerun.order.waiting import Order
from lctl.rerun.serving import misses
from lctl.rerun.serving.player import TapePlayer
from lctl.rerun.tape.tape import Tape
from lctl.session import default, jsonable


class Certifier:
    """Of one rerun, whose time counts from here on.

    Args:
        tape: of the program's first session.

    Attributes:
        standing: where the program's threads stood as the event was reached that it was to stop at.
    """

    def __init__(self, tape: Tape, halt: Halt, guard: Guard, order: Order) -> None:
        self._tape = tape
        self._halt = halt
        self._guard = guard
        self._order = order
        self._started = monotonic()
        self.standing: tuple[str, ...] = ()

    def of(self, echo: EchoStore, player: TapePlayer) -> Certificate:
        """Of a session that was opened; what its log still lacks is written first."""
        tally, reached = player.tally, self._halt.reached
        found = echo.finish(reached)
        tape = echo.tape or player.tape
        until = echo.stored if reached else None
        unused = [] if reached else player.unused()
        output = output_equal(tape, echo, found) if until is None else None
        return Certificate(
            of=tape.log.id,
            log=str(echo.path),
            events=echo.stored,
            recorded=len(tape.log),
            exact=tally["exact"] + tally["recorded"],
            recalled=tally["recorded"],
            reads=tally.reads,
            drift=tally["drift"],
            moved=tally["moved"],
            edited=tally["edited"],
            live=tally["live"],
            executed=tally["executed"],
            dry=tally["dry"],
            unmatched=tally["unmatched"],
            unaddressed=tuple(player.unaddressed()),
            unused=tuple(named(unused)),
            blocked=self._guard.blocked,
            aside=_texts(() if self._guard.asides is None else self._guard.asides.written),
            files=_texts(self._guard.read.recorded),
            changed=_texts(self._changed()),
            violations=tuple(str(one) for one in self._violations(found is None and output is not False)),
            output_equal=output,
            stderr_differs=echo.stderr_differs if until is None else None,
            reordered=echo.reordered,
            log_equal=found is None,
            moved_lines=tuple(named(echo.labels.moved)),
            first_difference=found,
            again=tuple(player.again),
            stopped=str(self._halt.why) if self._halt.why is not None and not reached else None,
            until=until,
            standing=self.standing,
            seconds=round(monotonic() - self._started, 3),
        )

    def nothing(self, tape: Tape, player: TapePlayer, *, are_others: bool) -> Certificate:
        """Of a session of which the program recorded nothing this time.

        Args:
            are_others: of another one it recorded something.
        """
        first = next(tape.log.events(), None)
        missing = None
        if first is not None:
            missing = Difference(first.seq, f"{first.type} of {first.agent}", None)
        said = [str(self._halt.why)] if self._halt.why is not None and not are_others else []
        if provenance.begun and not (are_others or default.is_enabled()):
            said.append(misses.NOT_BEGUN)
        return Certificate(
            of=tape.log.id,
            recorded=len(tape.log),
            unused=tuple(named(player.unused())),
            blocked=self._guard.blocked,
            aside=_texts(() if self._guard.asides is None else self._guard.asides.written),
            files=_texts(self._guard.read.recorded),
            changed=_texts(self._changed()),
            log_equal=missing is None,
            first_difference=missing,
            stopped="\n\n".join(said) or None,
            unmatched=player.tally["unmatched"],
            seconds=round(monotonic() - self._started, 3),
        )

    def _changed(self) -> tuple[str, ...]:
        first = next(self._tape.log.events(), None)
        scratch = "" if self._guard.scratch is None else str(self._guard.scratch)
        return () if first is None else self._guard.read.written_since(first.timestamp, scratch)

    def _violations(self, equal: bool) -> list[Violation]:
        """What came out of order. Where all is equal, but for what reached nobody, or nobody who could tell:
        hand-overs of threads to loops (a loop that runs no more takes none), and the moments at which calls
        were made (a retry after a delay of chance). What was done in another order for them would differ."""
        return [one for one in self._order.violations if not (equal and reaches_nobody(one))]


def _texts(paths: tuple[str, ...]) -> tuple[str, ...]:
    """A path need not be text."""
    return tuple(map(jsonable.text, paths))
