"""What a test may tell the model server: its mistakes are said where they were made, not to the program
under test, which would get them for an answer."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from typing import Any, cast

import orjson

from lctl.errors import UsageError
from lctl.testing.faults import Fault
from lctl.testing.replies import Answer, Reply, ToolCall
from lctl.testing.wire.call import Tokens

#: What a reply's usage may say.
_COUNTS = tuple(field.name for field in fields(Tokens))


def answer_of(value: Any, options: Mapping[str, Any]) -> Answer:
    """The answer that `reply(value, **options)` means. Raises UsageError for what is none."""
    answer = _answer(value, options)
    if isinstance(answer, Fault):
        check_fault(answer)
    elif isinstance(answer, Reply):
        check_reply(answer)
    elif not isinstance(answer, str):
        _check_function(answer)
    return answer


def _answer(value: Any, options: Mapping[str, Any]) -> Answer:
    if options:
        if value is None or isinstance(value, str):
            return Reply(value, **options)
        if isinstance(value, Reply):
            return replace(value, **options)
        raise UsageError(f"reply({type(value).__name__}, ...): options go with a text or a Reply only")
    if isinstance(value, (str, Reply, Fault)) or callable(value):
        return cast("Answer", value)
    raise UsageError(
        f"an answer is a text, a Reply, a Fault or a function of the request, not {type(value).__name__}"
    )


def given(value: Any) -> Reply | Fault | None:
    """What a function of the request gave. Raises UsageError for what is no answer."""
    if isinstance(value, str):
        return Reply(value)
    if value is None:
        return None
    if isinstance(value, Reply):
        check_reply(value)
        return value
    if isinstance(value, Fault):
        check_fault(value)
        return value
    raise UsageError(f"the function gave {value!r:.80}, not a text, a Reply, a Fault or None")


def check_times(times: Any) -> None:
    """Raises UsageError for what is no number of times."""
    if times is not None and (not _is_count(times) or times < 1):
        raise UsageError(f"times={times!r}: how often it is used, 1 or more; None: for ever")


def check_fault(fault: Fault) -> None:
    """Raises UsageError for a status that no response has, and for a wrong number of times."""
    status = fault.status
    if status is not None and (not _is_count(status) or not 200 <= status <= 599):
        raise UsageError(f"a fault's status is a number from 200 to 599, like fault(429), not {status!r}")
    check_times(fault.times)


def _check_function(answer: Callable[..., Any]) -> None:
    """Raises UsageError for a function that the server cannot call: it does not await."""
    if inspect.iscoroutinefunction(answer):
        name = getattr(answer, "__name__", "the function")
        raise UsageError(
            f"{name} is async; a function that answers is a plain one (def {name}(request): ...)"
        )


def check_reply(reply: Reply) -> None:
    """Raises UsageError for an answer that cannot be written."""
    if reply.text is not None and not isinstance(reply.text, str):
        raise UsageError(f"an answer's text is a str, not {type(reply.text).__name__}; a value goes as json=")
    _check_calls(reply.tool_calls)
    _check_usage(reply.usage)
    if reply.json is not None:
        try:
            orjson.dumps(reply.json)
        except TypeError as error:
            raise UsageError(f"json={reply.json!r:.80}: JSON cannot hold it ({error})") from None
    for one in reply.choices:
        if isinstance(one, Reply):
            check_reply(one)
        elif not isinstance(one, str):
            raise UsageError(f"choices holds texts and Replies, not {type(one).__name__}")
    if reply.fault is not None:
        if not isinstance(reply.fault, Fault):
            raise UsageError(f"fault={reply.fault!r:.80}: a Fault, like Fault(429)")
        check_fault(reply.fault)


def listed(answers: Any) -> Iterable[Any]:
    """The answers of a script. Raises UsageError for one answer that stands in place of a list."""
    if isinstance(answers, (str, bytes, Mapping)) or not isinstance(answers, Iterable):
        raise UsageError(
            f"a script is a list of answers, not {type(answers).__name__}; one answer goes to reply()"
        )
    return answers


def _check_calls(calls: Any) -> None:
    if isinstance(calls, (str, Mapping, ToolCall)) or not isinstance(calls, Iterable):
        raise UsageError(f"tool_calls={calls!r:.80}: a list of calls, like {_CALL}")
    for call in calls:
        if isinstance(call, ToolCall):
            name, arguments = call.name, call.arguments
        elif isinstance(call, (tuple, list)) and 1 <= len(call) <= 3:
            name, arguments = call[0], call[1] if len(call) > 1 else {}
        else:
            raise UsageError(f"tool_calls: {call!r:.80} is no call; they are like {_CALL}")
        if not isinstance(name, str) or not isinstance(arguments, (str, Mapping)):
            raise UsageError(f"tool_calls: {call!r:.80} is no name with its arguments, like {_CALL}")
        if isinstance(arguments, Mapping):
            try:
                orjson.dumps(dict(arguments))
            except TypeError as error:
                raise UsageError(f"tool_calls: {name}: JSON cannot hold its arguments ({error})") from None


def _check_usage(usage: Any) -> None:
    if not isinstance(usage, Mapping) or not usage.keys() <= set(_COUNTS):
        raise UsageError(f"usage={usage!r:.80}: numbers of tokens by {', '.join(_COUNTS)}")
    for name, count in usage.items():
        if not _is_count(count) or count < 0:
            raise UsageError(f"usage: {name}={count!r:.80} is no number of tokens")


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_CALL = '[("grep", {"pattern": "x"})]'
