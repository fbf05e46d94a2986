"""Which lane something gets when it is started (see `lctl.session.concurrency.lanes`).

What counts is what the program starts. Not counted is what would come out differently in another run of
the same program, or in a rerun, which has no network:

- what is started beneath a transport (name resolution, connections raced, pools tended), and by those of MCP;
- what HTTP clients and SDKs start themselves (openai asks for the platform in a thread, once a process),
  and modules that ask the system what it is by running its commands;
- what tools of observability start to send what they have gathered (`tellers`);
- a pool's own threads and processes: when one more is started depends on who is idle;
- what only waits for others (Strands for pieces of Bedrock, where none is there yet), or tidies up once they
  have gone (streams of LangGraph and OpenAI Agents), and LangGraph's saving of what a node wrote: the graph's
  thread starts it, or the node's, whoever comes first;
- litellm's thread that asks for its prices again where it got none, and the one for handlers of CrewAI's
  events, which whoever is first to tell of something starts;
- an event loop's own end.

`asyncio.wait_for` makes a task up to Python 3.11 and none after: it stays in the caller's lane in both.
"""

from __future__ import annotations

import sys
from types import CodeType, FrameType

from lctl.session.concurrency import collector, tellers
from lctl.session.concurrency.lane import Drawing, Lane
from lctl.session.concurrency.lanes import current
from lctl.session.runs.silence import REPORTED, silenced

#: What starts things on behalf of its caller: passed over when looking for who did it.
_MACHINERY = frozenset(
    {
        "_pyrepl",
        "anyio",
        "asyncio",
        "concurrent",
        "contextlib",
        "contextvars",
        "ddtrace",
        "functools",
        "gevent",
        "importlib",
        "multiprocessing",
        "opentelemetry",
        "sentry_sdk",
        "subprocess",
        "threading",
        "trio",
        "uvloop",
        "wrapt",
    }
)
#: Packages that do for a coroutine in a thread what its caller would wait for.
_ASYNCHRONOUS = frozenset({"aiofile", "aiofiles", "aiopath", "aioshutil", "asgiref", "asyncer"})
#: What starts things for itself.
_PLUMBING = frozenset(
    {
        "aiohappyeyeballs",
        "aiohttp",
        "anthropic",
        "botocore",
        "ctypes",
        "h11",
        "h2",
        "httpcore",
        "httpcore2",
        "httpx",
        "httpx2",
        "openai",
        "platform",
        "psycopg",
        "psycopg_pool",
        "requests",
        "sniffio",
        "urllib3",
        "uuid",
    }
)
#: Functions of frameworks, with their packages: that start what waits for others or tidies up after them, and
#: through which all that is started goes.
_WAITERS = {
    "get_model_cost_map": "litellm.litellm_core_utils.get_model_cost_map",
    "get_waiter": "langgraph.pregel",
    "put_writes": "langgraph.pregel",
    "_start_model_provider_cleanup": "agents.result",
    "_ensure_executor_initialized": "crewai.events.event_bus",
    "_next_stream_event": "strands.models.bedrock",
}
_PASSAGES = {
    "submit": (
        "braintrust.",
        "langchain_core.runnables",
        "langgraph.pregel",
        "langsmith.utils",
        "weave.trace.util",
    )
}
#: Modules that start threads to have them at hand.
_POOLS = frozenset({"anyio", "asyncio", "concurrent", "multiprocessing", "trio"})
#: Packages that draw on the terminal from threads of their own: as often as time allows.
_SCREENS = frozenset({"alive_progress", "click_spinner", "enlighten", "halo", "rich", "tqdm", "yaspin"})
#: Modules that do so. (matplotlib's looks for fonts where nobody has on this machine.)
_TRANSPORTS = (
    "lctl.interrupts",
    "lctl.record.",
    "lctl.stores.",
    "matplotlib.font_manager",
    "mcp.client.sse",
    "mcp.client.stdio",
    "mcp.client.streamable_http",
)
#: Our own hooks stand between caller and called.
_OURS = ("lctl.session.", "lctl.instrument.", "lctl.rerun.")
#: And those of telemetry, around `Thread.start` (Strands puts OpenTelemetry's there).
_AROUND = frozenset({"ddtrace", "opentelemetry", "sentry_sdk", "wrapt"})

_MACHINE, _PROGRAM, _PLUMBER, _TELLER = range(4)
_kinds: dict[str, int] = {}  # by file

#: `asyncio.wait_for`, where it makes a task.
wait_for: CodeType | None = None


def child() -> Lane:
    """The lane of what the program starts now."""
    lane = current()
    if lane.is_reserved:
        lane.is_reserved = False
        return lane
    if silenced() is REPORTED or collector.runs_here():
        return lane.aside()
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        kind = _kinds.get(code.co_filename)
        if kind is None:
            kind = _kind(frame)
        if kind is _PLUMBER:
            return lane.aside()
        if kind is _PROGRAM:
            if _is_of(frame, _WAITERS.get(code.co_name)):
                return lane.aside()
            if not _is_of(frame, _PASSAGES.get(code.co_name)):
                break
        if kind is _TELLER and not _is_of(frame, _PASSAGES.get(code.co_name)):
            return lane.telling()
        if code is wait_for:
            return lane
        frame = frame.f_back
    return lane.spawn()


def starter() -> FrameType | None:
    """Whose code starts something now: past what does so for its caller."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        kind = _kinds.get(frame.f_code.co_filename)
        if (_kind(frame) if kind is None else kind) is not _MACHINE and _top(frame) not in _ASYNCHRONOUS:
            return frame
        frame = frame.f_back
    return None


def _is_of(frame: FrameType, packages: str | tuple[str, ...] | None) -> bool:
    return packages is not None and str(frame.f_globals.get("__name__", "")).startswith(packages)


def reserved() -> Lane:
    """The lane of the next task that is started in it."""
    lane = current().spawn()
    lane.is_reserved = True
    return lane


def child_thread() -> Lane:
    """The lane of a thread that is started now."""
    caller: FrameType | None = sys._getframe(3)  # of Thread.start, beneath our wrapper
    while caller is not None and _top(caller) in _AROUND and not tellers.is_one(_name(caller)):
        caller = caller.f_back
    if caller is not None and _top(caller) in _POOLS:
        return current().aside()
    lane = child()
    if caller is not None and type(lane) is Lane and _top(caller) in _SCREENS:
        lane.__class__ = Drawing
    return lane


def _name(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _top(frame: FrameType) -> str:
    return _name(frame).partition(".")[0]


def child_process() -> Lane:
    """The lane of a process that is started now; that of a fork within the start is the same."""
    lane = current()
    if lane.is_reserved:  # the fork
        return lane
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and str(frame.f_globals.get("__name__")).startswith(_OURS):
        frame = frame.f_back
    if frame is not None and frame.f_globals.get("__name__") == "concurrent.futures.process":
        aside = lane.aside()  # how many workers there are is no matter of the program's
        number = aside.number("worker")
        made = Lane(f"{aside.path}.{number}", aside, number)
    else:
        made = child()
    if made is not lane and made.index:
        made.is_reserved = True
    return made


def _kind(frame: FrameType) -> int:
    name = _name(frame)
    top = _top(frame)
    if tellers.is_one(name):
        kind = _TELLER
    elif top in _MACHINERY or name.startswith(_OURS):
        kind = _MACHINE
    elif top in _PLUMBING or name.startswith(_TRANSPORTS):
        kind = _PLUMBER
    else:
        kind = _PROGRAM
    if len(_kinds) < 5000:
        _kinds[frame.f_code.co_filename] = kind
    return kind
