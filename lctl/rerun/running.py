"""A rerun of this process: what is put in place for it, and taken away at its end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from lctl.clock import system_clock, system_ids
from lctl.errors import RecordingError, RerunError
from lctl.record.journal import Durability, JournalStore
from lctl.rerun.exactness.certificate import Certificate
from lctl.rerun.exactness.certifying import Certifier
from lctl.rerun.exactness.echo import EchoStore
from lctl.rerun.exactness.filling import Filling
from lctl.rerun.forks import forking
from lctl.rerun.guarding import stopping
from lctl.rerun.guarding.adopted import Adopted
from lctl.rerun.guarding.asides import Asides
from lctl.rerun.guarding.auditing import Guard
from lctl.rerun.guarding.halting import Halt
from lctl.rerun.order.conductor import Conductor
from lctl.rerun.order.ordering import together, wall_of
from lctl.rerun.order.waiting import Order
from lctl.rerun.serving import misses
from lctl.rerun.serving.heard import HeardAgain
from lctl.rerun.serving.player import TapePlayer
from lctl.rerun.serving.routing import Router
from lctl.rerun.settings import Settings
from lctl.rerun.tape import ownlogs, siblings
from lctl.rerun.tape.drawnids import DrawnIds
from lctl.rerun.tape.drawnplaces import DrawnPlaces
from lctl.rerun.tape.ownlogs import Places, known_as
from lctl.rerun.tape.tape import Tape
from lctl.session import border, naming, opening
from lctl.session.concurrency import lanes


class Rerun:
    """Serves this process from a tape, from `begin` to `end`.

    Attributes:
        tape: of the program's first session.
        player: what answers its calls.
        halt: the end of the rerun.
        guard: refuses what the program would do to the world outside.
        on_reached: called in the program's own thread when event `settings.to` has been recorded.
        on_closing: called when a session is closed, whose certificate is made.
    """

    def __init__(self, tape: Tape, settings: Settings, *, alone: bool = False) -> None:
        """
        Args:
            alone: code that opens this one session is run again, and no whole program with all of its own.
        """
        self._tapes = [tape] if alone else siblings.process(tape)
        #: Which of the program's sessions the log that was asked for is of.
        self._asked = next((n for n, one in enumerate(self._tapes) if one.log.id == tape.log.id), 0)
        self.tape = tape = self._tapes[0]
        self.settings = settings
        counted = [lane for tape in self._tapes for lane in tape.counted]
        self.fork = forking.point(tape, settings)
        wall = wall_of(tape)
        conductor = Conductor(
            together(self._tapes),
            realtime=settings.realtime,
            counted=counted,
            wall=wall,
            living=None if self.fork is None or wall is None else forking.living(self.fork, tape, wall),
        )
        self.order: Order = conductor
        self.halt = Halt()
        if self.fork is None:
            self.player = TapePlayer(tape, settings, self.order, self.halt)
        else:
            self.player = forking.player(tape, settings, self.order, self.halt, self.fork)
        self._ids = self.player.ids = DrawnIds()
        self.on_reached: Callable[[], None] | None = None
        self.on_closing: Callable[[], None] | None = None
        self.heard: HeardAgain | None = None
        self._router = Router(self.player)
        self._pace = conductor.pace
        self.guard = Guard(settings.allow)
        self.guard.is_live = lambda: lanes.current() in self.player.live
        self.guard.again = self.player.again
        if settings.writes == "aside":
            self.guard.asides = Asides(self.guard.divert)
        self.guard.adopted = Adopted(stay=self.fork is not None)
        self._echoes: list[EchoStore] = []
        self._players: dict[EchoStore, TapePlayer] = {}
        self._before: Any = None
        self._redirect: Any = None, None
        self._places = Places()
        self._lock = threading.Lock()
        self._certifier = Certifier(tape, self.halt, self.guard, self.order)
        self._made: dict[EchoStore, Certificate] = {}  # of sessions that are closed

    # -- in place --------------------------------------------------------------------------

    def begin(self) -> None:
        """Serve from here on.

        Raises:
            RerunError: another rerun is under way in this process.
        """
        if border.player() is not None:
            raise RerunError("a rerun is under way in this process already; reruns do not nest")
        self._redirect = opening.redirect, opening.moved
        opening.redirect, opening.moved = self._store, self._places.of
        self.order.install()
        border.set_player(self._router)
        self.guard.begin()
        self._ids.begin()

    def end(self) -> None:
        """Put everything back."""
        self._ids.end()
        self.guard.end()
        border.set_player(None)
        self.order.uninstall()
        opening.redirect, opening.moved = self._redirect

    def know_places(self, places: DrawnPlaces) -> None:
        """Temporary folders and files that stand for recorded ones."""
        self._ids.places = places

    def abandon(self) -> None:
        """In a forked child: all this is its parent's."""
        self.guard.abandon()
        border.set_player(None)
        self.order.uninstall()
        opening.redirect, opening.moved = self._redirect

    def tape_of_child(self, lane: str | None) -> Tape:
        """The tape of the child process that lane `lane` started, whichever session it belonged to. An empty
        one where there is none: such a child did nothing that is recorded."""
        found = (siblings.child(tape, lane, 0) for tape in self._tapes if lane is not None)
        return next((tape for tape in found if tape is not None), None) or Tape.empty()

    # -- the new log -------------------------------------------------------------------------

    def _store(self, chain: dict[str, Any], durability: Durability, place: str | Path | None) -> JournalStore:
        """The log of a session that the program opens: never the one it names, which is the recording."""
        with self._lock:
            before = self._places.find(place)
            if before is not None:
                return self._taken_up(before, durability)
            first = not self._echoes
            if first:
                self._pace.reach_origin()
            tape = ownlogs.fitting(self._tapes, [echo.tape for echo in self._echoes], opening.opened_in())
            name = str(chain.get("name") or chain.get("id") or naming.program())
            made = {key: value for key, value in chain.items() if key not in ("id", "name")}
            made["known_as"] = known_as(chain, tape)
            if tape is not None:
                made.pop("seed", None)
                made |= {key: tape.log.chain[key] for key in ("seed",) if key in tape.log.chain}
            if not first:
                made["with"] = {"id": self._echoes[0].chain["id"], "n": len(self._echoes) + 1}
            if opened := opening.opened_in():
                made["opened"] = opened
            made = {
                "id": system_ids.chain_id(f"{name}-{self._verb}"),
                "name": name,
                **made,
                **self._lineage(tape, made.get("parent")),
            }
            asked = tape is self._tapes[self._asked]
            player = self._player_of(tape)
            try:
                path = self._path(f"{self._verb}-{name}", asked)
                echo = EchoStore(path, made, tape, player.equivalent, durability=durability)
            except (OSError, RecordingError) as error:  # unrecorded, it would be served nothing either
                raise self.halt.stop(misses.of_log(self._verb, error)) from None
            echo.recorder = Filling
            self._connect(echo, player)
            if self.fork is not None:
                echo.shared = self.fork.prefix if tape is self.tape else 0
            if player.ends and tape is not None:
                echo.mark, echo.cut = len(tape.log), True  # a recording cut off: no further than that
            if asked and self.settings.to is not None:
                echo.mark = self.settings.to
                echo.cut = not self.settings.pdb
                echo.reached = self._reached
            self._echoes.append(echo)
            self._places.add(place, echo)
            return echo

    def _connect(self, echo: EchoStore, player: TapePlayer) -> None:
        player.bodies.fills = echo.fills
        self._players[echo] = player
        self._router.add(echo, player)
        echo.closing = self._closing
        echo.halt = self.halt
        echo.ids = self._ids
        echo.moment = lambda: self._pace.now
        if self.heard is not None and echo.tape is self.tape:
            self.heard.follow(echo)

    def _taken_up(self, before: EchoStore, durability: Durability) -> EchoStore:
        """The program goes on with a log that it has closed."""
        echo = EchoStore(
            before.path, None, before.tape, self._players[before].equivalent, durability=durability
        )
        echo.recorder = Filling
        self._connect(echo, self._players[before])
        echo.go_on_from(before)
        self._echoes[self._echoes.index(before)] = echo
        self._made.pop(before, None)
        self._router.remove(before)
        self._places.replace(before, echo)
        return echo

    def _player_of(self, tape: Tape | None) -> TapePlayer:
        """Of one session. One that the recording does not know is served nothing."""
        if tape is self.tape:
            return self.player
        player = TapePlayer(tape or Tape.empty(), self.settings, self.order, self.halt)
        player.ids = self._ids
        return player

    @property
    def _verb(self) -> str:
        return "rerun" if self.settings.at is None else "fork"

    def _lineage(self, tape: Tape | None, process: Any) -> dict[str, Any]:
        if tape is None:
            return {}
        if self.fork is None or tape is not self.tape:
            return {"rerun": {"of": tape.log.id}}
        return forking.lineage(self.fork, self.settings, process)

    def _path(self, name: str, asked: bool) -> Path:
        if asked and self.settings.output:
            return Path(self.settings.output)
        path = naming.default_path(name, system_clock)
        place, n = path, 1
        while not naming.claim(place):  # children that begin at once each get their own
            n += 1
            place = naming.with_suffix(path, str(n))
        return place

    def _reached(self) -> None:
        if self.settings.pdb:
            from lctl.rerun import debugging

            debugging.debug(f"event {self.settings.to} is recorded; 'c' goes on, 'q' ends the rerun")
            return
        self._certifier.standing = stopping.standing()
        self.halt.stop(f"event {self.settings.to} was reached", reached=True)
        if self.on_reached is not None:
            self.on_reached()
        self.halt.check()

    def _closing(self, echo: EchoStore) -> dict[str, Any]:
        made = self._made[echo] = self._of(echo)
        if self.on_closing is not None:
            self.on_closing()
        return made.to_dict()

    def is_whole(self) -> bool:
        """Whether all that the tape holds has been recorded again."""
        return any(echo.tape is self.tape and echo.stored >= len(self.tape.log) for echo in self._echoes)

    # -- the certificate ---------------------------------------------------------------------

    def certificate(self) -> Certificate:
        """How exact this rerun was; complete once the program's session is closed."""
        return self.certificates()[0]

    def certificates(self) -> list[Certificate]:
        """Of each session the program opened, the first one's first; then of those that it did not open."""
        if not self._echoes:
            return [self._certifier.nothing(self.tape, self.player, are_others=False)]
        made = [self._made.get(echo) or self._of(echo) for echo in self._echoes]
        why = self.halt.why
        if why is not None and not self.halt.reached and not any(each.stopped for each in made):
            made[-1] = replace(made[-1], stopped=str(why))  # outside all of them, which had been closed
        return made + [
            self._certifier.nothing(tape, self._player_of(tape), are_others=True) for tape in self._unopened()
        ]

    def _unopened(self) -> list[Tape]:
        if self.halt.reached or self.fork is not None:
            return []
        opened = {id(echo.tape) for echo in self._echoes}
        return [tape for tape in self._tapes if id(tape) not in opened]

    def _of(self, echo: EchoStore) -> Certificate:
        return self._certifier.of(echo, self._players[echo])
