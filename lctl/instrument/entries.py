"""One library that can be instrumented: what its integration offers, how it stands, what was patched."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType
from typing import Any, Literal, Protocol

from lctl.guard import guard

State = Literal["waiting", "patched", "failed"]


class Integration(Protocol):
    """What can be instrumented: a transport, an SDK, a framework.

    A class with no arguments, named by an entry point of the group `lctl.integrations`:

        [project.entry-points."lctl.integrations"]
        openai = "lctl_integrations.openai:OpenAI"

    whose key is the top-level module that makes it interesting. Importing the integration must not
    import the library.
    """

    #: The distribution, as its version is looked up.
    name: str
    #: Versions it is tested with: ">=2,<4". Others are tried, and `lctl doctor` says so.
    supported: str
    #: Defining modules; `patch` is called with each after it was imported.
    modules: tuple[str, ...]

    def patch(self, module: ModuleType, patches: Any) -> None:
        """Wrap what is to be wrapped in `module`, with `patches.wrap(module, "Class.method", wrapper)`; a
        hook that is not there is noted, and the others are wrapped all the same. What is put in place
        otherwise, take away with `patches.on_undo(name, function)`. See `lctl.instrument.structure`."""
        ...


@dataclass
class Entry:
    """One integration as it stands; what `lctl doctor` shows."""

    key: str
    target: str
    kind: Literal["transport", "integration"]
    state: State = "waiting"
    loaded: bool = False
    name: str = ""
    supported: str = ""
    points: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)  # hooks that this version of the library has not
    failure: str | None = None

    @property
    def version(self) -> str | None:
        """Installed version of the library, None if there is none. Slow: for doctor only."""
        if self.key.partition(".")[0] in sys.stdlib_module_names:
            return ".".join(map(str, sys.version_info[:3]))
        from importlib.metadata import PackageNotFoundError, version

        self._introduce()
        try:
            return version(self.name or self.key)
        except PackageNotFoundError:
            return None

    def _introduce(self) -> None:
        """Learn name and range of an integration whose library was not imported."""
        if not self.name:
            with guard(f"the set-up of {self.key}"):
                found = integration_at(self.target)
                self.name, self.supported = found.name, found.supported

    @property
    def is_supported(self) -> bool | None:
        """Whether the installed version is one this is tested with; None if none is installed."""
        installed = self.version
        return None if installed is None else satisfies(installed, self.supported)


class Patching:
    """What an integration's `patch` is given: a hook that the library has not is noted, and the rest is
    patched all the same.

    Attributes:
        made: how many hooks were found.
        missing: `module:Class.attribute` of the others.
    """

    def __init__(self, patches: Any, module: ModuleType) -> None:
        self._patches = patches
        self._module = module
        self.made = 0
        self.missing: list[str] = []

    def wrap(self, module: ModuleType, path: str, wrapper: Any) -> None:
        """See `PatchSet.wrap`."""
        try:
            self._patches.wrap(module, path, wrapper)
            self.made += 1
        except AttributeError:
            self.missing.append(f"{module.__name__}:{path}")

    def on_undo(self, point: str, undo: Callable[[], object]) -> None:
        """See `PatchSet.on_undo`."""
        self._patches.on_undo(point, undo)
        self.made += 1


def integration_at(target: str) -> Integration:
    """The integration that "module:Class" names."""
    module, _, attribute = target.partition(":")
    made: Integration = getattr(import_module(module), attribute)()
    return made


def satisfies(version: str, ranges: str) -> bool:
    """Whether `version` ("2.11.0") lies in `ranges` (">=1.30,<4"). Pre-releases count as their release."""
    have = _numbers(version)
    for part in filter(None, (text.strip() for text in ranges.split(","))):
        sign = part[:2] if part[:2] in (">=", "<=", "==") else part[:1]
        want = _numbers(part[len(sign) :])
        width = max(len(have), len(want))
        a, b = (n + (0,) * (width - len(n)) for n in (have, want))
        if not {">=": a >= b, "<=": a <= b, "==": a == b, "<": a < b, ">": a > b}[sign]:
            return False
    return True


def _numbers(version: str) -> tuple[int, ...]:
    numbers = []
    for part in version.split("."):
        digits = part[: next((n for n, c in enumerate(part) if not c.isdigit()), len(part))]
        if not digits:
            break
        numbers.append(int(digits))
    return tuple(numbers)
