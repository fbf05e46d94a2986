"""Runs of pytest of their own, whose tests ask a server with random answers."""

from __future__ import annotations

from textwrap import dedent

import pytest

# Over plain HTTP: importing an SDK takes longer than a run of all else here. (One test below has it.)
_TEST = """
    import os
    import httpx
    import pytest

    def ask(text):
        asked = {"model": "m", "messages": [{"role": "user", "content": text}]}
        headers = {"authorization": "Bearer sk-proj-" + "a1B2" * 12}
        answer = httpx.post(os.environ["MODELS"] + "/chat/completions", json=asked, headers=headers)
        return answer.json()["choices"][0]["message"]["content"]
"""


# Other plugins that happen to be here take a second to import.
_WITHOUT = [f"-pno:{name}" for name in ("cacheprovider", "hypothesispytest", "inline_snapshot", "anyio")]


class Runs:
    """A test file, run again and again in processes of their own."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self._pytester = pytester
        self.folder = pytester.path

    def write(self, body: str, name: str = "test_it.py") -> None:
        (self.folder / name).write_text(dedent(_TEST + body))

    def run(self, *options: str) -> pytest.RunResult:
        return self._pytester.runpytest_subprocess(*_WITHOUT, *options)


def words(*texts: str) -> str:
    asked = "; ".join(f"print(ask({text!r}))" for text in texts)
    return f"""
    @pytest.mark.lctl("cassettes/it.lctl.json")
    def test_it():
        {asked}
"""


def said(result: pytest.RunResult) -> list[str]:
    """What the test printed."""
    lines = result.outlines
    start = next(n for n, line in enumerate(lines) if "Captured stdout call" in line)
    return [line for line in lines[start + 1 :] if line and not line.startswith(("=", "-"))]
