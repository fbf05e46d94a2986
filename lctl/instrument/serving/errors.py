"""Recorded exceptions, raised again as what they were.

An SDK tells errors apart by class, and programs by text; both are as recorded. Many classes want more to
be made than a log holds, so an exception is made without its constructor where that does not fit.
"""

from __future__ import annotations

import re
import sys
from importlib import import_module
from typing import Any

from lctl.session.border import RecordedError

_ERRNO = re.compile(r"\[(?:Errno|WinError) (-?\d+)\] (.*)", re.DOTALL)
_SSL = re.compile(r"\[(?:(?P<library>[A-Z]+): )?(?P<reason>[A-Z_0-9]+)\] ")
_UNVERIFIED = re.compile(r"certificate verify failed: (.*?) \(_ssl\.c")


def revive(error: RecordedError, base: type[BaseException] = Exception, **attributes: Any) -> BaseException:
    """The exception `error` describes, with its causes.

    Args:
        base: what is raised (a subclass of it, of the recorded name) where the class is gone.
        attributes: set on it where they can be: `request`, `pool`, ...
    """
    made = _made(error, base)
    for name, value in attributes.items():
        try:
            setattr(made, name, value)
        except AttributeError:
            pass
    made = _saying(made, error.message)
    if error.cause is not None:
        made.__cause__ = _raised(revive(error.cause))
    return made


def _raised(error: BaseException) -> BaseException:
    """With a traceback: one that has none is printed without the line that begins them. The first of a chain
    came while the program handled what it handles now, a later one while the one before it was handled."""
    try:
        raise error
    except BaseException:
        if error.__cause__ is not None:
            error.__context__ = error.__cause__
        elif type(error).__module__.startswith("httpcore"):  # which raises what it raises `from None`
            error.__context__, error.__suppress_context__ = None, True
        return error


def class_of(error: RecordedError) -> type[BaseException] | None:
    """Its class, of the modules loaded and the standard library; a log names none to be imported."""
    module: Any = sys.modules.get(error.module)
    if module is None and error.module.partition(".")[0] in sys.stdlib_module_names:
        try:
            module = import_module(error.module)
        except ImportError:
            return None
    found: Any = module
    for name in error.type.split("."):
        found = getattr(found, name, None)
    return found if isinstance(found, type) and issubclass(found, BaseException) else None


def _made(error: RecordedError, base: type[BaseException]) -> BaseException:
    cls = class_of(error)
    if cls is None:
        name = error.type.rpartition(".")[2] or "RecordedError"
        cls = type(name, (base,), {"__module__": error.module or __name__})
    if issubclass(cls, OSError):
        return _os_error(cls, error.message)
    made = cls.__new__(cls)
    made.args = (error.message,) if error.message else ()
    return made


def _os_error(cls: type[OSError], message: str) -> OSError:
    found = _ERRNO.fullmatch(message)
    made = cls.__new__(cls)
    if found is not None:
        OSError.__init__(made, int(found[1]), found[2])
        made.errno, made.strerror = int(found[1]), found[2]
        made.args = (int(found[1]), found[2])
    elif message:
        made.args = (message,)
    told = _SSL.match(message)
    if told is not None and "ssl" in sys.modules and isinstance(made, sys.modules["ssl"].SSLError):
        made.args = (1, message)
        made.errno, made.strerror = 1, message
        made.__dict__.update(library=told["library"] or "SSL", reason=told["reason"])
        unverified = _UNVERIFIED.search(message)
        if unverified is not None:
            made.__dict__.update(verify_code=20, verify_message=unverified[1])
    return made


def _saying(made: BaseException, message: str) -> BaseException:
    """`made`, or where its own text is made of what is not known, one of its kind that says `message`."""
    try:
        repr(made)
        if str(made) == message:
            return made
    except Exception:
        pass
    cls = type(made)
    shown = message if message.startswith(f"{cls.__name__}(") else f"{cls.__name__}({message!r})"
    said = {
        "__module__": cls.__module__,
        "__qualname__": cls.__qualname__,
        "__str__": lambda self: message,
        "__repr__": lambda self: shown,
    }
    told = type(cls.__name__, (cls,), said)
    try:
        made.__class__ = told
    except TypeError:  # its layout is its own
        made.args = (message,)
    return made
