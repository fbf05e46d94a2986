"""The data of a model call's events: what its start, its end and its failures say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lctl.instrument.attempts import Attempt
from lctl.instrument.codecs.bodies import is_filtered, loads_or_none, read_error, reports_error
from lctl.instrument.received import CANCELLATIONS, text_of
from lctl.trust import taxonomy

if TYPE_CHECKING:
    from lctl.instrument.codecs.model import ModelAnswer, ModelRequest

#: What the sampled message of a call with that outcome is; of any other: complete or aborted.
STATUSES = {"error": "error", "aborted": "aborted", "cancelled": "aborted"}


def is_cancellation(error: BaseException) -> bool:
    """Whether `error` is the host stopping the call (a cancelled task, Ctrl-C, exit), not a failure."""
    return type(error).__name__ in CANCELLATIONS


def outcome_of(attempt: Attempt | None, answer: ModelAnswer | None, error: BaseException | None) -> str:
    """How a call ended whose last attempt was this, and whose SDK raised `error`."""
    seen = attempt.error if attempt is not None else None
    for raised in (seen, error):
        if raised is not None and is_cancellation(raised):
            return "cancelled"
    if attempt is None:
        return "success" if error is None else "error"
    if isinstance(seen, GeneratorExit):
        return "aborted"
    if seen is not None or (attempt.status or 0) >= 400 or (answer is not None and answer.error):
        return "error"
    if attempt.closed_early and not (answer is not None and answer.complete):
        return "aborted" if error is None else "error"
    return "success"


def start_data(request: ModelRequest, leaf: str | None, tools: dict[str, Any] | None) -> dict[str, Any]:
    """Of the `step_start`."""
    data: dict[str, Any] = {
        "kind": request.kind,
        "intent": request.operation,
        "model": request.model,
        "provider": request.provider,
        "operation": request.operation,
    }
    if leaf is not None:
        data["prompt"] = leaf
    if tools:
        data.update(tools)
    if request.params:
        data["params"] = request.params
    if request.stream:
        data["stream"] = True
    if request.input is not None:
        data["input"] = request.input
    return data


def add_answer(end: dict[str, Any], answer: ModelAnswer, ids: list[str]) -> None:
    """Put into the `step_end` what the answer, sampled as messages `ids`, says."""
    if ids:
        end["message"] = ids[0]
        if len(ids) > 1:
            end["messages"] = ids
    if answer.model is not None:
        end["model"] = answer.model
    if answer.response_id is not None:
        end["response_id"] = answer.response_id
    if answer.finish_reason is not None:
        end["finish_reason"] = answer.finish_reason
    if len(set(answer.finish_reasons)) > 1 and len(answer.finish_reasons) == len(ids):
        end["finish_reasons"] = answer.finish_reasons
    if answer.tokens is not None:
        end["tokens"] = answer.tokens
    if answer.embedding is not None:
        end["embedding"] = answer.embedding


def no_answer(attempt: Attempt) -> dict[str, Any] | None:
    """The error of a 200 or 204 whose body, read to its end, says nothing that belongs to an answer: a page
    of a proxy, another service's JSON, bytes that nobody here can decode. And that of a redirect which the
    client has not followed."""
    status = attempt.status or 0
    if 300 <= status < 400:
        there = attempt.headers.get("location")
        return read_error(status, f"HTTP status {status}" + (f", sent on to {there}" if there else ""))
    if status not in (200, 204) or attempt.closed_early or attempt.left:
        return None
    body = b"".join(attempt.body)
    said = loads_or_none(body)
    if isinstance(said, dict) and reports_error(said):
        return None if is_filtered(said) else read_error(200, said)
    encoding = attempt.headers.get("content-encoding")  # gone, where it could be undone
    kind = f"encoded as {encoding}" if encoding else attempt.headers.get("content-type", "of no type")
    return read_error(200, f"the body is no answer of a model: {len(body)} bytes, {kind}")


def attempt_error(attempt: Attempt, answer: ModelAnswer | None) -> dict[str, Any] | None:
    """Of the `error` event of an attempt that failed; None of one that did not (or was cancelled)."""
    raised = attempt.error
    said = answer.error if answer is not None else None
    if raised is not None and (is_cancellation(raised) or isinstance(raised, GeneratorExit)):
        return None
    if (attempt.status or 0) >= 400 or (said and raised is None):
        kind = taxonomy.of_status(attempt.status or 0, said)
        message = str((said or {}).get("message") or f"HTTP status {attempt.status}")[:2000]
    elif raised is not None:
        kind, message = taxonomy.of_exception(raised), text_of(raised)
    else:
        return None
    facts: dict[str, Any] = {"attempt": attempt.number}
    if attempt.status is not None:
        facts["status"] = attempt.status
    if raised is not None:
        facts["exception"] = taxonomy.name_of(raised)
    elif said:
        facts.update({key: said[key] for key in ("type", "code") if said.get(key) is not None})
    return _error_data(kind, message, facts)


def status_error(said: dict[str, Any]) -> dict[str, Any]:
    """Of what a provider reports that was no attempt of HTTP."""
    kind = taxonomy.of_status(said.get("status") or 0, said)
    facts = {key: said[key] for key in ("type", "code") if said.get(key) is not None}
    return _error_data(kind, str(said.get("message") or "an error")[:2000], facts)


def sdk_error(attempt: Attempt | None, error: BaseException | None) -> dict[str, Any] | None:
    """Of the `error` event of an SDK that raised at a good answer. The call stands as answered."""
    if error is None or attempt is None or is_cancellation(error):
        return None
    facts = {"attempt": attempt.number, "status": attempt.status, "exception": taxonomy.name_of(error)}
    # SDKs call that a connection which redirects for ever, and a body that they could not read.
    is_answer = 200 <= (attempt.status or 0) < 300 and "ConnectionError" not in type(error).__name__
    kind = taxonomy.of_sdk(error) if is_answer else taxonomy.of_exception(error)
    return _error_data(kind, text_of(error), facts)


def _error_data(kind: taxonomy.Kind, message: str, facts: dict[str, Any]) -> dict[str, Any]:
    return {
        "category": kind.category,
        "type": kind.type,
        "message": message,
        "recoverable": kind.recoverable,
        "suggested_action": kind.suggested_action,
        "context": facts,
    }
