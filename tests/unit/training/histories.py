"""Random histories of agents that edit, fork, regenerate, switch and nest, with what each call was asked."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from tests.unit.training.fixtures import Talk

Held = tuple[str, dict[str, Any]]


@dataclass
class Asked:
    """One call as it was made: the ids and messages of its prompt, and its model and tools."""

    id: str
    path: tuple[str, ...]
    prompt: list[dict[str, Any]]
    key: tuple[str, str | None]


@dataclass
class Agent:
    """One context as its program sees it: a list of (id, message)."""

    conversation: str
    held: list[Held] = field(default_factory=list)
    model: str = "m"
    tools: str | None = None
    host: str | None = None

    @property
    def tip(self) -> str | None:
        return self.held[-1][0] if self.held else None


class History:
    """Takes random steps, writes the events of each, and remembers every call."""

    def __init__(self, r: random.Random, steps: int) -> None:
        self.r = r
        self.talk = Talk()
        self.asked: list[Asked] = []
        self.count = 0
        self.agents = [self._agent() for _ in range(r.randint(1, 3))]
        moves = [self.tell] * 6 + [self.call] * 8 + [self.edit] * 2 + [self.insert, self.delete, self.rewind]
        moves += [self.regenerate, self.choices, self.switch, self.nest, self.compact]
        for _ in range(steps):
            r.choice(moves)(r.choice(self.agents))

    def _agent(self, host: str | None = None) -> Agent:
        agent = Agent(f"c{self.count}", host=host)
        self.count += 1
        return agent

    def _id(self) -> str:
        self.count += 1
        return f"n{self.count}"

    def _words(self) -> str:
        return self.r.choice(["go on", "stop", "x", self._id()])

    def _write(self, id: str, parent: str | None, agent: Agent, message: dict[str, Any], **data: Any) -> None:
        if parent is None and agent.host is not None:
            data["nested_in"] = {"message_id": agent.host, "tool_call_id": "c1"}
        place: dict[str, Any] = {"message_id": id, "parent_id": parent, "conversation_id": agent.conversation}
        self.talk.add("message", **place, **message, **data)

    # -- moves -------------------------------------------------------------------------------

    def tell(self, agent: Agent) -> None:
        """A message that is nobody's answer; sometimes one of the assistant's that a person wrote."""
        role = self.r.choice(["user", "user", "user", "assistant", "system"])
        message = {"role": role, "content": self._words()}
        id = self._id()
        self._write(id, agent.tip, agent, message)
        agent.held.append((id, message))

    def call(self, agent: Agent) -> None:
        if not agent.held:
            self.tell(agent)
        id, message = self._answer(agent, agent.held)
        agent.held.append((id, message))

    def choices(self, agent: Agent) -> None:
        """n > 1, or a regenerated answer; the program goes on with one of them."""
        if not agent.held:
            self.tell(agent)
        answers = [self._answer(agent, agent.held) for _ in range(self.r.randint(2, 3))]
        agent.held.append(self.r.choice(answers))

    def regenerate(self, agent: Agent) -> None:
        place = next((n for n, (id, _) in enumerate(agent.held) if self._is_call(id) and n), None)
        if place is not None:
            old = agent.held[place][0]
            del agent.held[place:]
            agent.held.append(self._answer(agent, agent.held, fork_of=old))

    def edit(self, agent: Agent) -> None:
        """Item i becomes another; what follows is carried."""
        if agent.held:
            place = self.r.randrange(len(agent.held))
            role = agent.held[place][1]["role"]
            message = {"role": role, "content": self._words()}
            self._replace(agent, place, place + 1, message, fork_of=agent.held[place][0])

    def compact(self, agent: Agent) -> None:
        if len(agent.held) > 3:
            place = self.r.randrange(len(agent.held) - 2)
            stop = self.r.randint(place + 2, len(agent.held))
            message = {"role": "user", "content": "in short"}
            self._replace(agent, place, stop, message, fork_of=agent.held[place][0])

    def insert(self, agent: Agent) -> None:
        if agent.held:
            place = self.r.randrange(len(agent.held))
            self._replace(agent, place, place, {"role": "user", "content": self._words()})

    def delete(self, agent: Agent) -> None:
        if len(agent.held) < 2:
            return
        place = self.r.randrange(len(agent.held) - 1)
        kept_id, kept = agent.held[place + 1]
        self._replace(agent, place, place + 2, kept, copy_of=kept_id)

    def rewind(self, agent: Agent) -> None:
        """The last messages are forgotten: no event; another context may go on from there, too."""
        if agent.held:
            before = list(agent.held)
            del agent.held[self.r.randrange(len(agent.held)) :]
            if self.r.random() < 0.5 and len(self.agents) < 6:
                self.agents.append(Agent(agent.conversation, before, agent.model, agent.tools, agent.host))

    def switch(self, agent: Agent) -> None:
        if self.r.random() < 0.5:
            agent.model = self.r.choice(["m", "n"])
        else:
            agent.tools = self.r.choice([None, "sha256:1", "sha256:2"])

    def nest(self, agent: Agent) -> None:
        calls = [id for id, _ in agent.held if self._is_call(id)]
        if calls and len(self.agents) < 6:
            self.agents.append(self._agent(self.r.choice(calls)))

    # -- inside ------------------------------------------------------------------------------

    def _is_call(self, id: str) -> bool:
        return any(asked.id == id for asked in self.asked)

    def _answer(
        self, agent: Agent, held: list[tuple[str, dict[str, Any]]], **data: Any
    ) -> tuple[str, dict[str, Any]]:
        id = self._id()
        message = {"role": "assistant", "content": self.r.choice(["ok", id])}
        prompt = [dict(one) for _, one in held]
        self.asked.append(Asked(id, tuple(i for i, _ in held), prompt, (agent.model, agent.tools)))
        call = {"model": agent.model, "finish_reason": "stop"}
        if agent.tools is not None:
            call["tools"] = agent.tools
        self._write(id, held[-1][0], agent, message, sampled=True, call=call, **data)
        return id, message

    def _replace(self, agent: Agent, place: int, stop: int, message: dict[str, Any], **data: Any) -> None:
        """Items from `place` to `stop` become one; what follows them is carried below it."""
        id = self._id()
        tail = agent.held[stop:]
        if tail:
            data["carry"] = [tail[0][0], tail[-1][0]]
        said = {"role": message["role"]} if "copy_of" in data else message
        self._write(id, agent.held[place - 1][0] if place else None, agent, said, **data)
        copies = [(f"{id}+{n}", one) for n, (_, one) in enumerate(tail, 1)]
        agent.held[place:] = [(id, message), *copies]


def absorbed(asked: list[Asked]) -> set[str]:
    """Calls whose prompt and completion begin the prompt of a later call of the same model and tools."""
    return {
        one.id
        for one in asked
        if any(
            other.key == one.key and other.path[: len(one.path) + 1] == (*one.path, one.id) for other in asked
        )
    }
