"""A chain in memory that records model calls as the wire does, for tests of `Conversations`."""

from __future__ import annotations

from typing import Any

import orjson

from lctl.conversation.tree import Tree
from lctl.instrument.codecs import ModelAnswer, ModelRequest, find
from lctl.instrument.conversation import Conversations
from lctl.record.recorder import Draft, Recorder
from lctl.record.store import MemoryStore
from lctl.testing import FixedClock

CHAT = "https://api.openai.com/v1/chat/completions"
RESPONSES = "https://api.openai.com/v1/responses"
MESSAGES = "https://api.anthropic.com/v1/messages"
OLLAMA = "http://localhost:11434/api/chat"
GOOGLE = "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent"

Message = dict[str, Any]


def user(text: Any) -> Message:
    return {"role": "user", "content": text}


def assistant(text: Any, **more: Any) -> Message:
    return {"role": "assistant", "content": text, **more}


def system(text: Any) -> Message:
    return {"role": "system", "content": text}


def tool_call(id: str, name: str, arguments: str) -> Message:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


# -- of the wires whose calls have no ids: Ollama's, Google's, and functions of chat ---------------


def body(wire: str, instructions: str, messages: list[Message]) -> Message:
    if wire == GOOGLE:
        return {"contents": messages, "systemInstruction": {"parts": [{"text": instructions}]}}
    return {"model": "m", "messages": [system(instructions), *messages]}


def said(wire: str, text: str) -> Message:
    return {"role": "user", "parts": [{"text": text}]} if wire == GOOGLE else user(text)


def asks(wire: str, *cities: str) -> Message:
    """An answer that asks for the weather; a function of chat is asked for once."""
    if wire == CHAT:
        return assistant(None, function_call={"name": "weather", "arguments": f'{{"city": "{cities[0]}"}}'})
    calls = [{"name": "weather", "arguments": {"city": city}} for city in cities]
    if wire == OLLAMA:
        return assistant("", tool_calls=[{"function": call} for call in calls])
    parts = [{"functionCall": {"name": call["name"], "args": call["arguments"]}} for call in calls]
    return {"role": "model", "parts": parts}


def gives(wire: str, *outputs: str) -> list[Message]:
    if wire == CHAT:
        return [{"role": "function", "name": "weather", "content": outputs[0]}]
    if wire == OLLAMA:
        return [{"role": "tool", "tool_name": "weather", "content": output} for output in outputs]
    results = [{"name": "weather", "response": {"result": output}} for output in outputs]
    return [{"role": "user", "parts": [{"functionResponse": result} for result in results]}]


def text_of(output: Any) -> str:
    """What a derived call gave."""
    return str(output["result"] if isinstance(output, dict) else output)


class Chain:
    """Sends requests, receives answers, and shows the log as a tree."""

    def __init__(self) -> None:
        self.clock = FixedClock()
        self.store = MemoryStore()
        self.recorder = Recorder(self.store, clock=self.clock)
        self.conversations = Conversations(self.clock)

    def send(
        self, body: dict[str, Any], url: str = CHAT, *, fails: bool = False
    ) -> tuple[ModelRequest, str | None]:
        """Record that a request leaves; the request and the leaf of its prompt."""
        found = find("POST", url, {})
        assert found is not None
        codec, operation = found
        raw = orjson.dumps(body)
        request = self.conversations.read_request(codec, operation, url, raw)
        leaf: str | None = None

        def build(first: int) -> list[Draft]:
            nonlocal leaf
            plan = self.conversations.plan_request(request, first, "main", None)
            leaf = plan.leaf
            step = {"kind": request.kind, "prompt": leaf, **self.conversations.tools_fields(request)}
            if plan.reserialized:
                step["reserialized"] = plan.reserialized
            if fails:
                raise OSError("disk full")
            return [*plan.drafts, ("step_start", "main", step, None)]

        self.recorder.record_many(build)
        return request, leaf

    def receive(self, sent: tuple[ModelRequest, str | None], *answers: Message, id: str = "r") -> list[str]:
        """Record an answer of one message per choice; their ids."""
        return self.answer(sent, ModelAnswer(response_id=id, messages=list(answers)))

    def answer(self, sent: tuple[ModelRequest, str | None], answer: ModelAnswer) -> list[str]:
        ids: list[str] = []

        def build(first: int) -> list[Draft]:
            nonlocal ids
            drafts, ids = self.conversations.plan_answer(answer, sent[0], sent[1], first, "main", 1)
            return [*drafts, ("step_end", "main", {"messages": ids}, 1)]

        self.recorder.record_many(build)
        return ids

    def chat(self, messages: list[Message], *answers: Message) -> list[str]:
        return self.receive(self.send({"model": "m", "messages": messages}), *answers)

    # -- what is in the log ------------------------------------------------------------------

    def events(self, *types: str) -> list[dict[str, Any]]:
        events = [orjson.loads(line) for line in self.store.lines]
        return [event for event in events if not types or event["type"] in types]

    def messages(self) -> dict[str, dict[str, Any]]:
        return {event["data"]["message_id"]: event["data"] for event in self.events("message")}

    def path(self, id: str | None) -> list[dict[str, Any]]:
        """Payloads from the root down to `id`."""
        known = self.messages()
        path: list[dict[str, Any]] = []
        while id is not None:
            path.insert(0, known[id])
            id = known[id]["parent_id"]
        return path

    def texts(self, id: str | None) -> list[Any]:
        return [data["content"] for data in self.path(id)]

    def prompts(self) -> list[list[Any]]:
        """The prompt of every step, as the log tells it."""
        return [self.texts(event["data"]["prompt"]) for event in self.events("step_start")]

    def conversation(self) -> Tree:
        return Tree.of(self.events())

    def read(self) -> list[list[str]]:
        """The prompt of every step, as a reader of the log finds it."""
        tree = self.conversation()
        return [
            [node.text for node in tree.path(event["data"]["prompt"])] for event in self.events("step_start")
        ]

    def tree(self) -> list[Any]:
        """Nested lists: text (or role), `*` for sampled ones, then the children in log order."""
        known = self.messages()

        def below(parent: str | None) -> list[Any]:
            shown: list[Any] = []
            for id, data in known.items():
                if data["parent_id"] == parent:
                    content = data["content"]
                    name = content if isinstance(content, str) else data["role"]
                    shown.append(f"{name}*" if data.get("sampled") else name)
                    inner = below(id)
                    if inner:
                        shown.append(inner)
            return shown

        return below(None)
