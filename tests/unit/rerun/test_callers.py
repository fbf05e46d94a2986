"""Whose doing something is, in a rerun."""

from pathlib import Path

import lctl
from lctl.rerun import callers


def test_the_parts_of_lctl_that_run_the_programs_code_are_where_it_is_said() -> None:
    """By path: code that one of them runs would be taken for lctl's own if it moved."""
    here = Path(lctl.__file__).parent
    assert [part for part in callers.THROUGH if not (here / part).exists()] == []
