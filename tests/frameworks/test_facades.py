"""`lctl.langchain` by itself, and what importing lctl does not load."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from lctl.codec import open_log
from lctl.testing.outline import outline

pytestmark = pytest.mark.frameworks

HANDLER = """
import json, sys
from lctl.langchain import LCTLCallbackHandler
from lctl import LCTLSession
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda

chain = ChatPromptTemplate.from_template("Say {word}") | FakeListChatModel(responses=["fake"])
chain = chain | RunnableLambda(lambda message: message.content, name="read")
if sys.argv[1] == "session":
    with LCTLSession("mine", "mine.lctl.json") as session:
        chain.invoke({"word": "inside"})
    other = LCTLSession("other", "other.lctl.json")
    handler = LCTLCallbackHandler(other)
else:
    handler = LCTLCallbackHandler()
print(chain.invoke({"word": "hello"}, config={"callbacks": [handler]}))
if sys.argv[1] == "session":
    other.close()
"""


def run(folder: Path, *words: str) -> str:
    if importlib.util.find_spec("langchain_core") is None:
        pytest.skip("langchain_core not installed")
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


LINES = ["chain main: RunnableSequence", "  llm main: llm", "  chain main: read"]


def test_the_handler_records_without_auto_instrument(tmp_path: Path) -> None:
    """Into the program's own log, once, though instrumentation has a handler in place as well."""
    assert run(tmp_path, HANDLER, "alone") == "fake\n"
    [path] = (tmp_path / ".lctl").glob("*.lctl.json")
    assert outline([event.to_dict() for event in open_log(path).events()]) == LINES


def test_the_handler_records_into_a_session_of_ones_own(tmp_path: Path) -> None:
    """What it is given to goes there, and what runs in another session does not."""
    assert run(tmp_path, HANDLER, "session") == "fake\n"
    for name in ("mine", "other"):
        events = open_log(tmp_path / f"{name}.lctl.json").events()
        assert outline([event.to_dict() for event in events]) == LINES, name
    assert not (tmp_path / ".lctl").exists()


def test_nothing_is_loaded_before_the_program_loads_it(tmp_path: Path) -> None:
    """Neither `import lctl` nor auto_instrument() imports a framework."""
    frameworks = ["agents", "langchain", "langchain_core", "langgraph", "pydantic_ai", "openai", "wrapt"]
    code = (
        "import sys, json, lctl; first = set(sys.modules); lctl.auto_instrument();"
        f"print(json.dumps([name for name in {frameworks!r} if name in sys.modules]))"
    )
    assert json.loads(run(tmp_path, code)) == []
