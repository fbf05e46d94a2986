"""What `lctl doctor` says of libraries."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from tests.unit.cli.conftest import process

_METADATA = "Metadata-Version: 2.1\nName: semantic-kernel\nVersion: 1.40.0\n"


@pytest.mark.parametrize(
    ("line", "is_failure"), [("import a_library_not_here", False), ("import semantic_kernel.gone", True)]
)
def test_a_part_for_a_library_that_is_not_here_is_no_failure(
    place: Path, line: str, is_failure: bool
) -> None:
    """Such as Semantic Kernel's for AutoGen's agents; a part that lacks one of its own is."""
    part = place / "semantic_kernel/agents/autogen/autogen_conversable_agent.py"
    part.parent.mkdir(parents=True)
    part.write_text(line)
    for folder in (part.parent, part.parents[1], part.parents[2]):
        (folder / "__init__.py").touch()
    (place / "semantic_kernel-1.40.0.dist-info").mkdir()
    (place / "semantic_kernel-1.40.0.dist-info" / "METADATA").write_text(_METADATA)
    got = process("doctor", "--json", cwd=place)
    [found] = [one for one in orjson.loads(got.out)["libraries"] if one["name"] == "semantic-kernel"]
    assert (found["version"], (found["failure"] or "").startswith("cannot be imported")) == (
        "1.40.0",
        is_failure,
    )
