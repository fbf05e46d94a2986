"""prompt_toolkit: what is given at its prompts (also questionary's, InquirerPy's), keys of its full screens.

What goes on the tape is what a prompt gives, not the keys that led there: a rerun draws nothing and reads no
terminal. So the drawing is not the program's output; what that prints by prompt_toolkit is, as it says it.
"""

from __future__ import annotations

from collections.abc import Awaitable
from types import ModuleType
from typing import Any

from lctl.errors import RerunStopped
from lctl.guard import guard
from lctl.instrument import settings, waitedreads
from lctl.instrument.ambient import outputs, reads, screens
from lctl.instrument.patches import PatchSet
from lctl.session import border
from lctl.session.concurrency import lanes, turns
from lctl.session.default import get_session
from lctl.session.faithful import Unfaithful, decode
from lctl.session.faithful import encode as encode_faithfully
from lctl.session.sources import PROMPT
from lctl_integrations import prompt_toolkit_screens as fullscreen


class PromptToolkit:
    """prompt_toolkit 3."""

    name = "prompt_toolkit"
    supported = ">=3,<4"
    modules = (
        "prompt_toolkit.application.application",
        "prompt_toolkit.input.vt100",
        "prompt_toolkit.output.vt100",
        "prompt_toolkit.output.plain_text",
        "prompt_toolkit.shortcuts.utils",
        "prompt_toolkit.patch_stdout",
    )

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        for path, wrapper in _HOOKS[module.__name__].items():
            if hasattr(module, path.partition(".")[0]):
                patches.wrap(module, path, wrapper)


def _run_async(wrapped: Any, app: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Awaitable[Any]:
    if not reads.active():
        return wrapped(*args, **kwargs)  # type: ignore[no-any-return]
    if app.full_screen:
        return fullscreen.run(wrapped, app, args, kwargs, _is_hidden)

    asks: list[int] = []

    async def draw() -> Any:
        # It starts tasks by the key, and for itself: no two runs have them in common.
        lane = lanes.current().apart()
        token, before = lanes.enter(lane), _calls(lane.path)
        try:
            return await wrapped(*args, **kwargs)
        finally:
            lanes.leave(token)
            asks.append(_calls(lane.path) - before)

    is_hidden = True
    with guard("what a prompt is for"):
        is_hidden = _is_hidden(app)

    def encode(value: Any) -> Any:
        return {"$lost": _ASKS} if any(asks) else _encoded(is_hidden, value)

    def fail(error: BaseException) -> Any:
        return {"$lost": _ASKS} if any(asks) else _failed(error)

    return waitedreads.read(PROMPT, "prompt_toolkit", draw, encode, fail, _given)


#: Of what an application that is run again asks, and one whose result is served does not.
_ASKS = (
    "models or tools were asked while it was drawn; what does that runs again as an "
    "Application(full_screen=True)"
)


def _calls(lane: str) -> int:
    """How many have been made there."""
    session = get_session()
    return 0 if session is None else session.under_way.aside.get(lane, 0)


def _is_hidden(app: Any) -> bool:
    """Whether what is typed is a password: it is not shown."""
    from prompt_toolkit.layout.processors import ConditionalProcessor, PasswordProcessor

    for control in app.layout.find_all_controls():
        for each in getattr(control, "input_processors", None) or ():
            is_conditional = isinstance(each, ConditionalProcessor)
            hides = isinstance(each.processor if is_conditional else each, PasswordProcessor)
            if hides and (not is_conditional or each.filter()):
                return True
    return False


def _encoded(is_hidden: bool, value: Any) -> Any:
    if is_hidden and value:
        session = get_session()
        redactor = None if session is None else session.redactor
        if not isinstance(value, str):
            return {"$lost": "a password"}
        return value if redactor is None else redactor.value(value, "password")
    try:
        return encode_faithfully(value)
    except Unfaithful as lost:
        return {"$lost": str(lost)}


def _failed(error: BaseException) -> Any:
    """Ctrl-C and Ctrl-D among others."""
    return {"$raised": encode_faithfully(error)} if isinstance(error, Exception | KeyboardInterrupt) else None


def _given(value: Any) -> Any:
    if isinstance(value, dict) and "$raised" in value:
        raise decode(value["$raised"])
    if isinstance(value, dict) and "$lost" in value:
        text = f"what was chosen at a prompt is not on the tape: {value['$lost']}"
        player = border.player()
        raise RerunStopped(text) if player is None else player.stopped(text)
    return decode(value)


# -- what is written -----------------------------------------------------------------------------


def _flush_stdout(wrapped: Any, _: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Drawing, and what has been told where it was printed."""
    if not settings.full:
        return wrapped(*args, **kwargs)
    (args[0] if args else kwargs["stdout"]).flush()  # what the program has printed before
    if screens.is_unseen() and fullscreen.is_on():
        return None
    with outputs.uncounted(flush=False):
        return wrapped(*args, **kwargs)


def _print(wrapped: Any, _: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`print_formatted_text`."""
    if settings.full:
        with guard("what is printed"):
            from prompt_toolkit.formatted_text import fragment_list_to_text, to_formatted_text

            given = dict(zip(("output", "formatted_text"), args, strict=False)) | kwargs
            if given["output"].fileno() == 1:
                text = given["formatted_text"]
                outputs.passed_by("stdout", fragment_list_to_text(to_formatted_text(text)))
    return wrapped(*args, **kwargs)


def _write(wrapped: Any, proxy: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Of the stream that `patch_stdout` puts in the place of Python's."""
    if settings.full:
        with guard("what is printed"):
            outputs.passed_by("stdout", str(args[0] if args else kwargs["data"]))
    return wrapped(*args, **kwargs)


def _write_and_flush(wrapped: Any, proxy: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """That, in a thread of its own: if a prompt is drawn it has its loop write, which is no doing of the
    program's."""
    with turns.apart():
        return wrapped(*args, **kwargs)


_HOOKS: dict[str, dict[str, Any]] = {
    "prompt_toolkit.application.application": {"Application.run_async": _run_async},
    "prompt_toolkit.input.vt100": {
        "Vt100Input.read_keys": fullscreen.read,
        "Vt100Input.flush_keys": fullscreen.flush,
    },
    "prompt_toolkit.output.vt100": {"flush_stdout": _flush_stdout},
    "prompt_toolkit.output.plain_text": {"flush_stdout": _flush_stdout},
    "prompt_toolkit.shortcuts.utils": {"renderer_print_formatted_text": _print},
    "prompt_toolkit.patch_stdout": {
        "StdoutProxy.write": _write,
        "StdoutProxy._write_and_flush": _write_and_flush,
    },
}
