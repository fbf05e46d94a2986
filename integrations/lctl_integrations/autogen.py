"""AutoGen: teams, agents and their turns as steps, tools as tool calls, hand-off messages as hand-offs.

An agent of a team acts in a task of the team's runtime, which is started inside the team's run, and so in
its step. A message between agents of `autogen_core` is handled in the step it was sent from. Model calls
are the wire's.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any
from weakref import ref

from lctl.guard import guard
from lctl.instrument.patches import PatchSet
from lctl.instrument.structure import Step, Tool, around_step, guarded
from lctl.instrument.structure.subagents import begin_subagent
from lctl.session import border
from lctl.session.default import get_session
from lctl.session.runs import context, wrappedruns, wrapping
from lctl.session.runs.context import Frame
from lctl.session.runs.steps import StepScope
from lctl.session.session import LCTLSession
from lctl.session.tooling.toolruns import begin_tool

_AGENT = "an agent of AutoGen"
_TURN = "an agent's turn in a team of AutoGen"
_TEAM = "a team of AutoGen"
_TOOL = "a tool call of AutoGen"
_HANDOFF = "a hand-off of AutoGen"
_MESSAGE = "a message to an agent of AutoGen"

#: What a run gives last: of an agent in a team, of one alone or a team.
_RESULTS = ("Response", "TaskResult")


class AgentChat:
    """autogen-agentchat: agents and teams."""

    name = "autogen-agentchat"
    supported = ">=0.7.5,<0.8"
    modules = (
        "autogen_agentchat.agents._base_chat_agent",
        "autogen_agentchat.agents._assistant_agent",
        "autogen_agentchat.teams._group_chat._base_group_chat",
        "autogen_agentchat.teams._group_chat._chat_agent_container",
    )

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        match module.__name__.rpartition(".")[2]:
            case "_base_chat_agent":
                patches.wrap(module, "BaseChatAgent.run", _acting)
                patches.wrap(module, "BaseChatAgent.run_stream", _acting)
            case "_assistant_agent":
                patches.wrap(module, "AssistantAgent.on_messages_stream", _acting)
            case "_base_group_chat":
                patches.wrap(module, "BaseGroupChat.run_stream", _teaming)
            case "_chat_agent_container":
                patches.wrap(module, "ChatAgentContainer.handle_request", around_step(_TURN, _turn))
                patches.wrap(module, "ChatAgentContainer._log_message", _logged)


class Core:
    """autogen-core: tools, and agents that send each other messages."""

    name = "autogen-core"
    supported = ">=0.7.5,<0.8"
    modules = (
        "autogen_core.tools._base",
        "autogen_core._base_agent",
        "autogen_core._single_threaded_agent_runtime",
    )

    def __init__(self) -> None:
        self._posted = _Posted()

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        match module.__name__.rpartition(".")[2]:
            case "_base":
                patches.wrap(module, "BaseTool.run_json", _tool)
                patches.wrap(module, "BaseStreamTool.run_json_stream", _tool)
            case "_base_agent":
                patches.wrap(module, "BaseAgent.on_message", self._posted.received)
            case "_single_threaded_agent_runtime":
                patches.wrap(module, "SingleThreadedAgentRuntime.send_message", self._posted.sent)
                patches.wrap(module, "SingleThreadedAgentRuntime.publish_message", self._posted.sent)


# -- agents and teams ----------------------------------------------------------------------


def _teaming(wrapped: Any, team: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    def begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> wrappedruns.Run | None:
        session = get_session()
        if session is None:
            return None
        with guard(_TEAM):
            guard.rehearse(_TEAM)
            return _Running(session.step(team.name, type(team).__name__, kind="chain").begin())
        return None

    return wrapping.wrap(wrapped, begin)(*args, **kwargs)


class _Running(wrappedruns.Run):
    """One run as a step. Its result ends it: who has that need not ask for more, and a generator that is
    left there ends when Python gets to it."""

    def __init__(self, scope: StepScope) -> None:
        self._scope = scope

    def yielded(self, value: Any) -> None:
        if type(value).__name__ in _RESULTS:
            self._scope.end()

    def returned(self, value: Any) -> None:
        self._scope.end()

    def failed(self, error: BaseException) -> None:
        self._scope.end(error)


def _turn(container: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Step | None:
    agent = container._agent
    return None if hasattr(agent, "_participants") else Step(agent.name, "agent", "turn")


def _acting(wrapped: Any, agent: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    def begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> wrappedruns.Run | None:
        session = get_session()
        if session is None:
            return None
        with guard(_AGENT):
            guard.rehearse(_AGENT)
            return None if _is_acting(session.frame(), agent) else _Acting(session, agent)
        return None

    return wrapping.wrap(wrapped, begin)(*args, **kwargs)


def _is_acting(frame: Frame, agent: Any) -> bool:
    """`run` ends in `on_messages_stream`, as does a turn in a team."""
    return frame.step is not None and frame.agent == agent.name


class _Acting(_Running):
    """One run of an agent."""

    def __init__(self, session: LCTLSession, agent: Any) -> None:
        super().__init__(session.step(agent.name, "run", kind="agent").begin())
        self._place = session.frame()

    def yielded(self, value: Any) -> None:
        _hand_off(getattr(value, "chat_message", value), self._place)
        super().yielded(value)

    def returned(self, value: Any) -> None:
        messages = getattr(value, "messages", None)
        if messages:
            _hand_off(messages[-1], self._place)
        super().returned(value)


async def _logged(wrapped: Any, container: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What an agent of a team says, on its way to the others."""
    _hand_off(args[0] if args else kwargs.get("message"), None)
    return await wrapped(*args, **kwargs)


