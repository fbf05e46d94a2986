"""llama-index: workflows and agents as steps, tools as tool calls, the `handoff` tool as hand-offs.

A workflow's run goes on after `run()` has returned: its step lasts until its handler has the result.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from lctl.guard import guard
from lctl.instrument.patches import PatchSet
from lctl.instrument.structure import Step, around_step, around_tool, guarded
from lctl.session.concurrency.ordered import OrderedSet
from lctl.session.default import get_session
from lctl.session.runs import context
from lctl.session.runs.steps import StepScope
from lctl_integrations import llama_index_doings as doings
from lctl_integrations import llama_index_tools as tools
from lctl_integrations.llama_index_queries import QUERY, around_query, query
from lctl_integrations.llama_index_tools import FOLLOWED, TOOL

_RUN = "a run of a workflow of LlamaIndex"
_TURN = "an agent's turn of LlamaIndex"
#: Each chat engine's module, and its class. What it streams is read when the call has long returned: that
#: call is no step, the model's is.
_CHATS = {
    f"llama_index.core.chat_engine.{module}": engine
    for module, engine in (
        ("simple", "SimpleChatEngine"),
        ("context", "ContextChatEngine"),
        ("condense_question", "CondenseQuestionChatEngine"),
        ("condense_plus_context", "CondensePlusContextChatEngine"),
        ("multi_modal_context", "MultiModalContextChatEngine"),
        ("multi_modal_condense_plus_context", "MultiModalCondensePlusContextChatEngine"),
    )
}


class Workflows:
    """llama-index-workflows, on which the agents of llama-index-core stand."""

    name = "llama-index-workflows"
    supported = ">=2.26,<3"
    modules = (
        "workflows.workflow",
        "workflows.context.context",
        "workflows.context.state_store",
        "workflows.runtime.control_loop.runner",
    )

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        match module.__name__.rpartition(".")[2]:
            case "workflow":
                patches.wrap(module, "Workflow.run", _run)
            case "runner":
                patches.wrap(module, "_ControlLoopRunner.__init__", _looping)
            case "state_store":
                patches.wrap(module, "StateStoreFacade.edit_state", doings.edited)
                patches.wrap(module, "StateStoreFacade.set", doings.put)
            case _:
                patches.wrap(module, "Context.write_event_to_stream", doings.told)
                patches.wrap(module, "Context.send_event", doings.told)


class LlamaIndex:
    """llama-index-core."""

    name = "llama-index-core"
    supported = ">=0.14,<0.15"
    modules = (
        "llama_index.core.agent.workflow.base_agent",
        "llama_index.core.agent.workflow.multi_agent_workflow",
        *FOLLOWED,
        *_CHATS,
        "llama_index.core.base.base_retriever",
        "llama_index.core.base.base_query_engine",
    )

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        match module.__name__.rpartition(".")[2]:
            case "base_agent":
                patches.wrap(module, "BaseWorkflowAgent.call_tool", tools.calling)
                patches.wrap(module, "BaseWorkflowAgent._call_tool", around_tool(TOOL, tools.other_tool))
            case "multi_agent_workflow":
                patches.wrap(module, "AgentWorkflow.run_agent_step", around_step(_TURN, _turn))
                patches.wrap(module, "AgentWorkflow.call_tool", tools.calling)
                patches.wrap(module, "AgentWorkflow._call_tool", around_tool(TOOL, tools.other_tool))
            case "base_retriever":
                patches.wrap(module, "BaseRetriever.retrieve", around_step(QUERY, query("retriever")))
                patches.wrap(module, "BaseRetriever.aretrieve", around_step(QUERY, query("retriever")))
            case "base_query_engine":
                patches.wrap(module, "BaseQueryEngine.query", around_query("chain"))
                patches.wrap(module, "BaseQueryEngine.aquery", around_query("chain"))
            case _ if (engine := _CHATS.get(module.__name__)) is not None:
                patches.wrap(module, f"{engine}.chat", around_step(QUERY, query("chain")))
                patches.wrap(module, f"{engine}.achat", around_step(QUERY, query("chain")))
            case _:
                tool = FOLLOWED[module.__name__]
                patches.wrap(module, f"{tool}.call", around_tool(TOOL, tools.tool))
                patches.wrap(module, f"{tool}.acall", tools.called)


# -- workflows and agents ------------------------------------------------------------------


def _run(wrapped: Any, workflow: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Signature of the wrapped: (...) -> WorkflowHandler."""
    before = context.raw()
    scope = _begun(workflow)
    try:
        handler = wrapped(*args, **kwargs)
    except BaseException as error:
        _ended(scope, error)
        raise
    finally:
        context.set_current(before)
    if scope is not None:
        _follow(handler, scope)
    return handler


def _looping(wrapped: Any, runner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Of several tools that are done a workflow goes on with the first that its set of tasks has, by their
    addresses. With the one that began first instead: so does a rerun."""
    wrapped(*args, **kwargs)
    with guard(_RUN):
        if type(runner.worker_tasks) is set:
            runner.worker_tasks = OrderedSet(runner.worker_tasks)


@guarded(_RUN)
def _begun(workflow: Any) -> StepScope | None:
    session = get_session()
    if session is None:
        return None
    name = getattr(workflow, "name", None) if hasattr(workflow, "take_step") else None
    agent = name if isinstance(name, str) else type(workflow).__name__
    return session.step(agent, "run", kind="chain" if name is None else "agent").begin()


@guarded(_RUN)
def _ended(scope: StepScope | None, error: BaseException | None) -> None:
    if scope is not None:
        scope.end(error)


@guarded(_RUN)
def _follow(handler: Any, scope: StepScope) -> None:
    def done(task: Any) -> None:
        if task.cancelled() or type(task.exception()).__name__ == "WorkflowCancelledByUser":
            scope.update(outcome="cancelled")
            _ended(scope, None)
        else:
            _ended(scope, task.exception())

    handler._result_task.add_done_callback(done)


def _turn(workflow: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Step:
    """Signature of the wrapped: (ctx, ev)."""
    return Step(_argument(args, kwargs, 1, "ev").current_agent_name, "agent", "turn")


def _argument(args: tuple[Any, ...], kwargs: dict[str, Any], place: int, name: str) -> Any:
    return args[place] if len(args) > place else kwargs[name]
