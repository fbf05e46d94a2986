"""requests: what its session and its adapter send again is one call. Attempts are seen below, in urllib3."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from lctl.instrument import calls
from lctl.instrument.patches import PatchSet
from lctl.instrument.transports.urllib3 import grouped
from lctl.instrument.transports.urllib3attempts import asking
from lctl.session.runs.wrappedruns import step_aside


class Requests:
    """The package `requests`."""

    name = "requests"
    supported = ">=2.28,<3"
    modules = ("requests.adapters", "requests.sessions")

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        if module.__name__ == "requests.adapters":
            patches.wrap(module, "HTTPAdapter.send", _send)
        else:
            patches.wrap(module, "Session.send", _send_all)


def _send(wrapped: Any, sender: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    request = args[0] if args else kwargs.get("request")
    try:
        return grouped("requests", getattr(request, "url", None), wrapped, args, kwargs)
    except BaseException as error:
        step_aside(error)
        raise


def _send_all(wrapped: Any, session: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Of a session. Within, it sends on to where it was redirected without following by itself; what a hook
    asks is a call of its own."""
    call = calls.current_call()
    is_own = call is not None and not call.sdk and kwargs.get("allow_redirects", True)
    tokens = (calls.set_call(None), asking.set(None)) if is_own else None
    try:
        return _send(wrapped, session, args, kwargs)
    except BaseException as error:
        step_aside(error)
        raise
    finally:
        if tokens is not None:
            asking.reset(tokens[1])
            calls.leave(tokens[0])


__all__ = ["Requests"]
