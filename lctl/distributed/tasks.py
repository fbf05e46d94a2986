"""Celery: what sends a task puts its session into the message, the worker's chain is linked to it."""

from __future__ import annotations

from typing import Any

from lctl.distributed.carriers import extract, inject
from lctl.distributed.joining import joined
from lctl.errors import MissingExtra
from lctl.guard import guard
from lctl.session.session import LCTLSession

_open: dict[str, LCTLSession] = {}  # by task id
_connected = False


def connect_celery() -> None:
    """Listen to Celery's signals; once, however often it is called.

    Raises:
        MissingExtra: Celery is not installed.
    """
    global _connected
    try:
        from celery import signals  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        raise MissingExtra("linking Celery's tasks", "celery") from None
    if not _connected:
        _connected = True
        signals.before_task_publish.connect(_published, weak=False)
        signals.task_prerun.connect(_begun, weak=False)
        signals.task_postrun.connect(_ended, weak=False)


def _published(headers: Any = None, **_: Any) -> None:
    with guard("a Celery message"):
        if isinstance(headers, dict):
            inject(headers)


def _begun(task_id: str = "", task: Any = None, **_: Any) -> None:
    with guard("a Celery task"):
        request = getattr(task, "request", None)
        origin = extract({name: getattr(request, name, None) or "" for name in ("traceparent", "tracestate")})
        headers = getattr(request, "headers", None)
        if not origin.chain_id and headers:
            origin = extract(headers)
        if origin.chain_id:
            session = joined(origin)
            session.__enter__()
            session.step_start(getattr(task, "name", "task"), intent=f"task {task_id}")
            _open[task_id] = session


def _ended(task_id: str = "", state: Any = None, **_: Any) -> None:
    with guard("a Celery task"):
        session = _open.pop(task_id, None)
        if session is not None:
            session.step_end(outcome="success" if state == "SUCCESS" else "error")
            session.__exit__(None, None, None)
