"""The running step and the lane follow the work into threads, thread pools, tasks and processes.

asyncio copies context variables into tasks; `threading` and `concurrent.futures` do not. Only lctl's own
variables are carried: other libraries' contexts stay as the program has them. In place while some session
is open or awaited, gone without a trace after.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import MethodType
from typing import Any

from lctl.guard import guard
from lctl.interrupts import step_out
from lctl.session import exits, ownports
from lctl.session.concurrency import (
    childends,
    departures,
    eventwaits,
    failedrequests,
    greenlets,
    lanes,
    nestedloops,
    ownprotocols,
    ownrequests,
    pooljobs,
    processes,
    queueorder,
    queues,
    semaphores,
    signals,
    simplequeues,
    spawning,
    tasks,
    threadpools,
    turns,
    workers,
)
from lctl.session.concurrency.carrying import begun, carry
from lctl.session.runs import context, told, untouched

_users = 0
_lock = threading.Lock()
# Owner, name, what it had of its own (or _NONE), ours, and what is empty once ours is out of use.
_undo: list[tuple[Any, str, Any, Any, list[bool]]] = []
_NONE = object()
#: Where the future of a pool job, and a thread of anyio's, have what the job counts as.
_JOB = "_lctl_job"

#: Modules that start work; `reach` is to be called when one of them has been imported.
MODULES = (
    "aiohttp.web_protocol",
    "aiohttp.web_runner",
    "anyio._backends._asyncio",
    "asyncio",
    "concurrent.futures",
    "concurrent.futures.process",
    "concurrent.futures.thread",
    greenlets.MODULE,
    threadpools.MODULE,
    "multiprocessing.process",
    "nest_asyncio",
    "queue",
    "socket",
    "subprocess",
    "trio",
    "uvloop",
)


def install() -> None:
    """Carry step and lane from now on; every call is undone by one of `uninstall`."""
    global _users
    with _lock:
        _users += 1
        if _users == 1:
            _replace(threading.Thread, "start", _start)
            ownports.at_first = reach
        _reach()


def uninstall() -> None:
    global _users
    with _lock:
        _users -= 1
        if _users:
            return
        greenlets.leave()
        while _undo:
            owner, name, original, ours, active = _undo.pop()
            active.clear()
            if owner.__dict__.get(name) is not ours:  # somebody wrapped it after us: leave theirs
                continue
            if original is _NONE:
                delattr(owner, name)
            else:
                setattr(owner, name, original)


def after_fork() -> None:
    """In the child: another thread of the parent may have held the lock."""
    global _lock
    _lock = threading.Lock()
    lanes.after_fork()
    exits.after_fork()
    pooljobs.after_fork()
    queueorder.after_fork()
    untouched.after_fork()
    workers.after_fork()


def reach() -> None:
    """Wrap what the program has imported since (importing it here costs 10 to 50 ms)."""
    with _lock:
        _reach()


def _hear(original: Callable[[Any, Any], None], source: Any, dest: Any) -> None:
    """asyncio gives what came of a pool's job to the future that a coroutine waits for."""
    _tell_heard(source)
    original(source, dest)


def _report_result(original: Callable[..., None], worker: Any, *args: Any) -> None:
    """anyio does, of the job of one of its threads."""
    _tell_heard(worker)
    original(worker, *args)


def _tell_heard(of: Any) -> None:
    """The loop that runs here hears of the job whose future, or whose thread, this is."""
    job: pooljobs.Job | None = getattr(of, _JOB, None)
    if job is None:
        return
    from lctl.session import default  # which needs this module

    with guard("the end of a pool's job"):
        kept = default.pool_jobs()
        if kept is None:
            pooljobs.forget(job)
        else:
            kept.hear(job, getattr(of, turns.LANE), turns.running())


def _start(original: Callable[[Any], None], thread: threading.Thread) -> None:
    frame, call = context.current(), told.current.get()
    lane = spawning.child_thread()
    run: Callable[[], None] | None = thread.run
    own = thread.__dict__.get("run", _NONE)

    def run_in_place(self: threading.Thread) -> None:
        nonlocal run
        # Held by nobody while it runs: a wrapper on top of ours stays in the thread, which is in this method.
        run, running = None, run
        assert running is not None
        _give_back(self, own, run_in_place)
        context.set_current(frame)
        told.current.set(call)
        lanes.enter(lane)
        lanes.own(lane)
        if turns.active:
            turns.job(lane)
        try:
            running()
        except BaseException as error:
            step_out(error)
            if isinstance(error, Exception):
                _died(error, frame)
            raise
        finally:
            turns.ended()

    # A method, as the one in the class: who wraps it from here on (Sentry) takes its `__func__`.
    thread.run = MethodType(run_in_place, thread)  # type: ignore[method-assign]
    try:
        original(thread)
    except BaseException:
        _give_back(thread, own, run_in_place)  # it did not start
        raise


