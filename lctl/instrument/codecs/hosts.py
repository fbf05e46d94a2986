"""Which provider stands behind a host: who bills for the tokens, not which dialect it speaks."""

from __future__ import annotations

# Ids as price lists use them. A host ends with the key.
_PROVIDERS = {
    "api.openai.com": "openai",
    ".openai.azure.com": "azure",
    ".cognitiveservices.azure.com": "azure",
    ".services.ai.azure.com": "azure",
    "api.anthropic.com": "anthropic",
    ".amazonaws.com": "aws",
    "-aiplatform.googleapis.com": "google",
    "aiplatform.googleapis.com": "google",
    "generativelanguage.googleapis.com": "google",
    "api.groq.com": "groq",
    "api.mistral.ai": "mistral",
    "api.deepseek.com": "deepseek",
    "openrouter.ai": "openrouter",
    "api.x.ai": "x-ai",
    "api.together.xyz": "together",
    "api.fireworks.ai": "fireworks",
    "api.perplexity.ai": "perplexity",
    "api.cerebras.ai": "cerebras",
    "api.cohere.ai": "cohere",
    "api.cohere.com": "cohere",
    "api.novita.ai": "novita",
    "api.moonshot.ai": "moonshotai",
    "codestral.mistral.ai": "mistral",
    "api.voyageai.com": "voyageai",
    "api.writer.com": "writer",
    ".ml.cloud.ibm.com": "watsonx",
    "dashscope.aliyuncs.com": "dashscope",
    "dashscope-intl.aliyuncs.com": "dashscope",
    ".huggingface.co": "huggingface",
    ".huggingface.cloud": "huggingface",
}
_known: dict[str, str | None] = {}


def provider_of(url: str, default: str) -> str:
    """`default` (the dialect's own provider) for hosts that are not in the list, local ones above all."""
    if url in _known:
        return _known[url] or default
    start = url.find("://") + 3
    end = url.find("/", start)
    host = url[start : end if end > 0 else len(url)].rpartition("@")[2].partition(":")[0].lower()
    found = next((name for ending, name in _PROVIDERS.items() if host.endswith(ending)), None)
    if len(_known) >= 256:  # URLs with something of their own in each
        _known.clear()
    _known[url] = found
    return found or default
