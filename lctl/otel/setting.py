"""`LCTL_OTEL`: export what every program records, without a line in it.

`LCTL_OTEL=http://localhost:4318` sends there, `LCTL_OTEL=1` where OTEL_EXPORTER_OTLP_* say.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lctl.errors import LctlError
from lctl.notices import tell

if TYPE_CHECKING:
    from lctl.otel.live import LiveExport
    from lctl.session.session import LCTLSession

_OFF = ("", "0", "off", "false", "no")
_ON = ("1", "on", "true", "yes")
_live: LiveExport | None = None
_said: str | None = None


def arm() -> None:
    """Begin the export with the first session that is opened."""
    from lctl.session import hooks

    if _started not in hooks.on_open:
        hooks.on_open.append(_started)


def _started(session: LCTLSession) -> None:
    from lctl.session import opening

    if opening.redirect is not None:
        return  # a rerun says again what was
    start()
    if _live is not None:
        _live.follow(session)


def start() -> None:
    """Begin the export that the environment asks for, once. What it cannot do it says; nothing fails."""
    global _live, _said
    wanted = os.environ.get("LCTL_OTEL", "").strip()
    if wanted.lower() in _OFF or wanted == _said:
        return
    _said = wanted
    try:
        from lctl.otel.live import export_live

        _live = export_live(None if wanted.lower() in _ON else wanted)
    except LctlError as error:
        _tell(f"LCTL_OTEL={wanted}: {error}")
    except Exception as error:
        _tell(f"LCTL_OTEL={wanted}: nothing is exported ({type(error).__name__}: {error})")


def _tell(text: str) -> None:
    tell(f"lctl: {text}\n")
