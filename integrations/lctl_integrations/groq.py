"""groq: the logical call above the client's retries, and the client's own exceptions.

The client comes out of the same generator as openai's, so what is patched is the same. What was asked and
answered is read on the wire, in OpenAI's format.
"""

from __future__ import annotations

from lctl_integrations.openai import OpenAI


class Groq(OpenAI):
    """groq 0.9 and 1, on httpx."""

    name = "groq"
    supported = ">=0.9,<2"
    modules = ("groq._base_client",)
