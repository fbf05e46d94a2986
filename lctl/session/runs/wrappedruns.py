"""One run of a wrapped function: how it is begun with and told of its end, and the place its body is in."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from lctl.guard import guard
from lctl.session.concurrency import lanes
from lctl.session.concurrency.lane import Lane
from lctl.session.runs import context
from lctl.session.tooling.served import Rewritten, Served

if TYPE_CHECKING:
    from lctl.session.session import LCTLSession

Begin = Callable[[tuple[Any, ...], dict[str, Any]], "Run | None"]
_raw = context.raw


class Run:
    """One run of a wrapped function.

    Attributes:
        frame: where its body is while it is suspended.
        lane: the lane its body runs in; None: its caller's.
        served: what it gives instead of running.
        gives: of a plain function that gave a generator or coroutine, which is followed to its end: which.
        session: it is recorded there.
        asked: of an async generator: the turn of its loop in which it was asked to go on, if that is counted.
    """

    #: Whether what a plain function gives to be iterated or awaited is part of the run.
    follows: ClassVar[bool] = False
    gives: str | None = None
    session: LCTLSession | None = None
    frame: context.Frame | None = None
    lane: Lane | None = None
    served: Served | None = None
    asked: int | None = None
    #: Takes the place of the caller's arguments.
    arguments: tuple[tuple[Any, ...], dict[str, Any]] | None = None

    def rewritten(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """The function is about to be called with these: the place to put others into theirs."""

    def iterates(self) -> None:
        """It is a generator's, which begins: also of one that will give no item."""

    def yielded(self, value: Any) -> None:
        """An item of a generator."""

    def returned(self, value: Any) -> None:
        """The end of a run that did not raise."""

    def failed(self, error: BaseException) -> None:
        """The end of one that did; also by being cancelled or closed."""

    def raised(self, error: BaseException) -> None:
        """`error` leaves the wrapper: what `failed` was told of, or an interrupt that came before the run was
        told of its end."""

    def left(self) -> None:
        """The end of one that gave a generator or coroutine which nobody has begun with."""


def begun(begin: Begin, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Run | None:
    outer = _raw()
    try:
        with guard("the start of a traced function"):
            run = begin(args, kwargs)
            if run is not None and type(run.served) is Rewritten:
                run.rewritten(args, kwargs)
            return run
    except BaseException as error:  # Ctrl-C, or the program's time limit: it does not begin
        take_back(outer, error)
        raise
    return None


def take_back(outer: context.Frame | None, error: BaseException) -> None:
    """End what has begun since, and be where the caller is."""
    frame = context.raw()
    while frame is not None and frame is not outer and frame.step is not None:
        with guard("the start of a traced function"):
            frame.session.finish_step(frame, error, {})
        frame = frame.parent
    context.set_current(outer)


def begun_aside(begin: Begin, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Run | None:
    """Begin, but leave the consumer's place as it is."""
    outer = context.raw()
    run = begun(begin, args, kwargs)
    if run is not None:
        run.frame = context.raw()
    context.set_current(outer)
    return run


def step_aside(error: BaseException) -> None:
    """Take the caller's own line off the traceback of what it has caught, before anybody is told of that:
    frameworks show theirs to the model, and put them into the text of other exceptions. It is the only one
    where the arguments were wrong, as those of models are, or the function is written in C."""
    trace = error.__traceback__
    if trace is not None:
        error.__traceback__ = trace.tb_next


def ended(tell: Callable[[Any], None], value: Any) -> None:
    with guard("the end of a traced function"):
        tell(value)


def inside(run: Run, function: Callable[[], Any]) -> None:
    outer = context.raw()
    context.set_current(run.frame)
    lane = None if run.lane is None else lanes.enter(run.lane)
    try:
        function()
    finally:
        context.set_current(outer)
        if lane is not None:
            lanes.leave(lane)


async def inside_async(run: Run, function: Callable[[], Any]) -> None:
    lane = None if run.lane is None else lanes.enter(run.lane)
    try:
        await function()
    finally:
        if lane is not None:
            lanes.leave(lane)
