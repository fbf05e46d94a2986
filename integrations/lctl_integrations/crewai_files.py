"""What CrewAI keeps in the user's folders: a database of its last run, memories, its settings, what it asked
the user once. A rerun keeps all that in a folder of its own, empty at first, and leaves the user's as it is;
but where it is allowed to write to the user's it does.

What CrewAI knew when it was imported is read from the surroundings, and on the tape: whether it has asked for
consent to traces (it prints and prompts otherwise), and its newest release, if it has looked for that in the
last 24 hours (it asks PyPI otherwise).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from lctl.instrument.ambient import reads
from lctl.instrument.patches import PatchSet, Wrapper
from lctl.instrument.structure import guarded
from lctl.session import border
from lctl.session.sources import SETTINGS

_FILES = "the files of CrewAI"

#: In its database folder: what it knows of the user, and what of that changes what it does.
_USER = ".crewai_user.json"
_KNOWN = ("first_execution_done", "trace_consent")

#: Modules that have the function by name from `crewai_core.paths`.
_TAKERS = (
    "crewai_core.user_data",
    "crewai.memory.storage.kickoff_task_outputs_storage",
    "crewai.flow.persistence.sqlite",
)

MODULES = (
    "crewai_core.paths",
    "crewai_core.settings",
    "crewai_core.token_manager",
    "crewai_core.version",
    *_TAKERS,
)


class Files:
    """Of one process."""

    def __init__(self) -> None:
        self._user: dict[str, Any] | None = None  # what CrewAI knew of the user; None: it was not asked yet
        self._release: dict[str, Any] | None = None  # and of its newest release; empty: nothing

    def patch(self, module: ModuleType, name: str, patches: PatchSet) -> None:
        if name == "crewai_core.settings":
            patches.wrap(module, "get_writable_config_path", _instead(self._own_settings))
            return
        if name == "crewai_core.token_manager":
            patches.wrap(module, "TokenManager._get_secure_storage_path", _instead(self._own_credentials))
            return
        if name == "crewai_core.version":
            patches.wrap(module, "_get_cache_file", _instead(self._own_releases))
            self._know_release(module)
            return
        patches.wrap(module, "db_storage_path", _instead(self._own_database))
        if name == "crewai_core.user_data":
            self._know(module)

    @guarded(_FILES)
    def _own_database(self) -> str | None:
        paths: Any = sys.modules["crewai_core.paths"]
        place = _aside(paths.appdirs.user_data_dir(paths.get_project_directory_name(), "CrewAI"))
        if place is None:
            return None
        user = place / _USER
        if self._user and not user.exists():
            user.write_text(json.dumps(self._user))
        return str(place)

    @guarded(_FILES)
    def _own_settings(self) -> Path | None:
        real = Path(sys.modules["crewai_core.settings"].DEFAULT_CONFIG_PATH)
        place = _aside(str(real.parent))
        if place is None:
            return None
        copy = place / real.name
        if real.is_file() and not copy.exists():
            copy.write_bytes(real.read_bytes())
        return copy

    @guarded(_FILES)
    def _own_credentials(self) -> Path | None:
        return _aside(str(Path("~/.local/share/crewai/credentials").expanduser()))

    @guarded(_FILES)
    def _own_releases(self) -> Path | None:
        module: Any = sys.modules["crewai_core.version"]
        place = _aside(module.appdirs.user_cache_dir("crewai"))
        if place is None:
            return None
        file = place / "version_cache.json"
        if self._release and not file.exists():
            now = module.datetime.now().isoformat()
            file.write_text(json.dumps({**self._release, "timestamp": now}))
        return file

    @guarded(_FILES)
    def _know_release(self, module: Any) -> None:
        def known() -> dict[str, Any]:
            file = Path(module.appdirs.user_cache_dir("crewai")) / "version_cache.json"
            try:
                data: dict[str, Any] = json.loads(file.read_text())
            except (OSError, ValueError):
                return {}
            return data if module._is_cache_valid(data) else {}

        if self._release is None:
            self._release = reads.early(SETTINGS, "crewai release", sys._getframe(), known)

    @guarded(_FILES)
    def _know(self, module: ModuleType) -> None:
        def known() -> dict[str, Any]:
            data = module._load_user_data()
            return {key: data[key] for key in _KNOWN if key in data}

        if self._user is None:
            self._user = reads.early(SETTINGS, "crewai user", sys._getframe(), known)


def _instead(own: Callable[[], Any]) -> Wrapper:
    """What `own` gives in a rerun, if anything, in place of what the wrapped function does."""

    def around(wrapped: Any, _: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        place = None if border.player() is None else own()
        return wrapped(*args, **kwargs) if place is None else place

    return around


def _aside(path: str) -> Path | None:
    player = border.player()
    place = None if player is None else player.aside(path)
    return None if place is None else Path(place)
