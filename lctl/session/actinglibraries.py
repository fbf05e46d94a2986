"""Installed packages that work with models for the program: agents, indexes of documents, memories.

What they read in files, the commands that they run and the dates that they write are in what a model is
asked next, as what the program's own code does is. A package is one of them if it needs a client of models,
or counts tokens; those that lctl knows (frameworks, clients, what runs or observes programs) have their own
ways.
"""

from __future__ import annotations

import os
import re

from lctl.session import ownpackages

_WORD = re.compile(r"[-_.]+")
_REQUIRES = re.compile(r"^Requires-Dist: *([^;\n]*)$", re.MULTILINE)  # of an extra: with a marker
#: Clients, what observes programs, and frameworks whose code has another name.
_KNOWN = """
agentops agents arize braintrust chainlit ddtrace fastmcp guidance instructor langfuse langsmith langtrace
logfire magentic mem0 mlflow opik outlines phoenix portkey_ai pydantic_graph traceloop weave workflows
"""

#: Who needs it counts what goes to a model.
_COUNTER = "tiktoken"

_is_off = False
_found: dict[str, bool] = {}
_folders: dict[str, list[str]] = {}


def set_recorded(value: object) -> None:
    """Whether the recording that runs again has what these do."""
    global _is_off
    _is_off = not value


def is_one(file: str) -> bool:
    """Whether that file of code is of such a package."""
    if _is_off:
        return False
    known = _found.get(file)
    if known is None:
        name = ownpackages.installed_as(file)
        known = _found[file] = name is not None and _works_with_models(name, file)
    return known


def _works_with_models(name: str, file: str) -> bool:
    if name in _KNOWN.split() or ownpackages.is_known(name):
        return False
    if name in _found:
        return _found[name]
    _found[name] = False  # while it is looked for
    place = file[: file.replace("\\", "/").rindex(f"-packages/{name}") + len("-packages")]
    for about in _metadata_of(name, place):
        needs = _REQUIRES.findall(about)
        if ownpackages.needs_model(needs) or any(need.startswith(_COUNTER) for need in needs):
            _found[name] = True
    return _found[name]


def _metadata_of(name: str, place: str) -> list[str]:
    """The metadata of what was installed with that package, in that folder. (`importlib.metadata` looks
    through all that is installed where the name is another one than that of its code.)"""
    if place not in _folders:
        _folders[place] = _installed_in(place)
    found = []
    for folder in _folders[place]:
        if _squashed(name) in _squashed(folder.partition("-")[0]):
            try:
                if f"\n{name}/" in f"\n{_text(place, folder, 'RECORD')}":
                    found.append(_text(place, folder, "METADATA").partition("\n\n")[0])
            except OSError:
                pass
    return found


def _installed_in(place: str) -> list[str]:
    try:
        return [one for one in os.listdir(place) if one.endswith(".dist-info")]  # noqa: PTH208
    except OSError:  # it is no folder (a zip archive), or is gone
        return []


def _squashed(name: str) -> str:
    return _WORD.sub("", name).lower()


def _text(*parts: str) -> str:
    with open(os.path.join(*parts), encoding="utf-8", errors="replace") as file:  # noqa: PTH118, PTH123
        return file.read()
