"""A transport of the program's own for the Claude Agent SDK (`query(transport=...)`).

What passes is seen as of the SDK's own, by one that stands before the program's. In a rerun that is never
connected.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import ModuleType
from typing import Any

from lctl.instrument.patches import PatchSet
from lctl.session.concurrency import lanes

#: Of the SDK's own transport: gets the program's method, the transport, and the arguments.
Around = Callable[[Any, Any, tuple[Any, ...], dict[str, Any]], Any]

_SUBPROCESS = "claude_agent_sdk._internal.transport.subprocess_cli"


#: Where the SDK is given a transport: the module, what is called, and which of its arguments it is.
_GIVEN = {
    "claude_agent_sdk._internal.client": ("InternalClient.process_query", 2),
    "claude_agent_sdk.client": ("ClaudeSDKClient.__init__", 1),
}
MODULES = tuple(_GIVEN)


def patch(module: ModuleType, patches: PatchSet, around: Mapping[str, Around]) -> None:
    """Have one of `MODULES` use such transports. `around`: by the method's name."""
    path, place = _GIVEN[module.__name__]

    def given(wrapped: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if len(args) > place:
            args = (*args[:place], _before(args[place], around), *args[place + 1 :])
        elif "transport" in kwargs:
            kwargs = {**kwargs, "transport": _before(kwargs["transport"], around)}
        return wrapped(*args, **kwargs)

    patches.wrap(module, path, given)


def _before(transport: Any, around: Mapping[str, Around]) -> Any:
    """What stands before it; itself where that is the SDK's own, or a kind of it."""
    own = sys.modules[_SUBPROCESS].SubprocessCLITransport
    if transport is None or isinstance(transport, own):
        return transport
    return _class_of(sys.modules["claude_agent_sdk"].Transport)(transport, around)


@lru_cache
def _class_of(base: type[Any]) -> type[Any]:
    class SeenTransport(base):  # type: ignore[misc]
        """As the program's own, to whoever asks it for something else."""

        def __init__(self, inner: Any, around: Mapping[str, Around]) -> None:
            self._inner = inner
            self._around = around
            self._ready = False  # in a rerun

        async def connect(self) -> None:
            await self._around["connect"](self._inner.connect, self, (), {})

        async def write(self, data: str) -> None:
            await self._around["write"](self._inner.write, self, (data,), {})

        def read_messages(self) -> Any:
            return self._around["read_messages"](self._inner.read_messages, self, (), {})

        async def end_input(self) -> None:
            await self._around["end_input"](
                self._nothing if self._ready else self._inner.end_input, self, (), {}
            )

        async def close(self) -> None:
            await self._around["close"](self._nothing if self._ready else self._put_away, self, (), {})

        def is_ready(self) -> bool:
            return self._ready or bool(self._inner.is_ready())

        async def _nothing(self) -> None: ...

        async def _put_away(self) -> None:
            """Apart: a rerun, which connects it to nothing, does not run it."""
            token = lanes.enter(lanes.current().apart())
            try:
                await self._inner.close()
            finally:
                lanes.leave(token)

        def named(self) -> str:
            """Which kind of transport it is, for the tape."""
            return type(self._inner).__qualname__

        def __getattr__(self, name: str) -> Any:
            return getattr(self.__dict__["_inner"], name)

    return SeenTransport
