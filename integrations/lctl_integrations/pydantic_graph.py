"""pydantic-graph: graphs as steps, and in them each run of a node.

The graph that an agent of Pydantic AI is inside of itself is none: its run is the agent's step.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from lctl.guard import guarded
from lctl.instrument.patches import PatchSet
from lctl.instrument.structure import Step, around_step
from lctl.session.default import get_session, is_untold
from lctl.session.runs.steps import StepScope

_GRAPH = "a run of a pydantic graph"
_NODE = "a node of a pydantic graph"


class PydanticGraph:
    """pydantic-graph 2, with Pydantic AI or alone."""

    name = "pydantic-graph"
    supported = ">=2,<3"
    modules = ("pydantic_graph.graph_builder",)

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        patches.wrap(module, "GraphRun.__aenter__", _entered)
        patches.wrap(module, "GraphRun.__aexit__", _left)
        patches.wrap(module, "_GraphIterator._run_task", around_step(_NODE, _node))


_scopes: WeakKeyDictionary[Any, StepScope] = WeakKeyDictionary()


async def _entered(wrapped: Any, run: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    _begin(run)
    return await wrapped(*args, **kwargs)


async def _left(wrapped: Any, run: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    error: BaseException | None = args[1] if len(args) > 1 else None
    try:
        return await wrapped(*args, **kwargs)
    except BaseException as raised:
        error = raised
        raise
    finally:
        _end(run, error)


@guarded(_GRAPH)
def _begin(run: Any) -> None:
    session = get_session()
    if session is None or is_untold() or _is_agent(run.graph):
        return
    name = run.graph.name or "graph"
    _scopes[run] = session.step(name, name, kind="chain", input=run.inputs).begin()


@guarded("the end of a run of a pydantic graph")
def _end(run: Any, error: BaseException | None) -> None:
    scope = _scopes.pop(run, None)
    if scope is None:
        return
    if type(run.next_task).__name__ == "EndMarker":
        scope.update(output=run.output)
    elif error is None:
        scope.update(outcome="aborted")  # who went through it node by node left it in its middle
    scope.end(error)


def _is_agent(graph: Any) -> bool:
    return str(getattr(graph.state_type, "__module__", "")).startswith("pydantic_ai.")


def _node(iterator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Step | None:
    """Of what a graph runs, the functions and nodes of the program: not what forks, joins and decides."""
    task = args[0] if args else kwargs["task"]
    node = iterator.graph.nodes[task.node_id]
    if not hasattr(node, "call") or _is_agent(iterator.graph):
        return None
    name = str(node.id)
    return Step(name, "node", name, {"input": task.inputs}, _gave)


def _gave(follows: Any) -> dict[str, Any]:
    """Of what is to be done next: with what. A fork or a join is given all that the node gave."""
    one = follows[0] if isinstance(follows, list) and len(follows) == 1 else follows
    for name in ("inputs", "value"):
        if hasattr(one, name):
            return {"output": getattr(one, name)}
    return {}
