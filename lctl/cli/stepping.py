"""The interactive replay on a terminal: events on one side, the state at this point on the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console, Group, RenderableType
from rich.layout import Layout
from rich.live import Live
from rich.panel import Panel
from rich.text import Text

from lctl.analysis.log import millis
from lctl.analysis.pauses import pause_of
from lctl.analysis.wording import plain, seconds
from lctl.cli import panels
from lctl.cli.eventview import event_lines, numbered
from lctl.cli.keys import Keys
from lctl.cli.modelcall import model_call
from lctl.cli.stepper import HELP, Stepper
from lctl.events import Event
from lctl.state.timeline import Timeline

if TYPE_CHECKING:
    from lctl.codec import Log

_WIDE = 100  # columns from which events and state stand side by side
_SLOW = 200_000  # events from which the first state takes long enough to say so


def step_through(log: Log, start: int) -> None:
    """Run the interactive replay until the user leaves."""
    console = Console(highlight=False)
    at = Stepper(log, start)
    view = View(log)
    with Keys() as keys, Live(console=console, screen=True, auto_refresh=False) as live:
        if len(log) > _SLOW:
            live.update(Text(f"Reading {len(log):,} events..."), refresh=True)
        while True:
            live.update(view.draw(at, console.size.width, console.size.height), refresh=True)
            if not at.press(keys.read()):
                return


class View:
    """Draws a `Stepper`."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.timeline = Timeline(log)
        first = next(iter(log.events(log.first_seq)), None)
        self._pause = pause_of(log)
        self._began = millis(first.timestamp) if first else None

    def draw(self, at: Stepper, width: int, height: int) -> RenderableType:
        """The whole screen."""
        body = height - 2
        at.page = max(body - 4, 1)
        main: RenderableType
        if at.mode == "help":
            main = _titled("Keys", [[(f"{keys:<12}", "bold"), text] for keys, text in HELP])
        elif at.mode == "event":
            main = self._event(at, width, body)
        elif width >= _WIDE:
            main = Layout(size=body)
            main.split_row(
                Layout(self._events(at, body), ratio=3),
                Layout(self._state(at, width * 2 // 5, body), ratio=2),
            )
        else:
            upper = max(body // 2, 3)
            main = Layout(size=body)
            main.split_column(
                Layout(self._events(at, upper), size=upper), Layout(self._state(at, width, body - upper))
            )
        screen = Layout()
        screen.split_column(
            Layout(self._head(at, width), size=1), Layout(main, size=body), Layout(self._foot(at), size=1)
        )
        return screen

    def _head(self, at: Stepper, width: int) -> Text:
        event = self.log.event(at.seq)
        at_time = millis(event.timestamp)
        now = None if at_time is None else self._pause.without(at_time)
        passed = "" if now is None or self._began is None else f"  +{seconds(max(now - self._began, 0))}"
        place = f" {at.seq:,} / {self.log.last_seq:,}{passed} "
        name = plain(self.log.id or self.log.name, 200)
        head = Text(f" {name}", style="reverse", no_wrap=True, overflow="ellipsis")
        head.truncate(max(width - len(place), 0), overflow="ellipsis", pad=True)
        head.append(place, style="reverse bold")
        return head

    def _foot(self, at: Stepper) -> Text:
        if at.prompt:
            what = "search" if at.prompt == "/" else "go to"
            return Text.assemble((f" {what}: ", "bold"), plain(at.typed), ("▏", "blink"))
        if at.note:
            return Text(f" {plain(at.note)}", style="yellow", no_wrap=True, overflow="ellipsis")
        keys = {
            "events": "←→ move  12⏎ jump  / search  e error  s step  ⏎ inspect  ? keys  q quit",
            "event": "↑↓ scroll  ←→ step  r raw  Esc back  q quit",
            "help": "Esc back  q quit",
        }
        return Text(" " + keys[at.mode], style="dim", no_wrap=True, overflow="ellipsis")

    def _events(self, at: Stepper, height: int) -> Panel:
        lines: list[panels.Line] = []
        for event in at.window(max(height - 2, 1)):
            here = event.seq == at.seq
            lines.append([("▶ ", "bold") if here else "  ", *numbered(event)])
        return _titled(
            "Events", lines, chosen=next((n for n, line in enumerate(lines) if line[0] != "  "), None)
        )

    def _state(self, at: Stepper, width: int, height: int) -> Panel:
        state = self.timeline.at(at.seq)
        room = max(height - 2, 1)
        lines = list(panels.totals(state, self._pause))
        facts = list(panels.facts(state, room))
        for_facts = min(len(facts), room // 3) + 1 if facts else 0
        tree = list(panels.steps(state, max(room - len(lines) - 1 - for_facts, 1)))
        if tree:
            lines += [[], *tree]
        if facts:
            left = max(room - len(lines) - 1, 1)
            hidden = len(facts) - left
            shown = facts if hidden <= 0 else [[(f"… {hidden + 1} lines above", "dim")], *facts[hidden + 1 :]]
            lines += [[], *shown]
        return _titled(f"State after {at.seq}", lines)

    def _event(self, at: Stepper, width: int, height: int) -> RenderableType:
        event = self.log.event(at.seq)
        lines = _raw_lines(event, width - 4) if at.raw else self._full_lines(event, width - 4)
        room = max(height - 2, 1)
        at.page = room
        at.scroll = min(at.scroll, max(len(lines) - room, 0))
        more = len(lines) - at.scroll - room
        title = f"Event {at.seq}" + (f"  ({more} more lines)" if more > 0 else "")
        return _titled(title, lines[at.scroll : at.scroll + room])

    def _full_lines(self, event: Event, width: int) -> list[panels.Line]:
        call = model_call(self.log, self.timeline.at(self.log.last_seq), event)
        return list(event_lines(event, call, width))


def _raw_lines(event: Event, width: int) -> list[panels.Line]:
    import orjson

    from lctl.analysis.wording import block
    from lctl.cli.text import wrap
    from lctl.codec.lines import encode_value

    option = orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS
    text = encode_value(event.to_dict(), option=option).decode()
    return [[line] for line in wrap(block(text), max(width, 10))]


def _titled(title: str, lines: list[Any], chosen: int | None = None) -> Panel:
    texts = []
    for n, line in enumerate(lines):
        text = Text(no_wrap=True, overflow="ellipsis", style="reverse" if n == chosen else "")
        for piece in line:
            if isinstance(piece, str):
                text.append(piece)
            else:
                text.append(piece[0], style=piece[1] or None)
        texts.append(text)
    return Panel(Group(*texts), title=title, title_align="left", border_style="dim", padding=(0, 1))