def _died(error: Exception, frame: context.Frame | None) -> None:
    """A thread that was started in the step of `frame` ends with `error`, which Python only prints."""
    with guard("the exception that ends a thread"):
        from lctl.session import default  # which needs this module

        session = default.running()
        if session is not None:
            session.fail(error, "thread", frame if frame is not None and frame.session is session else None)


def _give_back(thread: threading.Thread, own: Any, ours: Callable[..., None]) -> None:
    if getattr(thread.__dict__.get("run"), "__func__", None) is not ours:
        return  # somebody has wrapped it since: theirs stays
    if own is _NONE:
        thread.__dict__.pop("run", None)
    else:
        thread.__dict__["run"] = own


def _submit(original: Callable[..., Any], pool: Any, function: Any, /, *args: Any, **kwargs: Any) -> Any:
    if type(pool).__module__ == "concurrent.futures.interpreter":  # it pickles the function
        return original(pool, function, *args, **kwargs)
    # Without a step too: the worker thread may carry the one of whoever started it.
    lane = spawning.child()
    turns.submitted(lane)
    job = begun(lane)
    future = original(pool, carry(function, lane, job), *args, **kwargs)
    if lane.index:
        setattr(future, turns.LANE, lane)
        if job is not None:
            setattr(future, _JOB, job)
    return future


def _in_worker(original: Callable[..., Any], func: Any, *args: Any, **kwargs: Any) -> Any:
    """A job of one of anyio's threads, whose queue is no executor's."""
    lane = spawning.child()
    turns.submitted(lane)
    job = begun(lane)
    carried = carry(func, lane, job)

    def run(*given: Any, **options: Any) -> Any:
        worker = threading.current_thread()
        setattr(worker, turns.LANE, lane)
        setattr(worker, _JOB, job)
        return carried(*given, **options)

    return original(run, *args, **kwargs)


def _reach() -> None:
    if not _users:
        return
    wanted: list[tuple[str, str, str, Callable[..., Any]]] = [
        ("concurrent.futures.thread", "ThreadPoolExecutor", "submit", _submit),
        ("anyio._backends._asyncio", "AsyncIOBackend", "run_sync_in_worker_thread", _in_worker),
        ("anyio._backends._asyncio", "WorkerThread", "_report_result", _report_result),
        ("asyncio.futures", "", "_copy_future_state", _hear),
        *tasks.HOOKS,
        *nestedloops.HOOKS,
        *processes.HOOKS,
        *childends.HOOKS,
        *queues.HOOKS,
        *semaphores.HOOKS,
        *eventwaits.HOOKS,
        *signals.HOOKS,
        *threadpools.HOOKS,
        *workers.HOOKS,
        *ownports.HOOKS,
        *ownrequests.HOOKS,
        *ownprotocols.HOOKS,
        *departures.HOOKS,
        *(ownrequests.HOOKS_OF_SERVERS + failedrequests.HOOKS_OF_SERVERS if ownports.are_any() else ()),
    ]
    for module, place, name, wrapper in wanted:
        loaded = sys.modules.get(module)
        owner = loaded if not place else getattr(loaded, place, None)
        if owner is None or not hasattr(owner, name):
            continue
        if all(owner is not known or name != done for known, done, *_ in _undo):
            _replace(owner, name, wrapper)
    _reach_simple_queues()
    greenlets.reach()
    tasks.learn()


def _reach_simple_queues() -> None:
    loaded: Any = sys.modules.get("queue")
    if loaded is None or any(owner is loaded for owner, *_ in _undo):
        return
    active = [True]
    plain, ours = loaded.SimpleQueue, simplequeues.replacement(loaded, active)
    loaded.SimpleQueue = ours
    _undo.append((loaded, simplequeues.NAME, plain, ours, active))


def _replace(owner: Any, name: str, wrapper: Callable[..., Any]) -> None:
    from functools import wraps

    original = getattr(owner, name)
    active = [True]

    @wraps(original)
    def ours(*args: Any, **kwargs: Any) -> Any:
        try:
            return wrapper(original, *args, **kwargs) if active else original(*args, **kwargs)
        except BaseException as error:
            step_out(error)
            raise

    before = owner.__dict__.get(name, _NONE)
    made: Any = staticmethod(ours) if isinstance(before, classmethod) else ours  # `original` has its class
    try:
        setattr(owner, name, made)
    except TypeError:
        return  # gevent's own class in its place, written in C: what is done with it is in no order
    _undo.append((owner, name, before, made, active))
