"""Options of the whole test suite."""

from __future__ import annotations

import signal

import pytest

# What a shell starts in the background ignores Ctrl-C and passes that on: tests that press it would hang.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write what was printed into tests/golden and docs/cli.md instead of comparing",
    )
