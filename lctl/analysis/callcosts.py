"""What each message of a log cost: the tokens and dollars of the model call that gave it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from lctl.analysis.log import Log, raw_event
from lctl.analysis.prices import Prices
from lctl.analysis.rows import is_silent
from lctl.analysis.surveying import survey
from lctl.state.model import Tokens
from lctl.values import whole_number


class Paid(NamedTuple):
    """One model call.

    Attributes:
        key: the same for all messages of one call.
        cost: US dollars; None where the price of the model, or how much it read and wrote, is not known.
    """

    key: str
    model: str | None
    tokens: Tokens
    cost: float | None

    @property
    def is_told(self) -> bool:
        """What was used is known, be it nothing."""
        return bool(self.tokens.total) or self.cost is not None


class CallCosts(NamedTuple):
    """The calls of a log.

    Attributes:
        by_message: message id -> the call it came from; a call with several answers is at each.
        unanswered: calls that ended and gave no message (they failed, or are not of a kind that gives one).
    """

    by_message: dict[str, Paid]
    unanswered: list[Paid]

    @property
    def calls(self) -> list[Paid]:
        """Each call once."""
        return [*{paid.key: paid for paid in self.by_message.values()}.values(), *self.unanswered]


def call_costs(log: Log) -> CallCosts:
    """Read a log once for its calls."""
    prices = Prices()
    answers = _answers(log)
    found: dict[str, Paid] = {}
    unanswered: list[Paid] = []
    for span in survey(log, prices).model_calls:
        ids = answers.get(span.seq, ())
        if span.open and not ids:
            continue
        cost = span.cost if ids or span.tokens is not None or is_silent(span) else 0.0
        paid = Paid(f"step {span.seq}", span.model, span.tokens or Tokens(), cost)
        for id in ids:
            found[id] = paid
        if not ids:
            unanswered.append(paid)
    for id, paid in _beside(log, prices):
        found.setdefault(id, paid)
    return CallCosts(found, unanswered)


def _answers(log: Log) -> dict[int, list[str]]:
    """Step of a call -> ids of the messages it gave."""
    found: dict[int, list[str]] = {}
    for line in log.lines():
        if b'"step_end"' not in line[:64]:
            continue
        event = raw_event(line)
        step = event.get("step") if event is not None else None
        if event is not None and step is not None:
            data = event["data"]
            several = data.get("messages")
            ids = several if isinstance(several, list) else [data.get("message")]
            found.setdefault(step, []).extend(id for id in ids if isinstance(id, str))
    return found


def _beside(log: Log, prices: Prices) -> list[tuple[str, Paid]]:
    """Calls that are told by their messages (`call`), where they have no steps."""
    found = []
    for line in log.lines():
        if b'"call":{' not in line:
            continue
        event = raw_event(line)
        call = event["data"].get("call") if event is not None and event["type"] == "message" else None
        if event is None or not isinstance(call, dict):
            continue
        id = event["data"].get("message_id") or f"#{event['seq']}"
        model = call.get("model") if isinstance(call.get("model"), str) else None
        tokens = _tokens(call.get("usage"))
        cost = prices.cost(model, tokens, at=event["timestamp"]) if tokens.total else None
        found.append((str(id), Paid(f"message {id}", model, tokens, cost)))
    return found


def _tokens(usage: object) -> Tokens:
    """Counts as the protocol has them, or as OpenAI and Anthropic name them."""
    if not isinstance(usage, Mapping):
        return Tokens()
    return Tokens(
        input=_first(usage, "input", "input_tokens", "prompt_tokens"),
        output=_first(usage, "output", "output_tokens", "completion_tokens"),
    )


def _first(usage: Mapping[str, Any], *names: str) -> int:
    return next((found for name in names if (found := whole_number(usage.get(name))) is not None), 0)
