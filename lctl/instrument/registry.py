"""Which libraries can be instrumented, when that happens, and how it went.

Nothing is imported for it ahead of the program: a post-import hook waits for each library's defining
module. Our own transports and integrations stand in a table here; those of other packages come by
entry point, read when the first hooked library is imported, because reading them costs 50 ms.
"""

from __future__ import annotations

import threading
from _thread import allocate_lock, get_ident
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any, Literal

from lctl.guard import guard
from lctl.instrument.entries import Entry, Integration, Patching, integration_at
from lctl.instrument.hooks import Hook, on_import, settle
from lctl.session.concurrency import processes, threads

GROUP = "lctl.integrations"


#: key (top-level module) -> "module:Class". The transports, and ours of pyproject's entry points.
TRANSPORTS = {
    "httpx": "lctl.instrument.transports.httpx:Httpx",
    "httpx2": "lctl.instrument.transports.httpx:Httpx2",
    "aiohttp": "lctl.instrument.transports.aiohttp:Aiohttp",
    "urllib3": "lctl.instrument.transports.urllib3:Urllib3",
    "requests": "lctl.instrument.transports.requests:Requests",
    "http.client": "lctl.instrument.transports.httpclient:HttpClient",
    "websockets": "lctl.instrument.transports.websockets:Websockets",
    "dspy._vendor.lm15": "lctl.instrument.transports.lm15:Lm15",
}
OURS = {
    "openai": "lctl_integrations.openai:OpenAI",
    "anthropic": "lctl_integrations.anthropic:Anthropic",
    "mcp": "lctl_integrations.mcp:MCP",
    "ag2": "lctl_integrations.ag2:AG2",
    "autogen_agentchat": "lctl_integrations.autogen:AgentChat",
    "autogen_core": "lctl_integrations.autogen:Core",
    "autogen_ext.code_executors": "lctl_integrations.autogen_code:Executors",
    "crewai": "lctl_integrations.crewai:CrewAI",
    "dspy": "lctl_integrations.dspy:DSPy",
    "litellm": "lctl_integrations.litellm:LiteLLM",
    "llama_index.core": "lctl_integrations.llama_index:LlamaIndex",
    "smolagents": "lctl_integrations.smolagents:SmolAgents",
    "workflows": "lctl_integrations.llama_index:Workflows",
    "langchain_core": "lctl_integrations.langchain:LangChain",
    "langgraph.pregel": "lctl_integrations.langgraph:LangGraph",
    "agents": "lctl_integrations.openai_agents:OpenAIAgents",
    "pydantic_ai": "lctl_integrations.pydantic_ai:PydanticAI",
    "pydantic_graph": "lctl_integrations.pydantic_graph:PydanticGraph",
    "claude_agent_sdk": "lctl_integrations.claude_agent_sdk:ClaudeAgentSDK",
    "google.genai": "lctl_integrations.google_genai:GoogleGenAI",
    "google.adk": "lctl_integrations.google_adk:GoogleADK",
    "botocore": "lctl_integrations.botocore:Botocore",
    "haystack": "lctl_integrations.haystack:Haystack",
    "agno": "lctl_integrations.agno:Agno",
    "agent_framework": "lctl_integrations.agent_framework:AgentFramework",
    "semantic_kernel": "lctl_integrations.semantic_kernel:SemanticKernel",
    "strands": "lctl_integrations.strands:Strands",
    "groq": "lctl_integrations.groq:Groq",
    "cohere": "lctl_integrations.cohere:Cohere",
    "uvicorn": "lctl_integrations.uvicorn:Uvicorn",
    "IPython": "lctl_integrations.ipython:IPython",
    "prompt_toolkit": "lctl_integrations.prompt_toolkit:PromptToolkit",
    "textual": "lctl_integrations.textual:Textual",
    "marimo": "lctl_integrations.marimo:Marimo",
    "engineio": "lctl_integrations.engineio:EngineIO",
    # A namespace package, whose own import nobody is told of.
    "mistralai.client": "lctl_integrations.mistralai:Mistral",
}

#: Imported by nearly every program, so no sign that it uses a library worth 50 ms.
_EVERYWHERE = frozenset({"http.client"})
#: Seconds for which one thread waits until another has patched what is there. That may wait for an import
#: which this thread has begun.
_PATIENCE = 2.0


