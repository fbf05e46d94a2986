"""A model call reported by hand, as the events every model call has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from lctl.record.recorder import Draft
from lctl.session import jsonable
from lctl.session.messagegraph.registry import Graphs

if TYPE_CHECKING:
    from lctl.session.messagegraph.lineage import Lineage
    from lctl.session.messagegraph.planning import Plan

_TOKENS = {
    "input": ("input", "input_tokens", "prompt_tokens", "prompt_token_count"),
    "output": ("output", "output_tokens", "completion_tokens", "candidates_token_count"),
    "total": ("total", "total_tokens"),
}
_PARTS = (
    "cache_read", "cache_write", "reasoning", "cache_write_1h", "input_audio", "cache_read_audio",
    "output_audio", "output_image", "web_searches",
)  # fmt: skip


class Prompts:
    """The messages already stored, so that a growing history is stored once.

    A message is known by what it says and by the message before it.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str | None, bytes], str] = {}
        self.graphs = Graphs()
        self._plan: Plan | None = None  # of the message graph that the newest prompt is
        self._lineage: Lineage | None = None
        self._model: str | None = None

    def drafts(
        self, messages: Any, first: int, agent: str, step: int | None, model: str | None = None
    ) -> tuple[list[Draft], str | None]:
        """`message` drafts for what is new, numbered from `first`; the id of the prompt's last message."""
        drafts: list[Draft] = []
        leaf: str | None = None
        self._plan = self._lineage = None
        if hasattr(messages, "plan_call") and messages.bind() is not None and messages.graphs is self.graphs:
            plan: Plan = messages.plan_call(first, (agent, step))
            self._plan, self._lineage = plan, messages.lineage
            self._model = model
            messages.called(model, None)
            return plan.drafts, messages.route.tip
        for message in _listed(messages):
            known = self._known.get(key := (leaf, _content(message)))
            if known is None:
                known = self._known[key] = f"m{first + len(drafts)}"
                drafts.append(("message", agent, {"message_id": known, "parent_id": leaf, **message}, step))
            leaf = known
        return drafts, leaf

    def sampled(self, message: dict[str, Any], leaf: str | None, seq: int) -> dict[str, Any]:
        """The answer as a node under `leaf`; a later prompt that repeats it is that node."""
        name = f"m{seq}"
        if self._plan is not None and self._lineage is not None:
            self._plan.undo.append(self._lineage.learn(leaf, name, message, self._model, None))
            message = {**self._lineage.fields, **message}
        else:
            self._known[leaf, _content(message)] = name
        return {"message_id": name, "parent_id": leaf, **message, "sampled": True, "status": "complete"}

    def take_back(self) -> None:
        """What was drafted last has not been stored."""
        plan, self._plan = self._plan, None
        for undo in reversed(plan.undo if plan is not None else ()):
            undo()


def response_message(response: Any) -> dict[str, Any] | None:
    """The assistant message in an answer of any shape; None for no answer."""
    if response is None:
        return None
    if isinstance(response, str):
        return {"role": "assistant", "content": jsonable.text(response)}
    made = jsonable.plain(response)
    if not isinstance(made, dict):
        return {"role": "assistant", "content": made}
    choices = made.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        message = choices[0].get("message")
        made = message if isinstance(message, dict) else {"content": choices[0].get("text")}
    keep = ("role", "content", "tool_calls", "refusal", "reasoning_content")
    if "content" not in made and "output" in made:  # OpenAI responses
        made = {"content": made["output"]}
    return {"role": "assistant"} | {name: made[name] for name in keep if made.get(name) is not None}


def tokens_of(usage: Any, response: Any = None) -> dict[str, int] | None:
    """Token counts under the protocol's names; None when there are none."""
    if usage is None:
        usage = response.get("usage") if isinstance(response, dict) else getattr(response, "usage", None)
    made = jsonable.plain(usage)
    if not isinstance(made, dict):
        return None
    counts = {
        name: made[key]
        for name, keys in _TOKENS.items()
        for key in keys
        if isinstance(made.get(key), int) and not isinstance(made[key], bool)
    }
    for name in _PARTS:
        if isinstance(made.get(name), int):
            counts[name] = made[name]
    return counts or None


def _listed(messages: Any) -> list[dict[str, Any]]:
    if messages is None:
        return []
    if isinstance(messages, str):
        return [{"role": "user", "content": jsonable.text(messages)}]
    items = messages if isinstance(messages, list | tuple) else [messages]
    made = (jsonable.plain(item) for item in items)
    return [item if isinstance(item, dict) else {"role": "user", "content": item} for item in made]


def _content(message: dict[str, Any]) -> bytes:
    return orjson.dumps(message, option=orjson.OPT_SORT_KEYS)
