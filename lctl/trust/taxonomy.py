"""What a failure is called: by the tables of `kinds`, from statuses, words and exceptions to the taxonomy.

Categories and types are the protocol's (spec part 6) and a few finer ones; `suggested_action` is what a
program, or the person reading the log, should do next. A program adds rules of its own, which come first:

    add_rule(Kind("execution_error", "rate_limited", True, "retry_with_backoff"), exception="QuotaError")
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from lctl.trust.kinds import (
    BY_EXCEPTION,
    BY_STATUS,
    BY_WORDS,
    GENERATION,
    INVALID,
    OF_PROGRAMS,
    OUTPUT,
    SERVER,
    TAXONOMY,
    UNKNOWN,
    UNSAFE,
    WIRE_LIBRARIES,
    Kind,
)


def of_status(status: int, error: dict[str, Any] | None) -> Kind:
    """What an HTTP error status with the provider's `error` ({type, code, message}) is."""
    words = f"{error.get('code')} {error.get('type')} {error.get('message')}".lower() if error else ""
    ruled = _ruled([], status, words) if _rules else None
    if ruled is not None:
        return ruled
    if error:
        for word, kind in BY_WORDS:
            if word in words:
                return kind
    if status < 400 and error:  # inside a good answer (an `error` event of a stream)
        status = _status_inside(error.get("code")) or status
    known = BY_STATUS.get(status)
    if known is not None:
        return known
    if status >= 500:
        return SERVER
    return INVALID if status >= 400 else GENERATION


def _status_inside(code: Any) -> int | None:
    """The status that a gateway got from the provider behind it (OpenRouter's `code`)."""
    return code if isinstance(code, int) and 400 <= code < 600 else None


def of_exception(error: BaseException) -> Kind:
    """What an attempt that raised `error`, and so has no whole response, is."""
    ruled = _ruled([cls.__name__ for cls in type(error).__mro__], None, error) if _rules else None
    if ruled is not None:
        return ruled
    for cls in type(error).__mro__:
        for word, kind in BY_EXCEPTION:
            if word in cls.__name__:
                return kind
    return UNKNOWN


def of_sdk(error: BaseException) -> Kind:
    """What it is when the SDK raises at a good answer (`parse()` at finish_reason length)."""
    if "ContentFilter" in type(error).__name__:
        return UNSAFE
    if "LengthFinishReason" in type(error).__name__:
        return Kind("output_error", "generation_failed", True, "raise_max_tokens")
    return OUTPUT


def name_of(error: BaseException) -> str:
    """`module.Class`, with private submodules of a public package left out: `httpx.ReadTimeout`."""
    cls = type(error)
    module = cls.__module__
    if module == "builtins":
        return cls.__qualname__
    public = module.split("._", 1)[0]
    return f"{public}.{cls.__qualname__}"


class Rule(NamedTuple):
    """A program's own: every condition that is given has to hold."""

    kind: Kind
    exception: str | None = None
    status: int | None = None
    words: re.Pattern[str] | None = None

    def fits(self, names: list[str], status: int | None, text: str) -> bool:
        return (
            (self.exception is None or self.exception in names)
            and (self.status is None or self.status == status)
            and (self.words is None or self.words.search(text) is not None)
        )


_rules: list[Rule] = []


def add_rule(
    kind: Kind | tuple[str, str, bool, str],
    *,
    exception: type[BaseException] | str | None = None,
    status: int | None = None,
    words: str | None = None,
) -> Rule:
    """What fits is `kind`, before everything in the tables; the newest rule first.

    Args:
        exception: a class, or the name of one, that the failure is or comes from.
        status: HTTP status of the failed attempt.
        words: a regular expression found in the failure's text (case does not matter).

    Raises:
        UsageError: no condition is given, or one that nothing can fulfil.
    """
    from lctl.errors import UsageError

    if exception is None and status is None and words is None:
        raise UsageError("a rule of the taxonomy needs an exception, a status or words")
    if not (exception is None or isinstance(exception, str | type)):
        raise UsageError(f"exception={exception!r:.80}: it is one class, or the name of one; a rule for each")
    if not (status is None or isinstance(status, int)):
        raise UsageError(f"status={status!r:.80}: it is a number, such as 429")
    try:
        pattern = None if words is None else re.compile(words, re.IGNORECASE)
    except re.error as error:
        raise UsageError(f"words={words!r}: no regular expression ({error})") from None
    name = exception.__name__ if isinstance(exception, type) else exception
    rule = Rule(Kind(*kind), name, status, pattern)
    _rules.insert(0, rule)
    return rule


