"""Claude Code's tasks from Python: `traced_task` hands one to a sub-agent and records it.

    from lctl.claude import traced_task

    result = traced_task(subagent_type="explore", prompt="Find auth files")

Needs `pip install claude-agent-sdk`, unless something else carries the task out (`run`).
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from importlib import import_module
from typing import Any

from lctl.errors import MissingExtra
from lctl.instrument import ensure_installed
from lctl.session import default

__all__ = ["traced_task", "traced_task_async"]


def traced_task(
    subagent_type: str,
    prompt: str,
    *,
    description: str | None = None,
    options: Any = None,
    run: Callable[[str], Any] | None = None,
) -> Any:
    """Have a sub-agent of Claude Code carry out a task; what it answers in the end.

    Recorded as a step of that agent, with all that happens in it. Outside any session, and without
    `auto_instrument()`, a default one is opened. May be called where an event loop runs; it blocks.

    Args:
        subagent_type: an agent that Claude Code knows, or one of `options.agents`.
        description: what for, in a few words.
        options: `claude_agent_sdk.ClaudeAgentOptions`.
        run: carries the task out instead of the SDK: called with the prompt.

    Raises:
        MissingExtra: claude-agent-sdk is not installed.
        what the SDK raises, or `run`.
    """
    _enable()
    if run is not None:
        with _step(subagent_type, description, prompt) as tell:
            result = run(prompt)
            tell(output=result)
            return result
    return _block(traced_task_async(subagent_type, prompt, description=description, options=options))


async def traced_task_async(
    subagent_type: str,
    prompt: str,
    *,
    description: str | None = None,
    options: Any = None,
) -> str | None:
    """`traced_task` on an event loop."""
    _enable()
    try:
        sdk = import_module("claude_agent_sdk")
    except ImportError:
        raise MissingExtra("lctl.claude.traced_task", "claude") from None
    asked = _with_agent(options or sdk.ClaudeAgentOptions(), subagent_type)
    answer: str | None = None
    with _step(subagent_type, description, prompt) as tell:
        async for message in sdk.query(prompt=prompt, options=asked):
            if isinstance(message, sdk.ResultMessage):
                answer = message.result
        tell(output=answer)
    return answer


def _with_agent(options: Any, agent: str) -> Any:
    """A copy of the options for a session that is that agent's from the begin."""
    from dataclasses import replace

    return replace(options, extra_args={"agent": agent, **options.extra_args})


def _enable() -> None:
    ensure_installed()
    if default.get_session() is None:
        default.enable()


@contextmanager
def _step(agent: str, description: str | None, prompt: str) -> Iterator[Callable[..., None]]:
    """The step; gives what tells it of its result. Where no session can be opened the task just runs."""
    session = default.get_session()
    if session is None:
        yield lambda **data: None
        return
    with session.step(agent, description or "task", kind="task", input_summary=prompt[:200]) as step:
        yield step.update


def _block(task: Coroutine[Any, Any, Any]) -> Any:
    """Run to its end, in a thread of its own where a loop runs in this one."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(task)
    outcome: list[Any] = []
    failure: list[BaseException] = []

    def work() -> None:
        try:
            outcome.append(asyncio.run(task))
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=copy_context().run, args=(work,), name="lctl-traced-task")
    thread.start()
    thread.join()
    if failure:
        raise failure[0]
    return outcome[0]
