"""Times that libraries read and the program shows: of log lines, and those that agent frameworks put into
what they give to the program and to models, and how long they say that something took.

The moment of a message, of a checkpoint, of an answer is printed with it (`print(result)`), and some
frameworks write the date into the prompt. Libraries read the real clock for all else; the reads of these
files, of packages that work with models (`actinglibraries`), and of code that models have written, are
recorded. They are gathered, an event for each task and thread when the session closes: they order nothing,
and a rerun need not make the same ones (what a framework says of an agent that is stopped, say).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from lctl.clock import STEADY_NS
from lctl.instrument.ambient import reads
from lctl.session import actinglibraries, border, sources
from lctl.session.concurrency import lanes

if TYPE_CHECKING:
    from lctl.session import LCTLSession

T = TypeVar("T")

#: Below `site-packages`. None of them keeps a limit by these clocks: after the point at which a run is forked
#: they go by the world's again.
_FILES = """
agents/models/chatcmpl_stream_handler.py agents/models/openai_chatcompletions.py agents/tracing/provider.py
agno/agent/_messages.py agno/models/message.py agno/models/response.py agno/run/agent.py
agno/run/requirement.py agno/run/team.py agno/run/workflow.py agno/team/_messages.py agno/utils/dttm.py
autogen_agentchat/messages.py autogen_agentchat/ui/_console.py
crewai/flow/async_feedback/types.py crewai/flow/human_feedback.py crewai/memory/encoding_flow.py
crewai/memory/storage/lancedb_storage.py crewai/memory/types.py crewai/memory/unified_memory.py crewai/task.py
crewai/utilities/logger.py crewai/utilities/prompts.py
deepeval/dataset/dataset.py deepeval/evaluate/compare.py deepeval/evaluate/evaluate.py
deepeval/evaluate/execute/agentic.py deepeval/evaluate/execute/e2e.py deepeval/evaluate/execute/loop.py
dspy/clients/base_lm.py dspy/clients/execution.py
haystack/components/generators/chat/openai.py haystack/components/generators/chat/openai_responses.py
inspect_ai/_util/dateutil.py
langgraph/checkpoint/base/__init__.py langgraph/checkpoint/base/id.py langgraph/pregel/_checkpoint.py
langgraph/pregel/_loop.py langgraph/store/memory/__init__.py langgraph/stream/_convert.py
langgraph/stream/_mux.py
litellm/litellm_core_utils/llm_response_utils/convert_dict_to_response.py litellm/types/utils.py
loguru/_datetime.py
mem0/memory/main.py mem0/memory/storage.py
pydantic_ai/_utils.py
pydantic_evals/_task_run.py pydantic_evals/dataset.py
smolagents/local_python_executor.py
_pytest/timing.py
strands/event_loop/streaming.py strands/telemetry/metrics.py strands/tools/executors/_executor.py
structlog/processors.py
tqdm/std.py
trulens/core/instruments.py trulens/core/schema/base.py
"""
_PATHS = tuple(f"{os.sep}{name}".replace("/", os.sep) for name in _FILES.split())
#: By which libraries that work with models say when something was, or how long it took.
_DATING = ("time", "perf_counter")
_known: dict[str, bool] = {}
#: So many of a session are kept.
_MANY = 200_000
_gathered: WeakKeyDictionary[Any, Gathered] = WeakKeyDictionary()
#: Of a rerun, by clock without a date: what the tape gave last, and when it did.
_steady: tuple[object, dict[str, tuple[int, int]]] | None = None


def stamped(frame: FrameType, clock: str = "time") -> str | None:
    """The module whose code in `frame` reads a clock for a time that will be seen; None of others."""
    reader: FrameType | None = frame
    while reader is not None and _is_pydantic(reader):  # it asks for the default of a field of theirs
        reader = reader.f_back
    if reader is None:
        return None
    file = reader.f_code.co_filename
    known = _known.get(file)
    if known is None:
        known = _known[file] = file.endswith(_PATHS)
    if not known and clock in _DATING:
        known = actinglibraries.is_one(file) or _is_nobodys(reader)
    return str(reader.f_globals.get("__name__", file)) if known else None


def _is_nobodys(frame: FrameType) -> bool:
    """Whether a library runs it from text, as no module: what a model has written (PandasAI's code)."""
    return frame.f_code.co_filename == "<string>" and "__name__" not in frame.f_globals


def _is_pydantic(frame: FrameType) -> bool:
    return frame.f_globals.get("__package__") == "pydantic"


def read(
    key: str,
    frame: FrameType,
    real: Callable[[], T],
    encode: Callable[[T], Any] | None = None,
    decode: Callable[[Any], T] | None = None,
) -> T:
    """As `reads.read`, of what a library shows: `key` says which, `frame` is its own."""
    if not reads.active():
        return real()
    player = border.player()
    served = None if player is None else player.ambient(sources.LOGGED, key, lanes.current(), 0)
    value = real() if served is None else served[0] if decode is None else decode(served[0])
    return _gather(key, frame, value, encode)


def read_steady(key: str, clock: str, frame: FrameType, real: Callable[[], int]) -> int:
    """As `read`, of a clock that has no date, in nanoseconds. Where the tape holds no more of it, it goes on
    from there: its zero is another one in each process, and what began on the tape may end behind it."""
    global _steady
    ns, player = STEADY_NS.get(f"time.{clock}"), border.player()
    if ns is None or player is None:
        return read(key, frame, real)
    if not reads.active():
        return real()
    if _steady is None or _steady[0] is not player:
        _steady = player, {}
    served, last = player.ambient(sources.LOGGED, key, lanes.current(), 0), _steady[1]
    if served is not None:
        value: int = served[0]
        last[clock] = value, ns()
        return _gather(key, frame, value, None)
    began = last.get(clock)
    return _gather(key, frame, real() if began is None else began[0] + ns() - began[1], None)


def _gather(key: str, frame: FrameType, value: T, encode: Callable[[T], Any] | None) -> T:
    try:
        session = reads.session_here()
        if session is not None:
            found = _gathered.get(session)
            if found is None:
                found = _gathered[session] = Gathered()
            code = frame.f_code
            what = (sources.LOGGED, key, code.co_filename, frame.f_lineno)
            found.add(lanes.current().path, what, value if encode is None else encode(value))
    except Exception as error:
        reads.failed("a time that a library shows", error)
    return value


def closing(session: LCTLSession) -> None:
    """Record what was gathered; in a rerun, what the recording has."""
    player, gathered = border.player(), _gathered.pop(session, None)
    told = None if player is None else player.shown(session)
    if told is None:
        told = [] if gathered is None else gathered.events()
    for data in told:
        session.record_read(session.agent, data, None)


def after_fork() -> None:
    """In the child: what is gathered is the parent's to write."""
    _gathered.clear()


class Gathered:
    """Of one session, by lane."""

    def __init__(self) -> None:
        self._count = 0
        self._lanes: dict[str, tuple[dict[reads.What, int], list[int], list[Any]]] = {}

    def add(self, lane: str, what: reads.What, value: Any) -> None:
        if self._count >= _MANY:
            return
        self._count += 1
        whats, order, values = self._lanes.setdefault(lane, ({}, [], []))
        order.append(whats.setdefault(what, len(whats)))
        values.append(value)

    def events(self) -> list[dict[str, Any]]:
        """The data of each."""
        made = []
        for lane, (whats, order, values) in sorted(self._lanes.items()):
            data = reads.batch(list(whats), order, values)
            made.append(data if lane == "0" else {**data, "lane": lane})
        return made
