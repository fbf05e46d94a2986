"""What the real servers refuse: a test that passes here should not fail there for its request's shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lctl.testing.request import Request, Turn


def problem(request: Request) -> str | None:
    """Why the provider would answer this request with a 400; None if it would take it."""
    check = _CHECKS.get(request.operation)
    if check is None:
        return None
    if not request.body:
        return "We could not parse the JSON body of your request."
    if not request.model:
        return "you must provide a model parameter"
    return check(request)


def _chat(request: Request) -> str | None:
    if not request.messages:
        return "'messages' must be a non-empty array of messages."
    return _unanswered(request.turns)


def _responses(request: Request) -> str | None:
    if request.body.get("input") is None and request.body.get("prompt") is None:
        return "Missing required parameter: 'input'."
    return _unanswered(request.turns, apart=True)


def _messages(request: Request) -> str | None:
    if request.operation == "messages" and not isinstance(request.body.get("max_tokens"), int):
        return "max_tokens: Field required"
    if not request.messages and not request.earlier:
        return "messages: at least one message is required"
    for message in request.messages:
        if message.get("role") not in ("user", "assistant", "system"):
            return f"messages: unexpected role {message.get('role')!r}; use the top-level `system` parameter"
    return _unanswered(request.turns)


def _embeddings(request: Request) -> str | None:
    return None if request.body.get("input") else "'input' is a required property"


def _unanswered(turns: Sequence[Turn], *, apart: bool = False) -> str | None:
    """Every tool call is answered, and only calls are; before the next message of another kind, unless they
    may stand `apart` (in the Responses API each is an item, as is what the model said beside its calls)."""
    open_calls: dict[str, str] = {}
    for turn in turns:
        for call_id, _ in turn.results:
            if call_id not in open_calls:
                return f"No tool call found for tool result with id {call_id!r}."
            del open_calls[call_id]
        if not apart and open_calls and turn.role and not turn.results and not turn.calls:
            return f"Tool calls must be followed by their results; missing: {_names(open_calls)}"
        open_calls |= {call_id: name for call_id, name, _ in turn.calls}
    return f"No tool output found for: {_names(open_calls)}" if open_calls else None


def _names(calls: dict[str, str]) -> str:
    return ", ".join(f"{call_id} ({name})" for call_id, name in calls.items())


_CHECKS: dict[str, Callable[[Request], str | None]] = {
    "chat.completions": _chat,
    "responses": _responses,
    "messages": _messages,
    "messages.count_tokens": _messages,
    "embeddings": _embeddings,
}
