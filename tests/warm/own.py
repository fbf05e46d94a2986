"""lctl's own modules in the server, and what they take from the process that loads them."""

from __future__ import annotations

import os
import pkgutil
from collections.abc import Iterator, Mapping
from importlib.machinery import FileFinder
from importlib.util import find_spec
from types import ModuleType
from typing import Any

#: What needs more than lctl does or belongs to no program, and what Python starts itself.
_NOT = (
    *("__main__", "bootstrap", "autogen", "crewai", "langchain", "otel", "warehouse"),
    *("claudecode", "debugger", "demo", "importing", "stores", "testing", "training", "trust"),
    "shell",  # that of notebooks, which loads IPython
)


def names() -> Iterator[str]:
    """Of the modules that the commands and a recorded program load."""
    found = find_spec("lctl")
    assert found is not None
    yield "lctl"
    yield from _below(found.submodule_search_locations, "lctl.")


def _below(path: Any, prefix: str) -> Iterator[str]:
    for finder, name, is_package in pkgutil.iter_modules(path):
        if name in _NOT:
            continue
        yield prefix + name
        if is_package and isinstance(finder, FileFinder):
            yield from _below([os.path.join(finder.path, name)], f"{prefix}{name}.")  # noqa: PTH118


def begin(modules: Mapping[str, ModuleType]) -> None:
    """They have of the environment and the folder what they would have, had this process loaded them."""
    told = os.environ.get
    early: dict[str, dict[str, Any]] = {
        "lctl.instrument.settings": {
            "files": told("LCTL_FILES") != "off",
            "commands": told("LCTL_COMMANDS") != "off",
        },
        "lctl.instrument.ambient.filelooks": {"_TEMPORARY": told("TMPDIR")},
        "lctl.instrument.ambient.places": {"_start": os.path.join(os.getcwd(), "")},  # noqa: PTH109, PTH118
    }
    for name, values in early.items():
        if name in modules:
            vars(modules[name]).update(values)
    if "lctl.session.naming" in modules:
        naming: Any = modules["lctl.session.naming"]
        naming._inherited, naming._started_in = told(naming.FOLDER, ""), naming.here()
    if "lctl.guard" in modules:
        guarding: Any = modules["lctl.guard"]
        guarding.guard.policy = guarding.Guard().policy
