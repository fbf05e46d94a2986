"""Installed packages that are the program's own: a program may be installed as what it uses is.

What is installed is a library, with three exceptions: what `lctl run --own` names; the package that `-m` or a
console script starts, if it was installed from a folder, a repository or a wheel at hand (PEP 610), or needs
a client of models; and what the process that started this one had. In a rerun it is what the recording says.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable

#: Their names, separated by spaces, for the processes that the program starts.
VARIABLE = "LCTL_RUN_OWN"
_RERUN = "LCTL_RERUN"
_FOLDERS = ("site-packages", "dist-packages")
#: Start programs of others, however they were installed.
_RUNNERS = """
adk ag2 agent_framework agno anthropic autogen autogenstudio celery chainlit coverage crewai crewai_cli
dask deepeval django dramatiq dspy fastapi fastapi_cli fastmcp flask google gradio granian gunicorn haystack
huey hypercorn inspect_ai ipykernel ipykernel_launcher IPython jupyter jupyter_client jupyter_core
jupyterlab langchain langchain_cli langflow langgraph langgraph_api langgraph_cli lctl litellm llama_index
locust lm_eval luigi marimo mcp nbclient nbconvert nox openai panel papermill prefect pydantic_ai pytest
ragas ray rq semantic_kernel smolagents strands streamlit tox twisted uvicorn uvloop uwsgi wandb waitress
"""
_CLIENTS = re.compile(
    r"(?i)(?:openai|anthropic|litellm|langchain|langgraph|llama[-_]index|pydantic[-_]ai|crewai|autogen|ag2|dspy|"
    r"smolagents|haystack|semantic[-_]kernel|google[-_](?:genai|adk|generativeai)|mistralai|cohere|groq|ollama|"
    r"boto3|agno|strands|instructor|claude[-_]agent|agent[-_]framework|mcp|lctl)\b"
)
#: Options of Python's that take a word of their own, and letters of those that take none.
_WITH_WORD = ("-W", "-X", "--check-hash-based-pycs")
_MODULE = re.compile(r"-[bBdEhiIOPqRsSuvx]*m(.*)", re.DOTALL)
#: A script that an installer made, and how long they are at most.
_CALLS = re.compile(r"^from (\w+)[\w.]* import (\w+)$[\s\S]*\bsys\.exit\(\2[\w.]*\(\)\)", re.MULTILINE)
_SCRIPT = 1000

_own: frozenset[str] | None = None


def begin(named: Iterable[str] = ()) -> None:
    """Find out which they are, before anybody asks in the middle of something, and tell what this starts."""
    global _own
    told = os.environ.get(VARIABLE, "").split()
    found = {*told, *named}
    if _RERUN not in os.environ:
        started = _started()
        if started and _is_programs(started):
            found.add(started)
    if found.difference(told):
        os.environ[VARIABLE] = " ".join(sorted(found))
    _own = frozenset(found)


def set_recorded(names: object) -> None:
    """Those that a recording has, for its rerun."""
    global _own
    _own = (
        frozenset(name for name in names if isinstance(name, str)) if isinstance(names, list) else frozenset()
    )


def own() -> frozenset[str]:
    """Their names, as they are imported."""
    if _own is None:
        begin()
    return _own or frozenset()


def installed_as(file: str) -> str | None:
    """The name under which a file was installed (`httpx`); None of what was not, or is the program's own."""
    parts = file.replace("\\", "/").split("/")
    for at in range(len(parts) - 2, -1, -1):
        if parts[at] in _FOLDERS:
            name = parts[at + 1].removesuffix(".py")
            return None if name in (own() if _own is None else _own) else name
    return None


def _started() -> str | None:
    """The package that this process was started with, by `-m` or by a script that was installed with it."""
    words = iter(sys.orig_argv[1:])
    for word in words:
        if module := _MODULE.fullmatch(word):
            name = module[1] or next(words, "")
            return name.partition(".")[0] or None
        if word in _WITH_WORD:
            next(words, None)
        elif not word.startswith("-"):
            return _of_script(word)
        elif word.startswith("-c"):
            return None
    return None


def _of_script(path: str) -> str | None:
    """What a script starts that was made for a package: `from shop.main import main ... sys.exit(main())`."""
    if path.endswith(".py"):
        return None
    try:
        with open(path, encoding="utf-8", errors="replace") as script:  # noqa: PTH123  (pathlib is slow to load)
            text = script.read(_SCRIPT + 1)
    except OSError:
        return None
    found = _CALLS.search(text)
    return found[1] if found is not None and len(text) <= _SCRIPT else None


def _is_programs(package: str) -> bool:
    """Whether an installed package is somebody's program, and not a tool that runs programs."""
    if package in _RUNNERS.split() or package in sys.stdlib_module_names:
        return False
    from importlib import metadata

    try:
        about = metadata.distribution(package.replace("_", "-"))
    except metadata.PackageNotFoundError:
        names = metadata.packages_distributions().get(package)
        if not names:
            return False  # not installed: it is the program's own by where it is
        about = metadata.distribution(names[0])
    if about.read_text("direct_url.json") is not None:
        return True
    return needs_model(about.requires or ())


def needs_model(requirements: Iterable[str]) -> bool:
    """Whether a client of models, or a framework for agents, is among what a package requires."""
    return any(_CLIENTS.match(requirement) for requirement in requirements)


def is_known(package: str) -> bool:
    """Whether it starts programs of others, or is a client of models or a framework, by its name or that of
    what it extends (`langchain_openai`)."""
    found = _CLIENTS.match(package.replace("_", "-"))
    return package in (*_RUNNERS.split(), "mcp") or (found is not None and found[0].lower() != "mcp")