def remove_rule(rule: Rule) -> None:
    """Take a rule away again."""
    if rule in _rules:
        _rules.remove(rule)


def of_error(error: BaseException) -> Kind | None:
    """What an exception that left a program's step or tool is; None where nothing tells.

    An SDK's own error is what its status and the provider's words say it is; a group (of `TaskGroup`) is
    what all in it are.
    """
    if isinstance(error, BaseExceptionGroup):
        return _of_group(error)
    names = [cls.__name__ for cls in type(error).__mro__]
    status = _status_of(error)
    kind = _ruled(names, status, error)
    if kind is not None:
        return kind
    if status is not None and status >= 400:
        return of_status(status, {"message": _text_of(error), **_said(error)})
    found = next((OF_PROGRAMS[name] for name in names if name in OF_PROGRAMS), None)
    if found is not None or not _of_a_library(error):
        return found
    said = _said(error)
    if said:  # an error in the middle of a stream: its response began well
        return of_status(status or 200, {"message": _text_of(error), **said})
    wire = of_exception(error)
    return None if wire is UNKNOWN else wire


def _of_group(group: BaseExceptionGroup[BaseException]) -> Kind | None:
    ruled = _ruled([cls.__name__ for cls in type(group).__mro__], None, group)
    if ruled is not None:
        return ruled
    found = {of_error(one) for one in group.exceptions}
    return found.pop() if len(found) == 1 else None


def _ruled(names: list[str], status: int | None, error: object) -> Kind | None:
    text = _text_of(error) if _rules else ""
    return next((rule.kind for rule in _rules if rule.fits(names, status, text)), None)


def _status_of(error: BaseException) -> int | None:
    """The HTTP status of an SDK's or HTTP library's error."""
    response = _attribute(error, "response")
    told = [
        *(_attribute(error, name) for name in ("status_code", "status")),
        _attribute(error, "code") if "google" in _roots(error) else None,  # another's code may be anything
        *(_attribute(response, name) for name in ("status_code", "status")),
    ]
    if isinstance(response, dict):  # botocore's
        about = response.get("ResponseMetadata")
        told.append(about.get("HTTPStatusCode") if isinstance(about, dict) else None)
    for status in told:
        if isinstance(status, int) and not isinstance(status, bool) and 100 <= status < 600:
            return status
    return None


def _said(error: BaseException) -> dict[str, Any]:
    """The provider's own `error` object, where the SDK keeps it."""
    body = _attribute(error, "body")
    inner = body.get("error", body) if isinstance(body, dict) else None
    return inner if isinstance(inner, dict) else {}


def _attribute(holder: object, name: str) -> Any:
    """An attribute of somebody's exception, which may be a property that raises."""
    try:
        return getattr(holder, name, None)
    except Exception:
        return None


def _of_a_library(error: BaseException) -> bool:
    """The exception, or one it comes from, is an operating system's or a library's for talking to others."""
    return bool(_roots(error) & WIRE_LIBRARIES) or isinstance(error, ConnectionError)


def _roots(error: BaseException) -> set[str]:
    """The packages that its classes are of."""
    return {cls.__module__.partition(".")[0] for cls in type(error).__mro__}


def _text_of(error: object) -> str:
    try:
        return str(error)
    except Exception:  # a program's own __str__
        return ""


__all__ = [
    "TAXONOMY",
    "Kind",
    "Rule",
    "add_rule",
    "name_of",
    "of_error",
    "of_exception",
    "of_sdk",
    "of_status",
    "remove_rule",
]
