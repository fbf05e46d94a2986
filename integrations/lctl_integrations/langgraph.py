"""langgraph: checkpoints as lineage, and what a rerun needs of tools in graphs.

The latter is in `langgraph_doings`. Nodes, interrupts and hand-offs come through langchain-core's callbacks.

A checkpoint event says which state of which thread follows from which: `thread_id`, `checkpoint_id`, its
`parent_checkpoint_id`, the superstep and where it came from ("input", "loop", "update", "fork"). The state
itself stays with the checkpointer; what the nodes changed is in their steps.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import fields
from types import ModuleType
from typing import Any

from lctl.faithful import register
from lctl.guard import guard, guarded
from lctl.instrument.patches import PatchSet
from lctl.instrument.structure import step_aside
from lctl.session.concurrency import turns
from lctl.session.concurrency.ordered import by_lane
from lctl.session.default import get_session
from lctl_integrations import langgraph_doings
from lctl_integrations.langchain_values import interrupts_in, shown


class LangGraph:
    """langgraph 1."""

    name = "langgraph"
    supported = ">=1,<2"
    modules = (
        "langgraph.pregel._loop",
        "langgraph.pregel._messages",
        "langgraph.pregel._runner",
        "langgraph.pregel.main",
        "langgraph.runtime",
        "langgraph.store.memory",
        "langgraph.types",
    )

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        if module.__name__ == "langgraph.pregel._loop":
            patches.wrap(module, "PregelLoop._put_checkpoint", _put)
            patches.wrap(module, "DuplexStream", langgraph_doings.joined)
        elif module.__name__ == "langgraph.pregel._messages":
            patches.wrap(module, "StreamMessagesHandler._emit", langgraph_doings.emitted)
        elif module.__name__ == "langgraph.pregel._runner":
            patches.wrap(module, "_panic_or_proceed", _panic)
        elif module.__name__ == "langgraph.runtime":
            patches.wrap(module, "Runtime.merge", langgraph_doings.merged)
        elif module.__name__ == "langgraph.store.memory":
            patches.wrap(module, "InMemoryStore.batch", langgraph_doings.put)
            patches.wrap(module, "InMemoryStore.abatch", langgraph_doings.put_async)
        elif module.__name__ == "langgraph.types":  # a tool's result may hold one
            register(module.Send, _parts_of_send, lambda parts: _send(module.Send, parts))
            register(module.Command, _parts_of_command, lambda parts: _command(module.Command, parts))
        else:
            patches.wrap(module, "Pregel.bulk_update_state", _updated)
            patches.wrap(module, "Pregel.abulk_update_state", _updated_async)


def _parts_of_send(send: Any) -> list[Any]:
    return [send.node, send.arg, getattr(send, "timeout", None)]


def _send(cls: Any, parts: list[Any]) -> Any:
    node, arg, timeout = parts
    return cls(node, arg) if timeout is None else cls(node, arg, timeout=timeout)


def _parts_of_command(command: Any) -> dict[str, Any]:
    return {field.name: getattr(command, field.name) for field in fields(command)}


def _command(cls: Any, parts: dict[str, Any]) -> Any:
    if parts.get("graph") == cls.PARENT:
        parts = {**parts, "graph": cls.PARENT}  # LangGraph asks whether it is that very string
    return cls(**parts)


def _panic(wrapped: Any, _: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Of several nodes that failed, or handed the work to the graph around, LangGraph raises what one says:
    one out of a set, by their addresses. Where a recording is to be run again it is the first."""
    if turns.active and args and kwargs.get("panic", True):
        with guard("which node's failure a LangGraph graph raises"):
            passed_over = getattr(wrapped, "__globals__", {}).get("SKIP_RERAISE_SET") or ()
            args = (_with_the_first(args[0], kwargs, passed_over), *args[1:])
    try:
        return wrapped(*args, **kwargs)
    except BaseException as error:
        step_aside(error)
        raise


def _with_the_first(futures: Any, kwargs: dict[str, Any], passed_over: Container[Any]) -> Any:
    told = kwargs.get("handled_exception_ids") or ()
    handled = kwargs.get("handled_futures") or ()
    for one in by_lane(futures):
        if not one.done() or one.cancelled() or one in handled or one in passed_over:
            continue
        error = one.exception()
        if error is not None and id(error) not in told and not interrupts_in(error):
            return {one, *(other for other in futures if not other.done())}
    return futures


def _put(wrapped: Any, loop: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    before = getattr(loop, "checkpoint_config", None)
    result = wrapped(*args, **kwargs)
    if getattr(loop, "checkpointer", None) is not None:
        _tell(loop, before)
    return result


@guarded("a LangGraph checkpoint")
def _tell(loop: Any, before: Any) -> None:
    after = loop.checkpoint_config
    if _id(after) == _id(before):
        return  # not saved now: with durability "exit" only the last one is
    metadata = loop.checkpoint_metadata
    key = getattr(loop.manager, "run_id", None)
    _emit(key, after, _id(loop.prev_checkpoint_config), metadata.get("source"), metadata.get("step"))


def _updated(wrapped: Any, graph: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    try:
        result = wrapped(*args, **kwargs)
    except BaseException as error:
        step_aside(error)
        raise
    _tell_update(result, args, kwargs)
    return result


async def _updated_async(wrapped: Any, graph: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    try:
        result = await wrapped(*args, **kwargs)
    except BaseException as error:
        step_aside(error)
        raise
    _tell_update(result, args, kwargs)
    return result


@guarded("a change of a LangGraph state")
def _tell_update(result: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    config = args[0] if args else kwargs.get("config")
    supersteps = args[1] if len(args) > 1 else kwargs.get("supersteps") or ()
    changes = [
        {"node": change.as_node, "values": shown(change.values)} for step in supersteps for change in step
    ]
    _emit(None, result, _id(config), "update", None, changes=changes)


def _emit(key: Any, config: Any, parent: Any, source: Any, superstep: Any, **more: Any) -> None:
    from lctl_integrations.langchain_runs import runs

    if get_session() is None and runs.frame(key) is None:
        return
    where = config["configurable"]
    data: dict[str, Any] = {"thread_id": where.get("thread_id")}
    data["checkpoint_id"] = where.get("checkpoint_id")
    if parent is not None:
        data["parent_checkpoint_id"] = parent
    # The ids of tasks in it are new in every run.
    graph = "|".join(part.partition(":")[0] for part in str(where.get("checkpoint_ns") or "").split("|"))
    if graph:
        data["graph"] = graph
    if source is not None:
        data["source"] = source
    if superstep is not None:
        data["superstep"] = superstep
    runs.emit(key, "checkpoint", {**data, **more})


def _id(config: Any) -> Any:
    with guard("a LangGraph checkpoint"):
        return ((config or {}).get("configurable") or {}).get("checkpoint_id")
    return None
