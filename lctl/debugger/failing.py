"""Failures as the API says them: a status, a code, a sentence."""

from __future__ import annotations

from lctl.errors import LctlError, LogError, LogNotFound, RerunError, UsageError

STATUS = {
    "bad_request": 400,
    "unauthorized": 401,
    "forbidden": 403,
    "not_found": 404,
    "conflict": 409,
    "misdirected": 421,
    "unreadable": 422,
    "internal": 500,
}


class Refused(Exception):
    """A request that is not answered. `code` is a key of STATUS."""

    def __init__(self, code: str, message: str, position: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.position = position


def no_run(key: str) -> Refused:
    return Refused(
        "not_found", f"there is no run {key!r} here; the list of runs (and /api/runs) has those there are"
    )


def refusal(error: Exception) -> Refused:
    """What a request is told of an error."""
    if isinstance(error, Refused):
        return error
    if isinstance(error, LogNotFound):
        return Refused("not_found", str(error))
    if isinstance(error, UsageError | RerunError):
        return Refused("bad_request", str(error), getattr(error, "position", None))
    if isinstance(error, LogError):
        return Refused("unreadable", str(error))
    if isinstance(error, LctlError):
        return Refused("bad_request", str(error))
    return Refused("internal", f"a bug in lctl: {type(error).__name__}; the terminal has the details")
