"""What a tool does beside its result: chunks it writes into the stream of the graph it runs in, values it
puts into the graph's store in memory, and events of its own that it dispatches to callbacks, in a graph or
not; also what models and graphs that it asks tell the stream (`langgraph_streams`). Recorded with its call; a
rerun, which does not run the tool, does them again.

Nothing of LangGraph is imported.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextvars import ContextVar, Token
from dataclasses import replace
from itertools import count
from typing import Any

from lctl.faithful import Unfaithful, decode, encode
from lctl.guard import guard
from lctl.instrument.structure import changeable
from lctl.session import border
from lctl.session.default import get_session
from lctl_integrations import langgraph_streams

_WRITTEN = "what a LangChain tool does beside its result"
_RUNTIME = "__pregel_runtime"  # in a run's configuration
_CHUNK, _PUT, _EVENT = "chunk", "put", "event"
_TOKEN, _WITHIN = "token", "within"  # of models and graphs that the tool asks
#: As a put, [it, its vectors]: a rerun does not embed.
_INDEXED = "indexed"
_ages = count()

#: The module of LangChain's callback managers.
MANAGER = "langchain_core.callbacks.manager"


class Doings:
    """Of one call of a tool.

    Attributes:
        done: [kind, value] of each, in order; a served call fills it with the recorded ones.
        config: what the tool was called with.
        context: the program's own (`context_schema`), and what its attributes hold that can be changed.
    """

    def __init__(self, config: Any, runtime: Any, outer: Doings | None) -> None:
        self.done: list[list[Any]] = []
        self.age = next(_ages)
        context = getattr(runtime, "context", None)
        self.context = () if context is None else changeable(context)
        store = getattr(runtime, "store", None)
        self.store = store if _is_in_memory(store) else None
        self.config, self._runtime, self._outer = config, runtime, outer
        self._token: Token[Doings | None] | None = None

    def note(self, kind: str, value: Any, of: Any) -> None:
        """A tool in a tool: a rerun serves the outermost."""
        is_put = kind in (_PUT, _INDEXED)
        if of is self.store if is_put else of < self.age:  # a writer that was there before the tool
            self.done.append([kind, value])
        if self._outer is not None:
            self._outer.note(kind, value, of)

    def note_event(self, name: str, data: Any, manager: Any, run_id: Any) -> None:
        callbacks = self._callbacks()
        outside = getattr(callbacks, "handlers", callbacks) or ()
        if not outside or any(one is other for one in manager.handlers for other in outside):
            is_around = run_id is not None and run_id == getattr(callbacks, "parent_run_id", None)
            self.done.append([_EVENT, [name, data, is_around]])
        if self._outer is not None:
            self._outer.note_event(name, data, manager, run_id)

    def outward(self) -> Iterator[Doings]:
        """This call, and those of the tools that it is made in."""
        one: Doings | None = self
        while one is not None:
            yield one
            one = one._outer

    def _callbacks(self) -> Any:
        """Who hears of the tool: a manager, or handlers."""
        return self.config.get("callbacks") if isinstance(self.config, Mapping) else None

    def __enter__(self) -> None:
        self._token = _running.set(self)

    def __exit__(self, *error: object) -> None:
        if self._token is not None:
            try:
                _running.reset(self._token)
            except ValueError:  # a tool that is thrown away, in another context
                pass

    def repeat(self) -> None:
        """Do what the recorded call did, in the running code's graph."""
        with guard(_WRITTEN):
            for kind, value in self.done[:]:
                if kind == _EVENT:
                    name, data, config = self._event(value)
                    sys.modules[MANAGER].dispatch_custom_event(name, data, config=config)
                else:
                    self._repeat(kind, value)

    async def repeat_async(self) -> None:
        with guard(_WRITTEN):
            for kind, value in self.done[:]:
                if kind == _EVENT:
                    name, data, config = self._event(value)
                    await sys.modules[MANAGER].adispatch_custom_event(name, data, config=config)
                else:
                    self._repeat(kind, value)

    def _repeat(self, kind: str, value: Any) -> None:
        if kind == _CHUNK and self._runtime is not None:
            self._runtime.stream_writer(value)
        elif kind == _PUT and self.store is not None:
            self.store.batch([value])
        elif kind == _INDEXED and self.store is not None:
            op, vectors = value
            self.store.batch([op._replace(index=False)])
            self.store._vectors[op.namespace][op.key] = vectors
        elif kind == _TOKEN:
            langgraph_streams.repeat_token(self.config, value)
        elif kind == _WITHIN:
            langgraph_streams.repeat_chunk(self.config, value)

    def _event(self, value: Any) -> tuple[str, Any, Any]:
        """Name, data, and by which configuration it goes out: that of the run around, which a tool can be
        given, or the tool's own (None), in which the running code is."""
        name, data, is_around = value
        return name, data, self.config if is_around else None


_running: ContextVar[Doings | None] = ContextVar("lctl_langgraph_doings", default=None)


def of_tool(config: Any) -> Doings:
    """Of a tool that begins with this configuration."""
    inside = config.get("configurable") if isinstance(config, Mapping) else None
    runtime = inside.get(_RUNTIME) if isinstance(inside, Mapping) else None
    if not hasattr(runtime, "stream_writer") or not hasattr(runtime, "store"):
        runtime = None  # in no graph
    return Doings(config, runtime, _running.get())


