"""The times of log lines that libraries say and the program shows on its standard output.

What libraries log is not the program's, and neither is the clock they read for it. A program whose `logging`
goes to standard output prints both (`12:00:01 httpx HTTP Request: ...`), so those times are recorded: by the
logger's name, and apart from the program's own reads. A rerun need not have the same lines, and is not
stopped where it has others.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

_MAKER = "LogRecord.__init__"


def shown(frame: FrameType) -> str | None:
    """The name of the logger whose record `frame` makes, if its time comes to be seen on standard output."""
    if frame.f_code.co_qualname != _MAKER or frame.f_globals.get("__name__") != "logging":
        return None
    logging: Any = sys.modules["logging"]
    name = frame.f_locals.get("name")
    logger: Any = logging.root.manager.loggerDict.get(name, logging.root)
    while isinstance(logger, logging.Logger):
        if any(_shows_time(handler, logging) for handler in logger.handlers):
            return str(name)
        logger = logger.parent if logger.propagate else None
    return None


def _shows_time(handler: Any, logging: Any) -> bool:
    file = getattr(handler, "stream", None)
    if file is None:  # rich's has a console
        file = getattr(getattr(handler, "console", None), "file", None)
        return file is not None and file in (sys.stdout, sys.__stdout__)
    form = handler.formatter
    if form is None or file not in (sys.stdout, sys.__stdout__):
        return False
    return type(form) is not logging.Formatter or bool(form.usesTime())
