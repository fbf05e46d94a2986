"""Traffic that is not model calls: counted by host for `lctl doctor`, recorded only when asked.

A transport sees everything the program sends. What no codec knows is not a model call; of that, the
uploads of telemetry are never recorded, whatever was asked for: they are copies of what is recorded
here anyway, and may be large.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from urllib.parse import urlsplit

from lctl.instrument.ambient import callers
from lctl.session.concurrency import lanes
from lctl.session.concurrency.lane import Lane

#: Host suffixes to which libraries send telemetry.
_TELEMETRY_HOSTS = (
    "smith.langchain.com",
    "posthog.com",
    "sentry.io",
    "langfuse.com",
    "logfire.pydantic.dev",
    "honeycomb.io",
    "datadoghq.com",
    "datadoghq.eu",
    "arize.com",
    "agentops.ai",
    "traceloop.com",
    "braintrust.dev",
    "comet.com",
    "confident-ai.com",
    "ddog-gov.com",
    "galileo.ai",
    "getmaxim.ai",
    "helicone.ai",
    "lmnr.ai",
    "logfire-eu.pydantic.dev",
    "logfire-us.pydantic.dev",
    "lunary.ai",
    "mixpanel.com",
    "newrelic.com",
    "nr-data.net",
    "scarf.sh",
    "segment.io",
    "wandb.ai",
    "telemetry.crewai.com",
    "checkpoint-api.hashicorp.com",
)
_DOTTED_HOSTS = tuple(f".{name}" for name in _TELEMETRY_HOSTS)
#: Ends of paths under which telemetry is sent to any host (OpenAI Agents' traces, LangSmith, Langfuse,
#: Datadog's agent, New Relic, Opik, Braintrust, Weave, MLflow).
_TELEMETRY_PATHS = (
    "/v1/traces/ingest",
    "/runs/multipart",
    "/api/public/ingestion",
    "/v0.4/traces",
    "/v0.5/traces",
    "/api/v2/llmobs",
    "/agent_listener/invoke_raw_method",
    "/private/traces/batch",
    "/private/spans/batch",
    "/logs3",
    "/call/upsert_batch",
    "/mlflow/traces",
)
#: The same of words that any service may use: an agent that looks through logs asks `POST /v1/logs`. What a
#: library sends there is telemetry (OTLP, LangSmith, AgentOps), what the program's own code asks is not.
_ORDINARY_PATHS = ("/v1/traces", "/v1/metrics", "/v1/logs", "/runs/batch", "/logs/upload")
_OTLP_PORT = 4318
#: Sentry's, on any host.
_ENVELOPE = re.compile(r"/api/\d+/envelope$")

#: Ends of paths under which such hosts are asked by POST for what the program goes on with: PostHog's flags,
#: Weights & Biases.
_QUESTIONS = ("/flags", "/decide", "/graphql")

#: Hosts and beginnings of paths where libraries look for news of themselves (a newer version, new prices).
#: Without an answer they do with what they have.
_NEWS = (
    ("pypi.org", "/pypi/crewai/"),
    ("raw.githubusercontent.com", "/BerriAI/litellm/"),
)

#: Where a provider says what models it has and what one of them can do. Frameworks ask there before the first
#: call (LlamaIndex asks Google when its client is made, and Ollama), so a recording cannot run again without.
_MODELS = re.compile(
    r"GET [^?#]*(?:/v\d\w*/(?:[^/?#]+/)*models(?:/[^/?#:]+)?|/api/(?:tags|ps|version))/?(?:[?#]|$)"
    r"|POST [^?#]*/api/show/?(?:[?#]|$)"
)

#: Where OpenAI gives what it keeps of a response, Google of an interaction, Replicate of a prediction, and
#: where that is cancelled. The answer of one begun in the background comes there.
_RESPONSE = re.compile(
    r"GET [^?#]*/(?:responses/(?=resp_)|interactions/|v1/predictions/(?=\w{20}))([^/?#]+)/?(?:[?#]|$)"
    r"|POST [^?#]*/(?:responses/(?=resp_)|interactions/|v1/predictions/(?=\w{20}))([^/?#]+)"
    r"/cancel/?(?:[?#]|$)"
)

#: Where OpenAI (and Azure) keeps assistants, threads, their messages and runs: what of them is no model call.
#: LangGraph's have no such ids.
_THREADS = re.compile(
    r"(?:GET|POST|DELETE) [^?#]*/(?:threads/thread_[^?#]*|assistants/asst_[^/?#]+"
    r"|(?:v1|openai|projects/[^/?#]+)/(?:threads|assistants))/?(?:[?#]|$)"
)

#: Live sessions with a model over a WebSocket: OpenAI's Realtime and Responses, Google's Live.
_LIVE = re.compile(r"wss?://[^?#]*(?:/realtime|/responses|BidiGenerateContent\w*)/?(?:[?#]|$)")

#: What libraries ask there once a process, and keep: Ollama for a model (litellm, in the thread of any call).
_SHARED = re.compile(r"POST [^?#]*/api/show/?(?:[?#]|$)")

#: Requests that passed a transport and were not recorded as model calls, by host; for doctor.
passed: Counter[str] = Counter()
telemetry: Counter[str] = Counter()


def is_upload(method: str, url: str) -> bool:
    """Whether the running code sends telemetry: where that goes, or in a thread of the tool that does."""
    return is_telemetry(method, url) or lanes.is_telling()


def is_telemetry(method: str, url: str) -> bool:
    """Whether traces, metrics or product analytics are sent to `url` by the calling code. What is asked there
    (prompts and flags that are kept with them; an agent's search of Datadog's logs) is none."""
    if method in ("GET", "HEAD"):
        return False
    path = urlsplit(url).path.rstrip("/")
    if path.endswith(_TELEMETRY_PATHS) or _ENVELOPE.search(path):
        return True
    if path.endswith(_ORDINARY_PATHS):
        return urlsplit(url).port == _OTLP_PORT or not callers.is_own_request(sys._getframe(1))
    if path.endswith(_QUESTIONS) or not is_host_of_telemetry(url):
        return False
    return not callers.is_own_request(sys._getframe(1))


def is_host_of_telemetry(url: str) -> bool:
    """Whether telemetry is sent to that host."""
    host = urlsplit(url).hostname or ""
    return f".{host}".endswith(_DOTTED_HOSTS)


def is_about_models(method: str, url: str) -> bool:
    """Whether a provider is asked what models it has, or what one of them is."""
    return _MODELS.match(f"{method} {url}") is not None


def response_of(method: str, url: str) -> str | None:
    """The id of the response or interaction that is asked for again, or cancelled: one of the background."""
    found = _RESPONSE.match(f"{method} {url}")
    return None if found is None else found[1] or found[2]


def is_kept(method: str, url: str) -> bool:
    """Whether every recording holds such an exchange, which is no model call."""
    if is_about_models(method, url) or response_of(method, url) is not None:
        return True
    return is_about_threads(method, url) or is_live(url)


def is_live(url: str) -> bool:
    """Whether a live session with a model is opened there."""
    return url.startswith("ws") and _LIVE.match(url) is not None


def is_about_threads(method: str, url: str) -> bool:
    """Whether OpenAI is asked for, or told, something of an assistant or a thread that it keeps."""
    return _THREADS.match(f"{method} {url}") is not None


def is_shared(method: str, url: str) -> bool:
    """Whether a library asks this for the whole process, and keeps the answer: in whichever thread comes
    first, or in several at once. It is recorded once, in no lane of the program's."""
    return _SHARED.match(f"{method} {url}") is not None


def lane(method: str, url: str) -> Lane | None:
    """The lane in which that counts, whoever asks; None of what counts where it is asked."""
    if is_news(url):
        return lanes.LIBRARIES
    return lanes.SHARED if is_shared(method, url) else None


def is_news(url: str) -> bool:
    """Whether a library asks there for news of itself, and does without where there is none. It asks once a
    process, in whichever thread comes first: in no lane of the program's."""
    parts = urlsplit(url)
    return any(parts.hostname == host and parts.path.startswith(path) for host, path in _NEWS)


def count(method: str, url: str) -> bool:
    """Count one request that is no model call; True if it is telemetry."""
    host = urlsplit(url).hostname or "?"
    if is_upload(method, url):
        telemetry[host] += 1
        return True
    passed[host] += 1
    return False


def report() -> dict[str, dict[str, int]]:
    """Requests by host that were seen and were no model calls, for the log's tail."""
    found = {"other_traffic": dict(passed), "telemetry": dict(telemetry)}
    return {name: hosts for name, hosts in found.items() if hosts}
