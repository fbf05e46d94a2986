"""LangChain and LangGraph: `chain.invoke(input, config={"callbacks": [LCTLCallbackHandler()]})`."""

from __future__ import annotations

try:
    from lctl_integrations.langchain_handler import LCTLCallbackHandler
except ModuleNotFoundError as error:
    if error.name is None or not error.name.startswith("langchain_core"):
        raise
    raise ModuleNotFoundError(
        "lctl.langchain needs langchain-core: pip install langchain-core", name=error.name
    ) from None

__all__ = ["LCTLCallbackHandler"]
