"""Tools that are methods: what a call changed of its object is changed in a rerun, too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import pytest

from lctl.testing import Reply, Request
from lctl.testing.integration_suite import IntegrationSuite, Recorded

pytestmark = pytest.mark.frameworks


class Methods(IntegrationSuite):
    program = Path(__file__).parent / "programs" / "methods.py"

    def answer(self, request: Request) -> Any:
        done = len(request.tool_results)
        return "They are added." if done == 2 else Reply(tool_calls=[("add", {"name": ("ann", "bo")[done]})])

    def test_both_were_added(self, recorded: Recorded) -> None:
        answer, rows, names, totals = json.loads(recorded.out.splitlines()[-1])
        assert answer.strip() == "They are added."
        assert len(rows) == 2
        assert names == ["ann", "bo"]
        assert totals == {"count": 2, "letters": {"sum": 5}}
        assert len([event for event in recorded.events if event["type"] == "tool_call"]) == 2


class TestPydanticAI(Methods):
    integration = "pydantic_ai"
    requires = ("pydantic_ai", "openai")
    environ: ClassVar[dict[str, str]] = {"FRAMEWORK": "pydantic_ai"}


class TestAgentsSDK(Methods):
    integration = "agents"
    requires = ("agents",)
    environ: ClassVar[dict[str, str]] = {"FRAMEWORK": "agents"}


class TestLangChain(Methods):
    integration = "langchain_core"
    requires = ("langchain", "langchain_openai")
    environ: ClassVar[dict[str, str]] = {"FRAMEWORK": "langchain"}


class TestAgno(Methods):
    integration = "agno"
    requires = ("agno", "openai")
    environ: ClassVar[dict[str, str]] = {"FRAMEWORK": "agno"}


class TestStrands(Methods):
    integration = "strands"
    requires = ("strands", "openai")
    environ: ClassVar[dict[str, str]] = {"FRAMEWORK": "strands"}


class TestAgentFramework(Methods):
    integration = "agent_framework"
    requires = ("agent_framework", "openai")
    environ: ClassVar[dict[str, str]] = {"FRAMEWORK": "agent_framework"}


class TestHaystack(Methods):
    integration = "haystack"
    requires = ("haystack",)
    environ: ClassVar[dict[str, str]] = {"FRAMEWORK": "haystack"}


class TestAG2(Methods):
    integration = "ag2"
    requires = ("ag2",)
    environ: ClassVar[dict[str, str]] = {"FRAMEWORK": "ag2"}


class TestAutoGen(Methods):
    integration = "autogen_agentchat"
    requires = ("autogen_agentchat", "autogen_ext")
    environ: ClassVar[dict[str, str]] = {"FRAMEWORK": "autogen"}


class TestLlamaIndex(Methods):
    integration = "llama_index.core"
    requires = ("llama_index.core", "llama_index.llms.openai")
    environ: ClassVar[dict[str, str]] = {"FRAMEWORK": "llama_index"}
