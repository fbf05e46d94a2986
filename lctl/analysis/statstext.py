"""The statistics of a chain in words."""

from __future__ import annotations

from collections.abc import Sequence

from lctl.analysis.stats import Stats
from lctl.analysis.survey import NAMELESS
from lctl.analysis.wording import count, dollars, plain, plural, seconds


def lines(value: Stats) -> list[str]:
    """The summary as the protocol's own example prints it."""
    used = value.tokens
    tokens = f"{count(used.total)} (in: {count(used.input)} / out: {count(used.output)})"
    if not value.tokens_known:
        tokens = f"unknown ({_silence(value.silent_calls)})"
    unpriced = _listed([model for model, _ in value.unpriced])
    left_out = " and ".join(filter(None, (unpriced, _silence(value.silent_calls))))
    if value.cost is None:
        cost = f"unknown (no price for {left_out})"
    else:
        cost = dollars(value.cost) + (f" (without {left_out})" if value.cost_is_partial else "")
    confidence = "-" if value.confidence is None else f"{value.confidence:.2f}"
    apart = f" (without {seconds(value.apart_ms)} since its recording)" if value.apart_ms else ""
    return [
        f"Chain: {plain(value.chain_id)}",
        f"Duration: {seconds(value.duration_ms)}{apart}",
        f"Tokens: {tokens}",
        f"Cost: {cost}",
        *_inherited(value),
        f"Agents: {len(value.agents)}",
        *([f"Commands: {count(value.commands)} ({seconds(value.commands_ms)})"] if value.commands else []),
        f"Errors: {value.errors}{_failures(value)}",
        f"Avg confidence: {confidence}",
    ]


def _failures(value: Stats) -> str:
    """What errors alone do not tell: tools and steps that failed without one, and errors told twice."""
    return "" if value.failures == value.errors else f" ({plural(value.failures, 'failure')}: lctl errors)"


def _silence(calls: int) -> str:
    if calls == 1:
        return "a call that does not say what it used"
    return f"{count(calls)} calls that do not say what they used" if calls else ""


def _inherited(value: Stats) -> list[str]:
    """What came from the tape of another run, and was paid for there."""
    if not value.inherited_calls:
        return []
    paid = "" if value.inherited_cost is None else f", {dollars(value.inherited_cost)}"
    tokens = count(value.inherited_tokens.total)
    return [
        f"From the tape: {count(value.inherited_calls)} model calls, {tokens} tokens{paid} (not in the sums)"
    ]


def _listed(models: Sequence[str]) -> str:
    """Names of models in a sentence; of calls that name none, that."""
    return ", ".join("calls that name no model" if model == NAMELESS else plain(model) for model in models)
