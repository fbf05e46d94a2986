"""Which forms of conversations can be imported, and how each is told from the others."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

from lctl.errors import NotImportable, UsageError

if TYPE_CHECKING:
    from lctl.importing.draft import Draft
    from lctl.importing.source import Source


class Importer(Protocol):
    """A module that reads one form."""

    def sees(self, source: Source) -> str:
        """What shows that the source is of this form, in a few words; "" if it is not."""
        ...

    def read(self, source: Source, draft: Draft) -> None:
        """Fill the draft.

        Raises:
            NotImportable: the source is not of this form after all.
        """
        ...


class Form(NamedTuple):
    """One form: where it is read (`lctl.importing.<module>`) and what it is."""

    module: str
    about: str


#: In the order they are tried: what is told by marks of its own before lists that much could be.
FORMS: dict[str, Form] = {
    "claude-code": Form("claudecode", "session of Claude Code (JSONL), its sub-agents' files beside it"),
    "pi": Form("pi", "session of the pi coding agent (JSONL)"),
    "codex": Form("codex", "session of the Codex CLI (JSONL)"),
    "gemini-cli": Form("geminicli", "session of the Gemini CLI (JSON)"),
    "opencode": Form("opencode", "session of OpenCode, as 'opencode export' writes it"),
    "continue": Form("continuedev", "session of Continue (JSON)"),
    "chatgpt": Form("chatgpt", "data export of ChatGPT (conversations.json, or the zip)"),
    "claude-ai": Form("claudeai", "data export of Claude.ai (conversations.json, or the zip)"),
    "inspect": Form("inspectlog", "Inspect log (.eval or .json)"),
    "swe-agent": Form("sweagent", "SWE-agent trajectory (.traj)"),
    "mini-swe-agent": Form("miniswe", "mini-SWE-agent trajectory (.traj.json)"),
    "openhands": Form("openhands", "events of OpenHands, of its server or its SDK (JSON or JSONL)"),
    "assistant-ui": Form("assistantui", "message repository of assistant-ui"),
    "oasst": Form("oasst", "OpenAssistant message trees or messages"),
    "toolbench": Form("toolbench", "ToolBench search tree"),
    "who-and-when": Form("whowhen", "Who&When failure log"),
    "adk": Form("adk", "session of Google's Agent Development Kit"),
    "langfuse": Form("langfuse", "Langfuse: traces, or observations of its API or a bucket"),
    "langsmith": Form("langsmith", "LangSmith runs (JSON or JSONL), or its bulk export (Parquet)"),
    "mlflow": Form("mlflowtraces", "MLflow traces, as Trace.to_json() writes them"),
    "openai-agents": Form("openaiagents", "traces of the OpenAI Agents SDK, as a processor exports them"),
    "braintrust": Form("braintrust", "logs of Braintrust, as its API gives them (JSON or JSONL)"),
    "weave": Form("weave", "calls of W&B Weave, as its API and SDK give them (JSON or JSONL)"),
    "phoenix": Form("phoenix", "spans exported by Arize Phoenix"),
    "otlp": Form(
        "otlp",
        "traces of OpenTelemetry: OTLP (JSON, protobuf), OpenInference, OpenLLMetry, Logfire, Langfuse",
    ),
    "calls": Form("modelcalls", "answers of model APIs, alone or with their requests; results of batches"),
    "sharegpt": Form("sharegpt", "ShareGPT conversations (from/value)"),
    "training": Form(
        "trainingrows", "rows of instruction/output (Alpaca), prompt/completion, prompt/chosen/rejected"
    ),
    "openai": Form("messagelists", "messages with role and content, as OpenAI and Anthropic take them"),
}


def importer(name: str) -> Importer:
    """The importer of that name.

    Raises:
        UsageError: there is none.
    """
    form = FORMS.get(name)
    if form is None:
        raise UsageError(f"--from {name}: no such form; there are: {', '.join(FORMS)}")
    return cast("Importer", import_module(f"lctl.importing.{form.module}"))


def detected(source: Source) -> tuple[str, str]:
    """The form of a source, and what shows it.

    Raises:
        NotImportable: it is none of them.
    """
    from lctl.importing import otlp

    if shown := otlp.sees_at_once(source):
        return "otlp", shown
    for name in FORMS:
        shown = importer(name).sees(source)
        if shown:
            return name, shown
    raise NotImportable(
        f"{source.name}: {_looks_like(source)}; 'lctl import --help' lists what can be imported"
    )


def _looks_like(source: Source) -> str:
    """What the source is instead."""
    if not source.data.strip():
        return "empty"
    if source.entries:
        return "a zip archive without conversations in it"
    if not source.rows:
        return "JSON that holds no conversation" if source.is_json else "neither JSON nor lines of JSON"
    keys = sorted(source.rows[0].value)[:6]
    if "lctl" in keys or ("seq" in source.rows[0].value and "type" in source.rows[0].value):
        return "an lctl log already; commands take it as it is"
    named = ", ".join(map(str, keys)) or "no keys"
    return (
        f"no form of conversation that is known (its first object has {named}); where it is one, "
        "'--from FORM' says so, and what a tool exports as OTLP (JSON) can be imported"
    )
