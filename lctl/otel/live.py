"""`export_live`: what sessions of this program record goes to an OpenTelemetry back end while it runs.

A thread of its own reads what has been stored, as a reader of the log would, and makes spans of it. The
program's own calls do nothing for it, wait for nothing of it, and cannot fail by it.
"""

from __future__ import annotations

import atexit
import os
import threading
from typing import TYPE_CHECKING, Any

import orjson

from lctl import interrupts
from lctl.events import Event
from lctl.guard import guard
from lctl.otel import quiet
from lctl.otel.pipeline import Content, Pipeline, content_of_environment
from lctl.session import default, hooks, opening
from lctl.session.runs.silence import REPORTED, end_silence, silence
from lctl.spans.folding import Folding
from lctl.spans.span import Span

if TYPE_CHECKING:
    from lctl.session.session import LCTLSession

#: Seconds between two looks at what was recorded, and those given to the last sending at the end.
_INTERVAL = 0.5
_LAST = 3.0


def export_live(
    endpoint: str | None = None,
    *,
    headers: dict[str, str] | None = None,
    content: Content | None = None,
    metrics: bool = True,
    events: bool = True,
    interval: float = _INTERVAL,
    session: LCTLSession | None = None,
    **pipeline: Any,
) -> LiveExport:
    """Export what is recorded from now on, and what `session` (the running one) has recorded.

    Args:
        endpoint: of a receiver of OTLP (`http://localhost:4318`); None: as the variables
            OTEL_EXPORTER_OTLP_* say.
        content: where what was said goes: on spans, in events, both or none. None: as
            OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT says, else on spans.
        metrics, events: False where the back end takes no such signal.
        interval: seconds between two looks at what was recorded.
        pipeline: `span_exporter`, `metric_reader`, `log_exporter`, `service`, `resource` (see `Pipeline`).

    Raises:
        MissingExtra: OpenTelemetry's SDK or OTLP exporter is not installed.
        UsageError: the endpoint is no address.
    """
    token = silence(REPORTED)  # its threads are no part of the program
    try:
        made = Pipeline(
            endpoint, headers=headers, metrics=metrics, events=events,
            content=content_of_environment() if content is None else content, **pipeline,
        )  # fmt: skip
        live = LiveExport(made, interval)
    finally:
        end_silence(token)
    running = session or default.running()
    if running is not None:
        live.follow(running)
    return live


class LiveExport:
    """An export under way; `stop()` ends it, the end of the program does too."""

    def __init__(self, pipeline: Pipeline, interval: float = _INTERVAL) -> None:
        self._pipeline = pipeline
        self._interval = interval
        self._followed: list[_Followed] = []
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._stopped = False
        self._pid = os.getpid()
        self._thread = self._begin()
        self._forked = False
        hooks.on_open.append(self.follow)
        hooks.on_closing.append(self._closing)
        atexit.register(self._at_exit)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._after_fork)

    def follow(self, session: LCTLSession) -> None:
        """Export this session too. Reruns are not exported: they say again what was."""
        if self._stopped or opening.redirect is not None:
            return
        with self._lock:
            if not any(one.session is session for one in self._followed):
                self._followed.append(_Followed(session, self._pipeline.content != "none"))

    def flush(self, timeout: float = _LAST) -> None:
        """Send all that has been recorded, within so many seconds."""
        with guard("spans for OpenTelemetry"):
            self._look()
            self._pipeline.flush(timeout)

    def stop(self, timeout: float = _LAST) -> None:
        """Send what is left and end the export; what is not sent within so many seconds is given up."""
        if self._stopped:
            return
        self._stopped = True
        if self.follow in hooks.on_open:
            hooks.on_open.remove(self.follow)
            hooks.on_closing.remove(self._closing)
        atexit.unregister(self._at_exit)
        self._wake.set()
        self._thread.join(timeout)
        if self._thread.is_alive():
            quiet.say(f"no answer for {timeout:g} s: what was not sent by then is given up")

    def _begin(self) -> threading.Thread:
        thread = threading.Thread(target=self._run, name="lctl-otel", daemon=True)
        token = silence(REPORTED)
        try:
            interrupts.start(thread)
        finally:
            end_silence(token)
        return thread

    def _run(self) -> None:
        silence(REPORTED)
        while not self._wake.wait(self._interval):
            with guard("spans for OpenTelemetry"):
                self._look()
        self.flush()
        with guard("the end of an export"):
            self._pipeline.close()

    def _look(self) -> None:
        with self._lock:
            for one in list(self._followed):
                is_over = one.is_over or one.session.closed
                for span in one.spans():
                    self._pipeline.take(span)
                if is_over:
                    for span in one.folding.finish():
                        self._pipeline.take(span)
                    self._followed.remove(one)

    def _closing(self, session: LCTLSession) -> None:
        """All it will say has been recorded. A forked child may end without exit functions: it sends now."""
        for one in self._followed:
            one.is_over = one.is_over or one.session is session
        if self._forked:
            self.flush()

    def _at_exit(self) -> None:
        default.close()  # what it says last is exported, too
        self.stop()

    def _after_fork(self) -> None:
        """In the child: threads are gone; what the parent recorded is the parent's to export."""
        if self._stopped or os.getpid() == self._pid:
            return
        self._pid = os.getpid()
        self._forked = True
        self._lock = threading.Lock()
        self._wake = threading.Event()
        for one in self._followed:
            one.left = one.store
        self._thread = self._begin()


class _Followed:
    """A session, and how far it has been exported."""

    def __init__(self, session: LCTLSession, content: bool) -> None:
        self.session = session
        self.left: Any = None  # a store whose events another process exports
        self.is_over = False
        self._content = content
        self._begin()

    def _begin(self) -> None:
        self.store: Any = self.session.store
        self.folding = Folding(self.store.chain, content=self._content)
        self._position = 0

    def spans(self) -> list[Span]:
        if self.session.store is self.left:
            return []
        if self.session.store is not self.store:
            self._begin()
        lines, self._position = self.store.since(self._position)
        found: list[Span] = []
        for line in lines:
            found += self.folding.feed(Event.from_dict(orjson.loads(line)))
        return found
