"""What `lctl doctor` finds out: the state of the integrations here, and what one run failed to record."""

from __future__ import annotations

import os
import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lctl.codec import Log


def libraries(*, try_patches: bool) -> list[dict[str, Any]]:
    """Every library lctl knows how to record: installed version, whether it is patched, where.

    With `try_patches`, those installed are imported and patched, then restored.
    """
    from lctl.instrument.registry import Registry

    # litellm fetches its table of prices as it is imported; the doctor asks nobody outside.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    registry = Registry()
    registry.install()
    try:
        found = []
        for entry in registry.status():
            version = entry.version
            if version and try_patches:
                with warnings.catch_warnings(action="ignore"):  # of old ways, which nobody here goes
                    _imported(entry)
            found.append(
                {
                    "name": entry.name or entry.key,
                    "kind": entry.kind,
                    "version": version,
                    "range": entry.supported,
                    "supported": entry.is_supported if entry.supported else None,
                    "state": entry.state,
                    "points": list(entry.points),
                    "missing": list(entry.missing),
                    "failure": entry.failure,
                }
            )
        return found
    finally:
        registry.uninstall()


#: Distributions whose traffic passes no transport of ours, and what it is.
_UNSEEN = {
    "grpcio": "gRPC",
    "xai-sdk": "gRPC",
    "google-generativeai": "gRPC",
    "curl-cffi": "libcurl",
    "pycurl": "libcurl",
    "websocket-client": "WebSockets",
}


def unrecorded() -> list[dict[str, str]]:
    """Libraries installed here whose traffic is not recorded."""
    from importlib.metadata import PackageNotFoundError, version

    found = []
    for name, what in _UNSEEN.items():
        try:
            found.append({"name": name, "version": version(name), "traffic": what})
        except PackageNotFoundError:
            pass
    return found


def _imported(entry: Any) -> None:
    """Import the library and the modules its patches wait for."""
    from lctl.instrument.entries import integration_at

    try:
        import_module(entry.key)
        for name in integration_at(entry.target).modules:
            try:
                import_module(name)
            except ImportError as error:
                absent = _absent(error)
                if absent is not None and name.startswith(absent):
                    entry.missing.append(name)  # of another version of the library
                elif absent is None or _root(absent) == _root(name):
                    raise
                # else it is for another library, which is not here: nobody can use it
    except Exception as error:  # a broken library must not end the doctor's visit
        entry.state = "failed"
        entry.failure = f"cannot be imported ({type(error).__name__}: {error})"


def _absent(error: BaseException | None) -> str | None:
    """The module that is not there; a library may say what to install for it, in an exception of its own."""
    while error is not None and not isinstance(error, ModuleNotFoundError):
        error = error.__cause__
    return None if error is None else error.name


def _root(name: str) -> str:
    return name.partition(".")[0]


def recording(log: Log) -> dict[str, Any]:
    """What is missing from a run: events that could not be recorded, a lost end, calls without answer,
    and traffic that was seen and was no model call."""
    tail = log.tail or {}
    kept = tail.get("recording")
    kept = kept if isinstance(kept, dict) else {}
    return {
        "id": log.id or log.name,
        "path": log.path,
        "events": len(log),
        "recovered": None if log.recovered is None else str(log.recovered),
        "problems": [str(problem) for problem in log.problems],
        "missed": _missed(kept),
        "other_traffic": _counts(kept.get("other_traffic")),
        "telemetry": _counts(kept.get("telemetry")),
        "run_again": _counts(kept.get("executed")),
        "surroundings_unseen": _counts(kept.get("surroundings_unseen")),
        "output_dropped": _counts(kept.get("output_dropped")),
        "messages_dropped": _counts(kept.get("messages_dropped")),
        "open_calls": _open_calls(log),
    }


def _missed(kept: dict[str, Any]) -> list[dict[str, Any]]:
    examples = kept.get("examples")
    examples = examples if isinstance(examples, dict) else {}
    return [
        {"place": place, "count": count, "example": examples.get(place)}
        for place, count in _counts(kept.get("failures")).items()
    ]


def _counts(value: Any) -> dict[str, int]:
    return {str(k): v for k, v in value.items() if isinstance(v, int)} if isinstance(value, dict) else {}


def _open_calls(log: Log) -> list[int]:
    from lctl.state.model import MODEL_KINDS
    from lctl.state.timeline import Timeline

    state = Timeline(log).at(log.last_seq)
    return [seq for seq in state.open_steps if state.steps[seq].kind in MODEL_KINDS]