class Registry:
    """The integrations of this process and the patches they made."""

    def __init__(self, table: dict[str, str] | None = None) -> None:
        self._table = {**TRANSPORTS, **OURS} if table is None else table
        # Once: what another package brings is not gone and back within a process. It is in the table then.
        self._takes_entry_points = table is None
        self._hooks: list[Hook] = []
        self._patches: Any = None
        self._lock = threading.RLock()
        self._installing = allocate_lock(), 0  # held while a thread does; and which
        self.entries: dict[str, Entry] = {}
        self.covered: list[str] = []  # points that could not be undone, another wrapper being on top

    @property
    def installed(self) -> bool:
        return bool(self.entries)

    def install(self) -> None:
        """Wait for (or patch at once) every library of the table. Idempotent."""
        with self._lock:
            new = [] if self.entries else [self._entry(key, target) for key, target in self._table.items()]
            if new:
                self._installing = allocate_lock(), get_ident()
                self._installing[0].acquire()
            gate, by = self._installing
        if not new and by != get_ident() and gate.acquire(timeout=_PATIENCE):
            gate.release()  # what another thread has begun is done: nothing that is asked here is missed
        try:
            self._await_all(new)
        finally:
            if new:
                gate.release()
        with self._lock:
            known = {hook.module for hook in self._hooks}
        for name in threads.MODULES:
            if name not in known:
                hook = on_import(name, lambda _: threads.reach())
                with self._lock:
                    self._hooks.append(hook)

    def renew(self) -> None:
        """In a forked child: a thread that it has not may have been installing."""
        self._installing = allocate_lock(), 0

    def uninstall(self) -> None:
        """Undo every patch and hook."""
        with self._lock:
            hooks, self._hooks = self._hooks, []
            patches, self._patches = self._patches, None
            self.entries.clear()
        for hook in hooks:
            hook.remove()
        if patches is not None:
            self.covered = patches.undo()

    def status(self) -> list[Entry]:
        """Every integration known, in the order in which it was added."""
        if self.entries:
            self._read_entry_points()
            settle()
        return list(self.entries.values())

    # The lock is held for the tables alone. Placing a hook may wait for another thread's import, which
    # may be waiting in a hook of ours.

    def _entry(self, key: str, target: str) -> Entry:
        kind: Literal["transport", "integration"] = (
            "transport" if target in TRANSPORTS.values() else "integration"
        )
        entry = self.entries[key] = Entry(key, target, kind)
        return entry

    def _await_all(self, entries: list[Entry]) -> None:
        for entry in entries:
            # Before the library's own code runs: that is what imports the modules we wait for. One that
            # is such a module itself is patched once it is whole.
            before = entry.key not in _EVERYWHERE
            self._await(entry, entry.key, partial(self._load, entry), before=before)

    def _await(self, entry: Entry, module: str, callback: Callable[[ModuleType], None], before: bool) -> None:
        hook = on_import(module, callback, before=before)
        with self._lock:
            if self.entries.get(entry.key) is entry:
                self._hooks.append(hook)
                return
        hook.remove()  # uninstalled meanwhile

    def _load(self, entry: Entry, _: ModuleType) -> None:
        """The library is being imported, or is there: load the integration and wait for its modules."""
        with self._lock:
            if entry.loaded or self.entries.get(entry.key) is not entry:
                return
            entry.loaded = True
        try:
            integration = integration_at(entry.target)
            entry.name, entry.supported = integration.name, integration.supported
        except Exception as error:
            self._fail(entry, error)
            return
        for name in integration.modules:
            self._await(entry, name, partial(self._patch, entry, integration), before=False)
        if entry.key not in _EVERYWHERE:
            self._read_entry_points()

    def _patch(self, entry: Entry, integration: Integration, module: ModuleType) -> None:
        from lctl.instrument.patches import PatchSet

        with self._lock:
            if self.entries.get(entry.key) is not entry:
                return  # uninstalled while the import ran
            if self._patches is None:
                self._patches = PatchSet()
            before = self._patches.points
            patching = Patching(self._patches, module)
            try:
                integration.patch(module, patching)
                if patching.missing:
                    self._miss(entry, patching)
                else:
                    entry.state = "patched"
            except Exception as error:
                self._fail(entry, error)
            entry.points += [point for point in self._patches.points if point not in before]

    def _miss(self, entry: Entry, patching: Patching) -> None:
        """Some hooks are not there: what is found is patched, what is not `lctl doctor` says."""
        entry.missing += patching.missing
        if patching.made:
            entry.state = "patched"
        if patching.made and entry.is_supported is False:
            return  # as was to be expected
        if not patching.made:
            self._fail(entry, AttributeError(f"{entry.name} has no {', '.join(patching.missing)}"))
        else:
            guard.failed(f"hooks of {entry.key}", AttributeError(f"no {', '.join(patching.missing)}"))

    def _read_entry_points(self) -> None:
        with self._lock:
            if not self._takes_entry_points:
                return
            self._takes_entry_points = False
        with guard("entry points"):
            from importlib.metadata import entry_points

            points = list(entry_points(group=GROUP))
            with self._lock:
                new = [self._entry(p.name, p.value) for p in points if p.name not in self.entries]
                self._table |= {entry.key: entry.target for entry in new}
            self._await_all(new)

    def _fail(self, entry: Entry, error: Exception) -> None:
        entry.state = "failed"
        entry.failure = f"{type(error).__name__}: {error}"
        if guard.policy == "raise":
            raise error
        guard.failed(f"the set-up of {entry.key}", error)


#: The one of this process.
registry = Registry()
processes.renewals.append(registry.renew)