@guarded(_HANDOFF)
def _hand_off(message: Any, place: Frame | None) -> None:
    if type(message).__name__ != "HandoffMessage":
        return
    session = get_session() if place is None else place.session
    if session is not None:
        data = {"from": message.source, "to": message.target, "reason": message.content}
        session.emit("handoff", data, step=None if place is None else place.step)


# -- tools ---------------------------------------------------------------------------------


def _tool(wrapped: Any, tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Signature of the wrapped: (args, cancellation_token, call_id=None)."""

    def begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> wrappedruns.Run | None:
        if get_session() is None and border.player() is None:
            return None
        with guard(_TOOL):
            guard.rehearse(_TOOL)
            input = args[0] if args else kwargs["args"]
            call_id = args[2] if len(args) > 2 else kwargs.get("call_id")
            given = dict(input) if isinstance(input, Mapping) else {"args": input}
            if hasattr(tool, "_task_runner"):  # an agent or a team
                return begin_subagent(Tool(tool.name, given, call_id, tool.return_value_as_string))
            return begin_tool(tool.name, given, call_id=call_id, function=getattr(tool, "_func", None))
        return None

    return wrapping.wrap(wrapped, begin)(*args, **kwargs)


# -- messages between agents ---------------------------------------------------------------


class _Posted:
    """Where messages on their way were sent from. A message is found by its identity: it is handed over as
    the object it is."""

    def __init__(self) -> None:
        self._from: dict[int, tuple[Any, Frame]] = {}

    def sent(self, wrapped: Any, runtime: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self._note(args[0] if args else kwargs.get("message"))
        return wrapped(*args, **kwargs)

    @guarded(_MESSAGE)
    def _note(self, message: Any) -> None:
        frame, key = context.current(), id(message)
        if frame is None:
            return
        try:
            self._from[key] = (ref(message, lambda _: self._from.pop(key, None)), frame)
        except TypeError:
            pass  # a text, a number: nobody can tell it from its like

    def received(self, wrapped: Any, agent: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Signature of the wrapped: (message, ctx)."""

        def begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> wrappedruns.Run | None:
            session = get_session()
            if session is None or type(agent).__module__.startswith("autogen_agentchat."):
                return None
            with guard(_MESSAGE):
                guard.rehearse(_MESSAGE)
                message = args[0] if args else kwargs["message"]
                return _Handling(session, agent.id.type, type(message).__name__, self._sender(message))
            return None

        return wrapping.wrap(wrapped, begin)(*args, **kwargs)

    def _sender(self, message: Any) -> Frame | None:
        held, frame = self._from.get(id(message), (None, None))
        if held is None or held() is not message:
            return None
        while frame is not None and not frame.open:
            frame = frame.parent
        return frame


class _Handling(wrappedruns.Run):
    """One message handled, as a step of the step it was sent from."""

    def __init__(self, session: LCTLSession, agent: str, intent: str, sender: Frame | None) -> None:
        self._before = context.raw()
        if sender is not None:
            context.set_current(sender)
        self._scope = session.step(agent, intent, kind="agent").begin()

    def returned(self, value: Any) -> None:
        self._end(None)

    def failed(self, error: BaseException) -> None:
        self._end(error)

    def _end(self, error: BaseException | None) -> None:
        self._scope.end(error)
        context.set_current(self._before)
