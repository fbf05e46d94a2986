"""claude-agent-sdk: who acts, for whom, through which tool, read off the messages of Claude's process.

The model calls are made by that process, so no wire of this one shows them: its messages are the record. A
turn (from what the program says to the `result`) is a step of the agent; each answer of the model a model
call in it; each tool result a tool call. What has a `parent_tool_use_id` is a sub-agent's: a step and a
conversation of its own, inside the tool call that began it. Hooks and permission questions, which the program
answers, are steps, too; its own tools (`@tool`) are tool calls like any other, and served in a rerun.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from lctl.guard import guard
from lctl.instrument.patches import PatchSet
from lctl.instrument.structure import Runs
from lctl.instrument.transports import claudecli
from lctl.instrument.transports.claudeown import MODULES as OWN
from lctl.session.default import get_session
from lctl_integrations import claude_tools
from lctl_integrations.claude_chains import mapping
from lctl_integrations.claude_turns import Turns

_TRANSPORT = "claude_agent_sdk._internal.transport.subprocess_cli"


class ClaudeAgentSDK:
    """claude-agent-sdk 0.1 and 0.2."""

    name = "claude-agent-sdk"
    supported = ">=0.1,<0.3"
    modules = (_TRANSPORT, "claude_agent_sdk._internal.query", *OWN, *claude_tools.SERVERS)

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        if module.__name__ in (_TRANSPORT, *OWN):
            claudecli.patch(module, patches, _listen)
        elif module.__name__ in claude_tools.SERVERS:
            claude_tools.patch(module, patches)
        else:
            patches.wrap(module, "Query._handle_control_request", _control)
            patches.wrap(module, "Query._handle_sdk_mcp_request", claude_tools.wrapper(_runs, _turns))


_runs = Runs()


def _listen(transport: Any) -> Turns | None:
    return None if get_session() is None else Turns(_runs)


def _turns(query: Any) -> Turns | None:
    line = claudecli.line_of(getattr(query, "transport", None))
    return line.listener if line is not None and isinstance(line.listener, Turns) else None


async def _control(wrapped: Any, query: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What Claude's process asks of the program: a hook, or whether a tool may be used."""
    asked: dict[str, Any] = args[0] if args else kwargs["request"]
    turns = _turns(query)
    scope = None
    if turns is not None:
        with guard("a question of Claude's"):
            guard.rehearse("a question of Claude's")
            scope = turns.question(mapping(asked.get("request")))
    try:
        result = await wrapped(*args, **kwargs)
    except BaseException as error:
        if scope is not None:
            scope.end(error)
        raise
    if scope is not None and turns is not None:
        with guard("a question of Claude's"):
            answer = turns.answer_to(str(asked.get("request_id")))
            if "error" in answer:
                scope.update(outcome="error", output=answer["error"])
            else:
                scope.update(output=answer.get("response"))
        scope.end()
    return result
