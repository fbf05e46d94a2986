"""Tools whose body is an agent: delegation, agents and teams given to others as tools.

They ask nothing of the world themselves: what their agents ask is recorded, and served in a rerun. So the
body runs then, too, and what the program learns of it beside its value is as it was (streamed pieces, totals
of usage, an agent's memory). The `tool_call` event says of it what it says of any tool.
"""

from __future__ import annotations

from typing import Any

from lctl.instrument.patches import Wrapper
from lctl.instrument.structure.around import DescribeTool, Tool, around
from lctl.session import border, jsonable, reported
from lctl.session.concurrency import lanes
from lctl.session.default import get_session
from lctl.session.runs import wrappedruns
from lctl.session.tooling.rebinding import cannot_rewrite, rebound
from lctl.session.tooling.served import Rewritten
from lctl.session.tooling.toolcalls import Failure, Pause, ToolCall


def around_subagent(place: str, describe: DescribeTool) -> Wrapper:
    """A wrapper under which each run of a function is the call of a tool that is an agent."""

    def begin(instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> wrappedruns.Run | None:
        tool = describe(instance, args, kwargs)
        return None if tool is None else begin_subagent(tool)

    return around(place, begin)


def begin_subagent(tool: Tool) -> wrappedruns.Run | None:
    """A call begins, for `wrapping.wrap`; None where nothing is recorded.

    A fork may put another result in its place: it is the call of a tool like any then.
    """
    player = border.player()
    if player is not None:
        call = ToolCall(tool.name, jsonable.plain(tool.input), tool.call_id, agent=True)
        if player.gives_agent(call, lanes.current()):
            return tool.begin(agent=True)
        input = player.agent_input(call, lanes.current())
        if input is not None and get_session() is not None:
            return _Run(tool, Rewritten(input))
    return None if get_session() is None else _Run(tool)


class _Run(wrappedruns.Run):
    """One call; its event is recorded in the step it was made in."""

    follows = True

    def __init__(self, tool: Tool, served: Rewritten | None = None) -> None:
        session = get_session()
        assert session is not None
        self._session = session
        self._tool = tool._replace(input=jsonable.plain(tool.input))
        self._place = session.frame()
        self._started = session.clock.monotonic_ns()
        self._items: list[Any] | None = None
        self._asked: dict[str, Any] | None = None
        self.served = served

    def rewritten(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Raises RerunStopped where it is not known how this agent is called with other arguments."""
        assert isinstance(self.served, Rewritten)
        self._asked, input = self._tool.input, self.served.input
        self.arguments = rebound(args, kwargs, self._asked, input)
        player = border.player()
        if self.arguments is None and player is not None:
            raise player.stopped(cannot_rewrite(self._tool.name, input))
        self.served = None
        self._tool = self._tool._replace(input=jsonable.plain(input))

    def yielded(self, value: Any) -> None:
        self._items = [*(self._items or ()), value][-1:]  # what the agent said on its way is recorded there

    def returned(self, value: Any) -> None:
        given = value if self._items is None else self._items[0]
        shown = given if self._tool.shown is None else self._tool.shown(given)
        if isinstance(shown, Pause):
            self._record({"paused": shown.waits})
        else:
            self._record({"error": shown._asdict()} if isinstance(shown, Failure) else {"output": shown})

    def failed(self, error: BaseException) -> None:
        waits = None if self._tool.paused is None else self._tool.paused(error)
        if waits is not None:
            self._record({"paused": waits})
            return
        said = {"type": jsonable.name_of(type(error)), "message": jsonable.text_of_error(error)}
        self._record({"error": said})

    def _record(self, gave: dict[str, Any]) -> None:
        data: dict[str, Any] = {"tool": self._tool.name, "input": self._tool.input, **gave}
        ns = self._session.clock.monotonic_ns() - self._started
        data["duration_ms"] = round(ns / 1e6, 3)
        if self._tool.call_id is not None:
            data["call_id"] = self._tool.call_id
        if self._asked is not None:
            data["asked"] = self._asked
        data = reported.stamped(self._session, {**data, "subagent": True})
        self._session.emit("tool_call", data, agent=self._place.agent, step=self._place.step)
