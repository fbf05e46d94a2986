"""docs/training.md does what it says."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

from lctl.training.breaks import REASONS
from lctl.training.exporting import FORMATS
from lctl.training.failing import SKIPS

PAGE = (Path(__file__).parents[3] / "docs" / "training.md").read_text(encoding="utf-8")


def test_g13_the_example_prints_what_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    program = re.search(r"```python\n(.*?)```\n\nprints\n\n```\n(.*?)```", PAGE, re.DOTALL)
    assert program is not None
    printed, names = io.StringIO(), dict[str, Any]()
    with contextlib.redirect_stdout(printed):
        exec(compile(program[1], "docs/training.md", "exec"), names)
    names["client"].close()  # else its sockets are told of in whatever test is collected in
    assert printed.getvalue() == program[2]
    assert (tmp_path / "train.jsonl.manifest.json").exists()


def test_g14_every_reason_and_form_is_on_the_page() -> None:
    for name in (*REASONS, *SKIPS, *FORMATS):
        assert f"`{name}`" in PAGE or f'"{name}"' in PAGE, name
