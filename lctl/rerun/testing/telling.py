"""What pytest is told of a cassette, without a traceback of ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_ADVICE = "record the test anew with --lctl-record=all, or add what is missing with --lctl-record=new"


@contextmanager
def told(path: Callable[[], Path], is_known: Callable[[str], bool] | None = None) -> Iterator[None]:
    """Raises `pytest.fail.Exception` in place of what lctl raises.

    Args:
        path: of the cassette.
        is_known: whether this need not be said.
    """
    from lctl.errors import LctlError, RerunStopped

    try:
        yield
        return
    except RerunStopped as error:
        said = f"{path()}\n{_without_options(str(error))}\n\n  {_ADVICE}"
    except LctlError as error:
        said = str(error)
    if is_known is None or not is_known(said):
        raise pytest.fail.Exception(said, pytrace=False) from None


def _without_options(text: str) -> str:
    """Without the last paragraph, which names options of `lctl rerun`."""
    body, _, last = text.rpartition("\n\n")
    is_advice = last.lstrip().startswith("--") and not last.lstrip().startswith("---")  # which begins a diff
    return body if is_advice else text
