"""Provider codecs: from the bytes of one model call to what was asked and what was answered.

Codecs are pure functions of bytes: they touch no session, no clock, no SDK. `model.py` has the
values, each provider module has one `Codec`, `find` chooses.
"""

from __future__ import annotations

from collections.abc import Mapping

from lctl.instrument.codecs.anthropic import Anthropic
from lctl.instrument.codecs.assistants import Assistants
from lctl.instrument.codecs.bedrock import Bedrock
from lctl.instrument.codecs.bedrockagents import BedrockAgents
from lctl.instrument.codecs.cohere import Cohere
from lctl.instrument.codecs.cohere1 import Cohere1
from lctl.instrument.codecs.dashscope import DashScope
from lctl.instrument.codecs.google import Google
from lctl.instrument.codecs.interactions import Interactions
from lctl.instrument.codecs.invoke import InvokeModel
from lctl.instrument.codecs.mistral import Mistral
from lctl.instrument.codecs.model import Codec, ModelAnswer, ModelRequest
from lctl.instrument.codecs.ollama import Ollama
from lctl.instrument.codecs.openai import OpenAI
from lctl.instrument.codecs.paths import path_of
from lctl.instrument.codecs.prompted import Prompted
from lctl.instrument.codecs.replicate import Replicate
from lctl.instrument.codecs.tgi import TextGeneration
from lctl.instrument.codecs.watsonx import Watsonx

_CODECS: tuple[Codec, ...] = (
    Watsonx(),  # before OpenAI: its embeddings' path ends as theirs
    OpenAI(),
    Anthropic(),
    Google(),
    Interactions(),
    Bedrock(),
    InvokeModel(),
    BedrockAgents(),
    Ollama(),
    Cohere(),
    Cohere1(),
    DashScope(),
    Mistral(),
    Assistants(),
    Prompted(),
    Replicate(),
    TextGeneration(),  # last: some of its places are any path
)

# How the path of every known operation ends; all other traffic leaves at the first test.
_ENDINGS = (
    "completions",
    "responses",
    "embeddings",
    "messages",
    "_tokens",
    "/compact",
    "/invoke",
    "/invoke-with-response-stream",
    "awPredict",
    "enerateContent",
    ":countTokens",
    ":embedContent",
    ":batchEmbedContents",
    ":predict",
    "/interactions",
    "/converse",
    "/converse-stream",
    "/api/chat",
    "/api/generate",
    "/api/embed",
    "/v2/chat",
    "/v2/embed",
    "/v1/chat",
    "/v1/complete",
    "/embed",
    "/generate",
    "/generate_stream",
    "/generation",
    "/generation_stream",
    "/text/chat",
    "/text/chat_stream",
    "-embedding",
    "/decisions",
    "/invocations",
    "/count-tokens",
    "/conversations",
    "/feature-extraction",
    "/runs",
    "/submit_tool_outputs",
    "/text",
    "/predictions",
)
# A program calls few URLs, each very often.
_known: dict[str, tuple[Codec, str]] = {}


def find(method: str, url: str, headers: Mapping[str, str]) -> tuple[Codec, str] | None:
    """The codec and operation of a request, None for traffic that is no model call.

    By the path's shape alone, whatever the host. A request that only looks like one is told apart by
    its body: `read_request` raises ValueError.
    """
    if method != "POST":
        return None
    known = _known.get(url)
    if known is not None:
        return known
    path = path_of(url)
    if not path.endswith(_ENDINGS) and not _ends_with_a_name(path):
        return None
    for codec in _CODECS:
        operation = codec.operation(method, url, headers)
        if operation is not None:
            if len(_known) >= 256:  # URLs with something of their own in each
                _known.clear()
            _known[url] = codec, operation
            return codec, operation
    return None


def _ends_with_a_name(path: str) -> bool:
    """Of a conversation, of a model, of an agent's session, or of a host that has one model at its root."""
    return "/conversations/" in path or "/models/" in path or "/agents/" in path or path.count("/") == 2


__all__ = ["Codec", "ModelAnswer", "ModelRequest", "find"]
