"""Options of the whole test suite."""

from __future__ import annotations

import compileall
import gc
import os
import signal
import sys
from collections.abc import Generator, Iterator
from itertools import compress
from operator import not_
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, seed, settings

from tests.clients import close_all
from tests.seeds import CHOSEN, each, tries, variants

# How long something takes here says nothing: other programs run as well. The same examples in each run, so
# that a failure is the change's; HYPOTHESIS_PROFILE=explore looks for new ones, LCTL_EXAMPLES=1 has others,
# and the same in each run.
_CALM = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=tries(100))
settings.register_profile("lctl", _CALM, derandomize=True)
settings.register_profile("explore", _CALM)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "lctl"))

# What a shell starts in the background ignores Ctrl-C and passes that on: tests that press it would hang.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    """The package is compiled once, before hundreds of programs import it. None of those writes bytecode:
    some find the disk full, and would leave half a file. What is collected is compiled for the next run."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        import lctl
        import lctl_integrations

        for package in (lctl, lctl_integrations):
            compileall.compile_dir(package.__path__[0], quiet=2, workers=os.cpu_count() or 1)
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    os.environ.pop("PYTHONUNBUFFERED", None)  # of a shell: no more than others do tests' programs print by it
    # Each client of an SDK reads whom it trusts, a tenth of a run's time for servers that speak plain HTTP.
    os.environ["SSL_CERT_FILE"] = str(Path(__file__).with_name("nobody.pem"))
    if "PYTEST_XDIST_WORKER" not in os.environ:
        from tests.warm.starting import start

        end = start(default=bool(config.getoption("numprocesses", None)))  # of one test it is no gain
        if end is not None:
            config.add_cleanup(end)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported is no garbage, and looking through it takes a seventh of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, Any, Any]:
    """Every other process of several comes from the other end: what one has compiled by then, for what its
    assertions say, is a half of all that the other need not."""
    report = yield
    if isinstance(collector, pytest.Directory) and _comes_from_the_end():
        report.result.reverse()
    return report


def _comes_from_the_end() -> bool:
    return os.environ.get("PYTEST_XDIST_WORKER", "gw0")[-1] in "13579"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In the order of any other process; what takes long goes first: none of several is left alone with it in
    the end."""
    order = {path: n for n, path in enumerate(sorted({item.path for item in items}))}
    items.sort(key=lambda item: (item.get_closest_marker("long") is None, order[item.path]))
    taken = variants(item.nodeid.partition("[")[0] for item in items)
    taken = [a and b for a, b in zip(taken, each(item.nodeid for item in items), strict=True)]
    config.hook.pytest_deselected(items=list(compress(items, map(not_, taken))))
    items[:] = compress(items, taken)
    if CHOSEN is not None:
        tests = [item.obj for item in items if isinstance(item, pytest.Function)]
        for tried in filter(is_hypothesis_test, tests):
            seed(CHOSEN)(getattr(tried, "__func__", tried))


def pytest_collection_finish() -> None:
    """Tests collect garbage to see what becomes of it; the modules and tests themselves are none, and looking
    through them takes a tenth of a second each time. Where nobody asks, it is looked for less often, which is
    a tenth of what tests of folds take."""
    sys.dont_write_bytecode = True
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """What a test leaves in force, no later one meets, in whichever order they run: a session that is open is
    the parent of those to come, and a process that had two calls under way at once says with each later one
    in which turn of its loop it came. With another variable of a library's than the others have, all
    programs to come would start cold (`tests/warm`)."""
    before, environ = _open_sessions(), _environ()
    yield
    close_all()
    if environ != _environ():
        for name in [name for name in _environ() if name not in environ]:
            del os.environ[name]
        os.environ.update(environ)
    for session in _open_sessions():
        if session not in before:
            session.close()
    turns: Any = sys.modules.get("lctl.session.concurrency.turns")
    if turns is not None:
        turns.wanted = False
        turns.stop()


def _environ() -> dict[str, str]:
    """Less what pytest itself changes."""
    return {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}


def _open_sessions() -> list[Any]:
    ending: Any = sys.modules.get("lctl.session.ending")
    return [] if ending is None else list(ending._open)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write what was printed into tests/golden and docs/cli.md instead of comparing",
    )
