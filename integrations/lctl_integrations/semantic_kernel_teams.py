"""semantic-kernel's orchestrations: each a step that its agents work in, and what they hand on.

Their agents are run by messages that a runtime delivers, in tasks of its own. So a team's step is found by
the topic of its messages.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from lctl.guard import guard
from lctl.instrument.patches import PatchSet
from lctl.instrument.structure import Runs, guarded
from lctl.session.default import get_session

_TEAM = "an orchestration of Semantic Kernel"
_HANDOFF = "a hand-off of Semantic Kernel"

_BASE = "semantic_kernel.agents.orchestration."
_CLASSES = {
    "concurrent": "ConcurrentOrchestration",
    "group_chat": "GroupChatOrchestration",
    "handoffs": "HandoffOrchestration",
    "magentic": "MagenticOrchestration",
    "sequential": "SequentialOrchestration",
}
TEAMS = (f"{_BASE}agent_actor_base", *(_BASE + name for name in _CLASSES))


class Teams:
    """The orchestrations that are under way."""

    def __init__(self) -> None:
        self._runs = Runs()
        self._working: dict[str, int] = {}  # topic -> messages that are being handled
        self._over: dict[str, BaseException | None] = {}  # those that have their result, or failed

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        name = module.__name__.removeprefix(_BASE)
        if name == "agent_actor_base":
            patches.wrap(module, "ActorBase.on_message_impl", self._handled)
            patches.on_undo(f"{module.__name__}:runs", self._runs.clear)
            return
        patches.wrap(module, f"{_CLASSES[name]}._prepare", self._prepared)
        if name == "handoffs":
            patches.wrap(module, "HandoffAgentActor._handoff_to_agent", _handed_off)

    def _prepared(self, wrapped: Any, team: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Signature of the wrapped: (runtime, internal_topic_type, exception_callback, result_callback)."""
        given = dict(
            zip(
                ("runtime", "internal_topic_type", "exception_callback", "result_callback"),
                args,
                strict=False,
            )
        )
        return wrapped(**(self._begun(team, given | kwargs) or given | kwargs))

    @guarded(_TEAM)
    def _begun(self, team: Any, given: dict[str, Any]) -> dict[str, Any] | None:
        if get_session() is None:
            return None
        topic, result, failure = (
            given[name] for name in ("internal_topic_type", "result_callback", "exception_callback")
        )

        async def resulted(value: Any) -> None:
            try:
                await result(value)
            finally:
                self._over[topic] = None
                self._look(topic)

        def failed(error: BaseException) -> None:
            self._over[topic] = error
            failure(error)
            self._look(topic)

        members = [str(agent.name) for agent in team._members]
        kind = type(team).__name__
        self._runs.begin(topic, kind, kind="chain", intent="orchestration", here=False, agents=members)
        return {**given, "result_callback": resulted, "exception_callback": failed}

    async def _handled(self, wrapped: Any, actor: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Signature of the wrapped: (message, ctx)."""
        topic = self._topic_of(actor)
        if topic is None:
            return await wrapped(*args, **kwargs)
        self._working[topic] = self._working.get(topic, 0) + 1
        try:
            with self._runs.within(topic):
                return await wrapped(*args, **kwargs)
        finally:
            self._working[topic] -= 1
            self._look(topic)

    @guarded(_TEAM)
    def _topic_of(self, actor: Any) -> str | None:
        topic: str | None = getattr(actor, "_internal_topic_type", None)
        return topic if topic is not None and self._runs.knows(topic) else None

    @guarded(_TEAM)
    def _look(self, topic: str) -> None:
        """A team's step ends with the last that is done in it."""
        if not self._working.get(topic) and topic in self._over:
            self._working.pop(topic, None)
            self._runs.end(topic, self._over.pop(topic))


async def _handed_off(wrapped: Any, actor: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Signature of the wrapped: (agent_name)."""
    value = await wrapped(*args, **kwargs)
    with guard(_HANDOFF):
        guard.rehearse(_HANDOFF)
        session = get_session()
        if session is not None:
            session.handoff(str(args[0] if args else kwargs["agent_name"]), from_=str(actor._agent.name))
    return value
