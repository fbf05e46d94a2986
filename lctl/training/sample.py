"""`Sample`: one row of training data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Sample:
    """The messages of one path, and which of them to train.

    Attributes:
        id: of the row: the last message's id, after the chain's where one was given.
        messages: what the model read and wrote, each as its provider wrote it.
        weights: of each message: 1 where this row trains it.
        message_ids: of each message.
        calls: the model calls behind sampled messages of the row: {message_index, message_id, seq, model,
            params, usage, finish_reason}, `continues` where it is the rest of the message before it, `value`
            where a fact rates that message, and `reserialized` where its prompt spelled arguments of these
            tool calls otherwise.
        break_reason: why the row could not go on from an earlier one; None where it begins a conversation.
        tools: tool definitions of the row's calls, None without.
        model: that answered the row's trained calls.
        trajectory_id: the same for all rows of one conversation and of the sub-agents inside it.
        n_samples: rows of that trajectory.
        reward: newest number a fact gives to the row's last message, its session, its conversation or
            the chain, the nearest first. It is the trajectory's: not divided by `n_samples`.
        prompt: what a completion went on from, a text or token ids; None of a chat.
        token_ids: what the model read and wrote, where the log has it.
        token_mask: of each token: 1 where this row trains it.
        logprobs: of each token as it was sampled; 0.0 where the mask is 0.
        skipped: message id -> why a sampled message of this row is not trained, in any row.
        input_tokens: that the last call read; None where nobody counted.
        trained_tokens: of the trained messages; None where nobody counted one of them.
        seq: of the last message.
    """

    id: str
    messages: list[dict[str, Any]]
    weights: list[int]
    message_ids: list[str]
    calls: list[dict[str, Any]]
    break_reason: str | None
    tools: list[Any] | None
    model: str | None
    trajectory_id: str
    n_samples: int = 1
    reward: float | None = None
    prompt: Any = None
    token_ids: list[int] | None = None
    token_mask: list[int] | None = None
    logprobs: list[float] | None = None
    skipped: dict[str, str] = field(default_factory=dict)
    input_tokens: int | None = None
    trained_tokens: int | None = None
    seq: int = 0

    @property
    def trained(self) -> int:
        """How many messages this row trains."""
        return sum(self.weights)

    def __repr__(self) -> str:
        why = f", {self.break_reason}" if self.break_reason else ""
        return f"<Sample {self.id}: messages {len(self.messages)}, trained {self.trained}{why}>"
