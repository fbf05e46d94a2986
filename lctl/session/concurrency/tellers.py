"""Tools of observability beside us: which of their modules start threads to send what they have gathered.

What is sent there is telemetry, wherever it goes (many run a server of their own), and what is started there
is no part of the program's structure: when a batch is full, and whether one more sender is needed, no two
runs have in common. Their decorators and wrappers are not meant, which run the program's own functions.
"""

from __future__ import annotations

#: Names of modules, and beginnings of them where a dot is last.
_MODULES = (
    "agentops.",
    "braintrust.logger",
    "ddtrace.internal.",
    "ddtrace.llmobs.",
    "ddtrace.profiling.",
    "langfuse._client.",
    "langfuse._task_manager.",
    "langfuse._utils.",
    "langsmith._internal.",
    "langsmith.client",
    "langsmith.prompt_cache",
    "logfire._internal.config",
    "logfire._internal.exporters.",
    "mlflow.telemetry.",
    "mlflow.tracing.export.",
    "mlflow.utils.async_logging.",
    "newrelic.core.",
    "opentelemetry.exporter.",
    "opentelemetry.sdk.",
    "opik.file_upload.",
    "opik.message_processing.",
    "posthog.",
    "sentry_sdk._batcher",
    "sentry_sdk.monitor",
    "sentry_sdk.profiler.",
    "sentry_sdk.sessions",
    "sentry_sdk.worker",
    "wandb.sdk.",
    "weave.durability.",
    "weave.trace.concurrent.",
    "weave.trace_server_bindings.",
)


def is_one(module: str) -> bool:
    """Whether the module of that name is one of those."""
    return module.startswith(_MODULES)


__all__ = ["is_one"]
