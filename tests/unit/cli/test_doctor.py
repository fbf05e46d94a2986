"""What `lctl doctor` says of libraries."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from tests.unit.cli.conftest import process


def _install(place: Path, name: str, version: str, part: str, line: str) -> None:
    """A distribution with one module, in which stands one line."""
    path = place / f"{part.replace('.', '/')}.py"
    path.parent.mkdir(parents=True)
    path.write_text(line)
    for folder in path.relative_to(place).parents[:-1]:
        (place / folder / "__init__.py").touch()
    told = place / f"{name.replace('-', '_')}-{version}.dist-info"
    told.mkdir()
    (told / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


@pytest.mark.slow
def test_what_libraries_warn_of_as_they_are_imported_is_not_said(place: Path) -> None:
    """It is meant for who uses the library so."""
    warns = "import warnings; warnings.warn('Use another one.', DeprecationWarning, stacklevel=1)"
    _install(place, "semantic-kernel", "1.40.0", "semantic_kernel.agents.agent", warns)
    got = process("doctor", cwd=place, PYTHONWARNINGS="always")
    assert (got.code, got.err) == (0, "")


#: A part that says what to install for it.
_ASKS = """\
try:
    import a_library_not_here
except ImportError as error:
    raise ImportError("Install it.") from error
"""


@pytest.mark.slow
def test_a_part_for_a_library_that_is_not_here_is_no_failure(place: Path) -> None:
    """Such as Semantic Kernel's for AutoGen's agents; a part that lacks one of its own is."""
    autogen = "semantic_kernel.agents.autogen.autogen_conversable_agent"
    _install(place, "semantic-kernel", "1.40.0", autogen, "import a_library_not_here")
    _install(place, "pydantic-ai-slim", "2.60.0", "pydantic_ai.mcp", _ASKS)
    _install(place, "strands-agents", "1.20.0", "strands.models.gemini", "import strands.gone")
    got = process("doctor", "--json", cwd=place)
    told = {one["name"]: one["failure"] for one in orjson.loads(got.out)["libraries"] if one["version"]}
    assert (told["semantic-kernel"], told["pydantic-ai-slim"]) == (None, None)
    assert told["strands-agents"].startswith("cannot be imported (ModuleNotFoundError")
