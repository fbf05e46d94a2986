"""Attempts of urllib3: which library asks, where one begins, and such as get no further than a proxy."""

from __future__ import annotations

from contextvars import ContextVar
from functools import partial
from typing import Any

from lctl.instrument import serving, suppress, wire
from lctl.instrument.attempts import Attempt, never_raises
from lctl.instrument.transports.urllib3requests import TEXT, named, request_of
from lctl.instrument.uploads import Upload, teed
from lctl.session.runs.wrappedruns import step_aside

#: Which library the outermost call was made with.
asking: ContextVar[str | None] = ContextVar("lctl_urllib3", default=None)
#: What a pool's `urlopen` was asked for here: (args, kwargs).
asked: ContextVar[tuple[tuple[Any, ...], dict[str, Any]] | None] = ContextVar(
    "lctl_urllib3_asked", default=None
)


@never_raises("the start of a model call")
def begin(pool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Attempt | Upload | None:
    """The attempt, or, of a model call, the upload at whose end it begins."""
    if suppress.silenced():
        return None
    request = request_of(pool, args, kwargs)
    seen = wire.recognise(request.method, request.url, request.headers)
    if seen is None:
        return None
    library, headers = asking.get() or "urllib3", request.headers.items()
    if request.body is None and seen[3] is not None:
        return Upload(partial(wire.begin, seen, library, headers))
    return wire.begin(seen, library, headers, request.body)


def keeping(
    begun: Attempt | Upload | None, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of `_make_request`, with a body that keeps what is sent of it, where nobody knows it."""
    if begun is None or (isinstance(begun, Attempt) and begun.upload is None):
        return args, kwargs
    args, by_name = named(args, kwargs)
    if isinstance(begun, Upload):
        by_name["body"] = begun.passing(by_name["body"], TEXT)
    elif begun.upload is not None:
        by_name["body"] = teed(by_name["body"], begun.upload, TEXT)
    return args, by_name


def prepare_proxy(wrapped: Any, pool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """In a rerun the tunnel is made when a request is really sent, as `_make_request` connects what is not
    connected: it is asked first."""
    conn = args[0] if args else kwargs["conn"]
    is_rerun = serving.player_here() is not None
    if is_rerun:
        conn.connect = lambda: None
    try:
        return wrapped(*args, **kwargs)
    except BaseException as error:
        if not is_rerun:
            _no_tunnel(pool, error)
        step_aside(error)
        raise
    finally:
        if is_rerun:
            del conn.connect


@never_raises("a request whose tunnel failed")
def _no_tunnel(pool: Any, error: BaseException) -> None:
    """An attempt that got no further than the proxy: urllib3 does not come to `_make_request`."""
    told = asked.get()
    if told is None:
        return
    args, kwargs = told
    said = dict(zip(("method", "url", "body", "headers"), args, strict=False)) | kwargs
    if said.get("headers") is None:
        said["headers"] = pool.headers
    begun = begin(pool, (), said)
    if begun is not None:
        begun.failed(error)