def merged(wrapped: Any, runtime: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`Runtime.merge`: every run of a graph gets its writer so."""
    made = wrapped(*args, **kwargs)
    writer = made.stream_writer
    if isinstance(writer, _Writer) or (get_session() is None and border.player() is None):
        return made
    with guard(_WRITTEN):
        return replace(made, stream_writer=_Writer(writer))
    return made


class _Writer:
    """A graph's stream writer, by which what tools write is known."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer
        self._age = next(_ages)
        self.__name__ = getattr(writer, "__name__", "stream_writer")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        doings = _running.get()
        if doings is not None:
            _note(doings, _CHUNK, (*args, *kwargs.values())[:1], self._age)
        return self._writer(*args, **kwargs)


def dispatched(wrapped: Any, manager: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`CallbackManager.on_custom_event(name, data, run_id)`, by which `dispatch_custom_event` goes out; also
    that of the asynchronous one."""
    doings = _running.get()
    if doings is not None:
        with guard(_WRITTEN):
            _note_event(doings, manager, *args, **kwargs)
    return wrapped(*args, **kwargs)


def _note_event(doings: Doings, manager: Any, name: str, data: Any, run_id: Any = None, **_: Any) -> None:
    try:
        kept = decode(encode(data))  # as it is now
    except Unfaithful:
        return
    doings.note_event(name, kept, manager, run_id)


def emitted(wrapped: Any, handler: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`StreamMessagesHandler._emit((namespace, metadata), message, *, dedupe=False)`."""
    doings, about = _running.get(), args[0]
    message = args[1] if len(args) > 1 else kwargs.get("message")
    if doings is None or (kwargs.get("dedupe") and getattr(message, "id", None) in handler.seen):
        return wrapped(*args, **kwargs)
    result = wrapped(*args, **kwargs)  # gives the message an id
    with guard(_WRITTEN):
        for one in doings.outward():
            value = langgraph_streams.of_token(one.config, handler, about, message)
            if value is not None:
                _keep(one, _TOKEN, value)
    return result


def joined(wrapped: Any, _: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`DuplexStream(own, that of the graph around)`, by which a graph within tells both."""
    doings = _running.get()
    if doings is not None and len(args) > 1:
        with guard(_WRITTEN):
            args = (args[0], _noted(doings, args[1]), *args[2:])
    return wrapped(*args, **kwargs)


def _noted(doings: Doings, stream: Any) -> Any:
    """The stream, by which it is known what it is told. One that began in the tool is nothing to note."""
    around = [one for one in doings.outward() if langgraph_streams.stream_of(one.config) is stream]
    if not around:
        return stream

    def tell(chunk: Any) -> Any:
        with guard(_WRITTEN):
            for one in around:
                _keep(one, _WITHIN, langgraph_streams.of_chunk(one.config, chunk))
        return stream(chunk)

    return type(stream)(tell, stream.modes)


def _keep(doings: Doings, kind: str, value: list[Any]) -> None:
    try:
        doings.done.append([kind, decode(encode(value))])  # as it is now
    except Unfaithful:  # or the whole tool would have to run again for it
        pass


def put(wrapped: Any, store: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`InMemoryStore.batch(ops)`."""
    doings = _running.get()
    if doings is None or not args:
        return wrapped(*args, **kwargs)
    ops = list(args[0])
    made = wrapped(ops, *args[1:], **kwargs)
    _note_puts(doings, ops, store)
    return made


async def put_async(wrapped: Any, store: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    doings = _running.get()
    if doings is None or not args:
        return await wrapped(*args, **kwargs)
    ops = list(args[0])
    made = await wrapped(ops, *args[1:], **kwargs)
    _note_puts(doings, ops, store)
    return made


def _note_puts(doings: Doings, ops: Iterable[Any], store: Any) -> None:
    with guard(_WRITTEN):
        for op in ops:
            if type(op).__name__ == "PutOp":
                vectors = _vectors(store, op)
                if vectors is None:
                    _note(doings, _PUT, [op], store)
                else:
                    _note(doings, _INDEXED, [[op, vectors]], store)


def _vectors(store: Any, op: Any) -> dict[str, list[float]] | None:
    """By path, of a value that was put into a store with an index."""
    of_all = getattr(store, "_vectors", None)
    found = of_all.get(op.namespace, {}).get(op.key) if isinstance(of_all, dict) else None
    return {path: [float(one) for one in vector] for path, vector in found.items()} if found else None


def _note(doings: Doings, kind: str, values: Iterable[Any], of: Any) -> None:
    with guard(_WRITTEN):
        for value in values:
            try:
                encode(value)
            except Unfaithful:  # or the whole tool would have to run again for it
                continue
            doings.note(kind, value, of)


def _is_in_memory(store: Any) -> bool:
    """Whether values can be put into it again with nothing else happening."""
    cls = getattr(sys.modules.get("langgraph.store.memory"), "InMemoryStore", None)
    return isinstance(cls, type) and isinstance(store, cls)
