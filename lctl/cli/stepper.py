"""Where the interactive replay stands, and what each key does. Knows no terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal, Protocol

from lctl.analysis.echoes import is_echo
from lctl.analysis.search import Query
from lctl.codec.lines import decode
from lctl.errors import UsageError
from lctl.events import Event

if TYPE_CHECKING:
    from lctl.codec import Log


class Wanted(Protocol):
    """A test of events, and a cheaper one of their lines that says no only where that would."""

    def may_match(self, line: bytes) -> bool: ...

    def matches(self, event: Event) -> bool: ...


Mode = Literal["events", "event", "help"]
_CHUNK = 512


class Stepper:
    """A position in a log.

    Attributes:
        seq: of the event the reader is at; the state shown is the one after it.
        mode: the list of events, one event in full, or the keys.
        raw: one event is shown as JSON.
        scroll: lines scrolled down in the one event.
        prompt: "/" or ":" while something is typed into `typed`.
        note: one line for the reader, until the next key.
        page: events in a page; the screen says how many.
    """

    def __init__(self, log: Log, seq: int) -> None:
        self.log = log
        self.seq = min(max(seq, log.first_seq), log.last_seq)
        self.mode: Mode = "events"
        self.raw = False
        self.scroll = 0
        self.prompt = ""
        self.typed = ""
        self.note = ""
        self.page = 10
        self._query: Query | None = None

    def window(self, room: int) -> list[Event]:
        """At most `room` events around the position, which is a third down where there are more."""
        start = max(self.log.first_seq, self.seq - room // 3)
        events = _some(self.log.events(start), room)
        if len(events) < room:
            start = max(self.log.first_seq, self.log.last_seq - room + 1)
            events = _some(self.log.events(start), room)
        return events

    def press(self, key: str) -> bool:
        """Act on a key; False to leave."""
        self.note = ""
        if self.prompt:
            self._type(key)
            return True
        if key in ("q", "quit"):
            return False
        if self.mode != "events":
            return self._press_in_event(key)
        if key == "escape":
            return True
        action = _KEYS.get(key)
        if action is not None:
            action(self)
        elif key.isdecimal():
            self.prompt, self.typed = ":", key
        return True

    # -- moving ---------------------------------------------------------------------------

    def forward(self, many: int = 1) -> None:
        before = self.seq
        for n, event in enumerate(self.log.events(self.seq + 1), 1):
            self.seq = event.seq
            if n == many:
                break
        if self.seq == before:
            self.note = "this is the last event"

    def back(self, many: int = 1) -> None:
        before = self.seq
        start = max(self.log.first_seq, self.seq - many)
        while True:
            earlier = [event.seq for event in self.log.events(start, before)]
            if earlier or start <= self.log.first_seq:
                break
            start = max(self.log.first_seq, start - _CHUNK)  # a gap in the numbers
        if earlier:
            self.seq = earlier[-many] if len(earlier) >= many else earlier[0]
        else:
            self.note = "this is the first event"

    def jump(self, seq: int) -> None:
        """To the event numbered `seq`, or the nearest there is."""
        wanted = min(max(seq, self.log.first_seq), self.log.last_seq)
        found = _some(self.log.events(wanted), 1)
        self.seq = found[0].seq if found else self.log.last_seq
        if self.seq != seq:
            self.note = f"there is no event {seq}; the log has {self.log.first_seq} to {self.log.last_seq}"

    # -- looking for ----------------------------------------------------------------------

    def find(self, wanted: Wanted, what: str, backward: bool = False) -> None:
        """To the next event that fits, the one before with `backward`; round the end of the log once."""
        if backward:
            found = self._last(wanted, self.log.first_seq, self.seq)
            around = found is None
            found = found or self._last(wanted, self.seq + 1, self.log.last_seq + 1)
        else:
            found = self._first(wanted, self.seq + 1, None)
            around = found is None
            found = found or self._first(wanted, self.log.first_seq, self.seq)
        if found is None:
            self.note = f"no other {what}"
            return
        self.seq = found
        if around:
            self.note = "past the start, from the end" if backward else "past the end, from the start"

    def _first(self, wanted: Wanted, start: int, stop: int | None) -> int | None:
        return next(_fitting(self.log, wanted, start, stop), None)

    def _last(self, wanted: Wanted, start: int, stop: int) -> int | None:
        while stop > start:
            begin = max(start, stop - _CHUNK)
            found = list(_fitting(self.log, wanted, begin, stop))
            if found:
                return found[-1]
            stop = begin
        return None

    def again(self, backward: bool = False) -> None:
        if self._query is None:
            self.note = "nothing to look for yet; / asks for it"
        else:
            self.find(self._query, "event that fits", backward)

    # -- typing ---------------------------------------------------------------------------

    def ask(self, prompt: str) -> None:
        self.prompt, self.typed = prompt, ""

    def _type(self, key: str) -> None:
        if key in ("escape", "quit"):
            self.prompt = ""
        elif key == "enter":
            prompt, self.prompt = self.prompt, ""
            self._answer(prompt, self.typed.strip())
        elif key == "backspace":
            self.prompt, self.typed = (self.prompt if self.typed else ""), self.typed[:-1]
        elif key == "clear":
            self.typed = ""
        elif len(key) == 1 and key.isprintable():
            self.typed += key

    def _answer(self, prompt: str, text: str) -> None:
        if not text:
            return
        if prompt == ":":
            if text.lstrip("+-").isdecimal() and len(text) < 19:
                self.jump(int(text) + (self.seq if text[0] in "+-" else 0))
            else:
                self.note = f"{text!r} is not a seq"
            return
        try:
            self._query = Query(text)
        except UsageError as error:
            self.note = str(error)
            return
        self.find(self._query, f"event that fits {text!r}")

    # -- one event ------------------------------------------------------------------------

    def inspect(self, raw: bool = False) -> None:
        self.mode, self.raw, self.scroll = "event", raw, 0

    def help(self) -> None:
        self.mode = "help"

    def _press_in_event(self, key: str) -> bool:
        moves = {
            "down": 1,
            "j": 1,
            "up": -1,
            "k": -1,
            "pagedown": self.page,
            " ": self.page,
            "pageup": -self.page,
        }
        if key in moves and self.mode == "event":
            self.scroll = max(0, self.scroll + moves[key])
        elif key == "r" and self.mode == "event":
            self.raw, self.scroll = not self.raw, 0
        elif key in ("right", "l", "left", "h") and self.mode == "event":
            (self.forward if key in ("right", "l") else self.back)()
            self.scroll = 0
        elif key == "home":
            self.scroll = 0
        elif key in ("escape", "enter", "i", "?", "backspace"):
            self.mode = "events"
        return True


def _fitting(log: Log, wanted: Wanted, start: int, stop: int | None) -> Iterator[int]:
    for line in log.lines(start, stop):
        if not wanted.may_match(line):
            continue
        try:
            event = Event.from_dict(decode(line))
        except (ValueError, KeyError, AttributeError):
            continue
        if wanted.matches(event):
            yield event.seq


def _some(events: Iterator[Event], many: int) -> list[Event]:
    return [event for event, _ in zip(events, range(many), strict=False)]


class _Failures:
    """Error events, failed tools, steps that ended in error; each failure once."""

    def __init__(self, log: Log) -> None:
        self._log = log

    def may_match(self, line: bytes) -> bool:
        return b"error" in line

    def matches(self, event: Event) -> bool:
        data = event.data
        is_failed = event.type == "error" or bool(data.get("error")) or data.get("outcome") == "error"
        return is_failed and not is_echo(self._log, event)


_STEPS = Query("type:step_start")

_KEYS: dict[str, Callable[[Stepper], None]] = {
    **dict.fromkeys(("right", "down", "j", "l", " "), Stepper.forward),
    **dict.fromkeys(("left", "up", "k", "h", "backspace"), Stepper.back),
    "pagedown": lambda at: at.forward(at.page),
    "pageup": lambda at: at.back(at.page),
    **dict.fromkeys(("home", "g"), lambda at: at.jump(at.log.first_seq)),
    **dict.fromkeys(("end", "G"), lambda at: at.jump(at.log.last_seq)),
    "/": lambda at: at.ask("/"),
    ":": lambda at: at.ask(":"),
    "n": Stepper.again,
    "N": lambda at: at.again(backward=True),
    "e": lambda at: at.find(_Failures(at.log), "error"),
    "E": lambda at: at.find(_Failures(at.log), "error", backward=True),
    "s": lambda at: at.find(_STEPS, "step"),
    "S": lambda at: at.find(_STEPS, "step", backward=True),
    **dict.fromkeys(("enter", "i"), Stepper.inspect),
    "r": lambda at: at.inspect(raw=True),
    "?": Stepper.help,
}

#: What `?` shows.
HELP = (
    ("→ ↓ space", "forward one event"),
    ("← ↑", "back one event"),
    ("PgDn PgUp", "a page forward, back"),
    ("g G", "first, last event"),
    ("12 Enter", "jump to event 12   (:+5 and :-5 from here)"),
    ("/", "search: words, or field:value (type, agent, step, tool, model, error, ...)"),
    ("n N", "next, previous one found"),
    ("e E", "next, previous error"),
    ("s S", "next, previous step"),
    ("Enter", "this event in full, with its model call"),
    ("r", "this event as it stands in the log"),
    ("q", "quit"),
)
