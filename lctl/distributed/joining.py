"""A session that goes on with what another process began."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar

from lctl.distributed.carriers import Origin, extract, inject
from lctl.kinship import link_in, names
from lctl.session.default import get_session
from lctl.session.session import LCTLSession

P = ParamSpec("P")
R = TypeVar("R")


@contextmanager
def continued(carrier: Any, chain_id: str | None = None, **options: Any) -> Iterator[LCTLSession]:
    """A session of its own, linked to the event of the one that the carrier names.

    Args:
        carrier: HTTP headers, MCP `_meta`, a message's attributes; one that names no session, or None,
            gives a session without a parent.
        options: of `LCTLSession`.
    """
    with joined(extract(carrier), chain_id, **options) as session:
        yield session


def joined(origin: Origin, chain_id: str | None = None, **options: Any) -> LCTLSession:
    """The session, not entered."""
    header: dict[str, Any] = {}
    if origin.link is not None:
        header["parent"] = origin.link
    if origin.trace_id:
        header["trace"] = {"id": origin.trace_id, "span": origin.span_id}
    return LCTLSession(chain_id, header=header, **options)


class _Carried(Generic[P, R]):
    """A function with where it was sent from; pickles where the function does."""

    def __init__(self, function: Callable[P, R], carrier: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self._function = function
        self._carrier = carrier

    def __reduce__(self) -> Any:
        return (_Carried, (self._function, self._carrier))

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        running = get_session()
        origin = extract(self._carrier)
        # In the process it was sent from, and in a child process that knows its parent, there is a session.
        if not origin.chain_id or (running is not None and _knows(running, origin)):
            return self._function(*args, **kwargs)
        with joined(origin):
            return self._function(*args, **kwargs)


def _knows(session: LCTLSession, origin: Origin) -> bool:
    sent = link_in(origin.link)
    above = link_in(session.parent)
    if names(sent, session.store.chain, session.chain_id):
        return True
    return sent is not None and above is not None and sent.agrees(above)


def carried(function: Callable[P, R]) -> Callable[P, R]:
    """`function` to be called in another process, where it records a chain linked to the event of now.

        pool.submit(carried(work), x)

    Where nothing is recorded, the function as it is.
    """
    carrier = dict(inject({}))
    return _Carried(function, carrier) if carrier else function
