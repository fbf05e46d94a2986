"""What the project promises about itself: names, imports, and documents that match the code."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import lctl
from tests.warm.starting import python_path

ROOT = Path(__file__).parents[1]
HEAVY = {
    "orjson", "msgspec", "wrapt", "rich", "click", "genai_prices", "asyncio", "openai", "anthropic",
    "httpx", "httpx2", "requests", "aiohttp", "yaml", "zstandard", "inspect", "dataclasses",
}  # fmt: skip


def loaded_by(code: str) -> set[str]:
    script = f"import sys\nbefore = set(sys.modules)\n{code}\nprint(*(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_lctl_loads_nothing_heavy() -> None:
    """`import lctl` costs next to nothing: no third-party module, no asyncio, no inspect."""
    assert not loaded_by("import lctl") & HEAVY


def test_recording_a_call_loads_nothing_that_reads_logs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trees, states and message graphs are loaded by who uses them, not by each recorded program."""
    monkeypatch.setenv("LCTL_DIR", str(tmp_path))
    monkeypatch.setenv("LCTL_QUIET", "1")
    code = (
        "import lctl; lctl.auto_instrument()\n"
        "from openai import OpenAI\n"
        "from lctl.testing import ModelServer\n"
        "with ModelServer() as server:\n"
        "    OpenAI(base_url=server.openai_url, api_key='x').chat.completions.create(\n"
        "        model='m', messages=[{'role': 'user', 'content': 'Hello'}])\n"
    )
    reading = ("lctl.analysis", "lctl.chain", "lctl.state", "lctl.conversation.forest")
    loaded = loaded_by(code)
    assert "lctl.instrument.calls" in loaded
    assert not [name for name in loaded if name.startswith((*reading, "lctl.session.messagegraph.graph"))]
    assert len(list(tmp_path.glob("*.lctl.json"))) == 1


def test_every_public_name_exists() -> None:
    """Each name of __all__ can be fetched, and dir() shows it."""
    for name in lctl.__all__:
        assert getattr(lctl, name) is not None, name
    assert set(lctl.__all__) <= set(dir(lctl))


def test_unknown_name_is_an_attribute_error() -> None:
    """A misspelt name fails as on any module."""
    assert not hasattr(lctl, "no_such_name")


def test_core_dependencies_are_few() -> None:
    """A new core dependency is a decision, not an accident."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {d.split(">")[0] for d in project["dependencies"]}
    assert names == {"orjson", "msgspec", "wrapt", "click", "rich", "genai-prices"}


def test_readme_has_both_commands() -> None:
    """The README shows the demo command and the test command that CI runs as printed."""
    readme = (ROOT / "README.md").read_text()
    assert "<!-- command: demo -->" in readme
    assert "<!-- command: test -->" in readme


def block(marker: str) -> str:
    """The fenced block of the README below `<!-- marker -->`."""
    readme = (ROOT / "README.md").read_text()
    found = re.search(rf"<!-- {marker} -->\n```\w*\n(.*?)\n```", readme, re.S)
    assert found is not None, marker
    return found[1]


def steady(text: str) -> str:
    """`text` without what differs from run to run: times, and the name of the log."""
    text = re.sub(r"\d+(\.\d+)?(ms|s)\b", "TIME", text)
    text = re.sub(r"\.lctl\S+\.lctl\.json", "LOG", text)
    return re.sub(r" {2,}", "  ", text)


def test_readme_shows_what_the_demo_prints(tmp_path: Path) -> None:
    """The output in the README is the demo's, but for times and the log's name."""
    pytest.importorskip("openai")
    pytest.importorskip("anthropic")
    environment = {**os.environ, "PYTHONPATH": python_path(ROOT, ROOT / "integrations")}
    done = subprocess.run(
        [sys.executable, "-m", "lctl", "demo"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert steady(done.stdout.strip()) == steady(block("output: demo").strip())


def test_readme_program_runs_as_printed(tmp_path: Path) -> None:
    """The README's longer program records a tool call and a fact in a step."""
    readme = (ROOT / "README.md").read_text()
    program = next(code for code in re.findall(r"```python\n(.*?)```", readme, re.S) if "LCTLSession" in code)
    (tmp_path / "program.py").write_text(program)
    (tmp_path / "app.py").write_text("cursor.execute(sql)\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "integrations")])}
    environment.pop("LCTL_DIR", None)
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    [log] = (tmp_path / ".lctl").glob("*.lctl.json")
    from lctl.codec import open_log

    types = [event.type for event in open_log(log).events()]
    assert types == ["step_start", "tool_call", "fact_added", "step_end"]


def _anchors(page: Path) -> set[str]:
    """What its headings are called in a link, as GitHub makes it of their words."""
    heads = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


def test_links_of_the_pages_lead_somewhere() -> None:
    """To a file that is there and a heading that it has; and every page can be found from the README."""
    found, waiting = {ROOT / "README.md"}, [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    for page in waiting:
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target, _, anchor in (one.partition("#") for one in re.findall(r"\]\(([^)\s]+)\)", text)):
            if target.partition(":")[0] in ("http", "https"):
                continue
            to = (page.parent / target).resolve() if target else page
            assert to.exists(), f"{page.name}: {target}"
            if to.suffix == ".md":
                assert not anchor or anchor in _anchors(to), f"{page.name}: {target}#{anchor}"
                if to not in found:
                    found.add(to)
                    waiting.append(to)
    assert set((ROOT / "docs").glob("*.md")) <= found
