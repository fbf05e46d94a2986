"""pytest plugin: a test records its model calls once and replays them ever after.

    @pytest.mark.lctl("cassettes/checkout.lctl.json")
    def test_checkout(): ...

The cassette is an ordinary log. Loaded by pytest in every run where lctl is installed, so next to nothing
of lctl is imported until a test asks for a cassette.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from lctl.rerun.testing import cassettefiles
from lctl.rerun.testing.cassettefiles import older_place
from lctl.rerun.testing.shared import Shared
from lctl.rerun.testing.telling import told

if TYPE_CHECKING:
    from pathlib import Path

    from lctl.rerun.testing.cassette import Cassette

_MODES = {
    "none": "replay; a test without a cassette, or a call that is not in it, fails",
    "once": "replay where there is a cassette, else record it (the default)",
    "new": "replay what is in the cassette, make and add what is missing",
    "all": "record anew",
}
_unused = pytest.StashKey[list[str]]()
_recorded = pytest.StashKey[dict[str, str]]()
_first = pytest.StashKey[dict[str, str]]()
_passed = pytest.StashKey[bool]()
_said = pytest.StashKey[str]()
_shared = pytest.StashKey[Shared]()
_running = pytest.StashKey[set[str]]()


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    _leave_unrewritten(pluginmanager)
    group = parser.getgroup("lctl", "lctl: recorded model calls")
    said = "; ".join(f"{name}: {what}" for name, what in _MODES.items())
    group.addoption("--lctl-record", choices=tuple(_MODES), default=None, help=said)
    parser.addini("lctl_record", f"how tests marked lctl run: {', '.join(_MODES)}", default="once")
    parser.addini("lctl_cassettes", "folder of unnamed cassettes, beside the test file", default="cassettes")


def _leave_unrewritten(pluginmanager: pytest.PytestPluginManager) -> None:
    """pytest compiles all modules of a plugin's distribution anew, for what its assertions say: of lctl
    hundreds, a second of each run that may not write bytecode. Only the integration suite's are a test's.
    pytest has no public way to say so; where this one is gone, runs are as slow as they were."""
    hook = getattr(pluginmanager, "rewrite_hook", None)
    marked = getattr(hook, "_must_rewrite", None)
    known = getattr(hook, "_marked_for_rewrite_cache", None)
    if isinstance(marked, set) and isinstance(known, dict):
        marked -= {name for name in marked if name.partition(".")[0] in ("lctl", "lctl_integrations")}
        marked.add("lctl.testing.integration_suite")
        known.clear()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "lctl(path=None, *, record=None, policy='strict', ambient=False): record the test's model calls and "
        "tools into a cassette once, and replay them ever after",
    )
    config.stash[_unused] = []
    config.stash[_recorded] = {}
    config.stash[_first] = {}
    config.stash[_shared] = Shared()
    config.stash[_running] = set()


@pytest.fixture
def lctl_tape(request: pytest.FixtureRequest) -> Cassette:
    """The test's cassette; asking for it is the same as the mark `lctl` without arguments."""
    cassette: Cassette = _cassette_of(request.node)
    return cassette


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item], config: pytest.Config) -> None:
    """Note whose the cassettes are that tests had in common once, before tests are left out."""
    for item in items:
        if _asks(item):
            config.stash[_first].setdefault(str(older_place(*_named(item))), item.nodeid)
    config.stash[_shared].learn(filter(_asks, items))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_fixture_setup(fixturedef: Any, request: pytest.FixtureRequest) -> Generator[None, Any, Any]:
    """What is made anew for each test is a part of it; what tests share has cassettes of its own."""
    item, config = request.node, request.config
    if fixturedef.scope != "function" and not config.stash[_running]:
        return (
            yield from config.stash[_shared].set_up(
                fixturedef,
                request,
                _mode(config),
                str(config.getini("lctl_cassettes")),
                config.stash[_unused],
            )
        )
    if fixturedef.scope != "function" or not isinstance(item, pytest.Item) or not _asks(item):
        return (yield)
    try:
        with _told(item):
            _begun(item)
            return (yield)
    except pytest.fail.Exception as error:
        if fixturedef.cached_result is None:  # else pytest takes it for one that was never set up
            fixturedef.cached_result = (None, fixturedef.cache_key(request), (error, error.__traceback__))
        raise


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    if not _asks(item):
        return (yield)
    with _told(item):
        cassette = _begun(item)
        cassette.turn_to("call")
        try:
            result = yield
            cassette.check()
        except BaseException:
            if refused := cassette.refused():
                item.add_report_section("call", "lctl", refused)
            raise
        finally:
            cassette.turn_to("tear-down")
        item.stash[_passed] = True
        return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, Any, Any]:
    if not _asks(item):
        return (yield)
    with _told(item, tearing_down=True):
        return (yield)


def _asks(item: pytest.Item) -> bool:
    return item.get_closest_marker("lctl") is not None or "lctl_tape" in getattr(item, "fixturenames", ())


def _begun(item: pytest.Item) -> Cassette:
    """The test's cassette, recording or replaying until what is set up from now on is torn down."""
    cassette = _cassette_of(item)
    if not cassette.is_running:
        item.stash[_passed], item.stash[_said] = False, ""
        cassette.begin()
        item.config.stash[_running].add(item.nodeid)
        item.addfinalizer(lambda: _end(item, cassette))
    return cassette


def _end(item: pytest.Item, cassette: Cassette) -> None:
    try:
        cassette.end(passed=item.stash[_passed])
    finally:
        item.config.stash[_running].discard(item.nodeid)
        item.config.stash[_unused] += cassette.unused


@contextmanager
def _told(item: pytest.Item, *, tearing_down: bool = False) -> Iterator[None]:
    """What a cassette has to say, without a traceback of ours."""

    def is_known(said: str) -> bool:
        before = item.stash.get(_said, "")
        item.stash[_said] = said
        return tearing_down and said == before  # a stopped replay refuses what tears the test down, too

    with told(lambda: _cassette_of(item).path, is_known):
        yield


def _cassette_of(item: Any) -> Cassette:
    """The one of this test, made when first asked for."""
    found: Cassette | None = item.__dict__.get("_lctl_cassette")
    if found is None:
        from lctl.errors import LctlError
        from lctl.rerun.testing import cassette

        mark = item.get_closest_marker("lctl")
        given = dict(mark.kwargs) if mark else {}
        mode: Any = given.pop("record", None) or _mode(item.config)
        test, folder, path = _named(item)
        given.pop("path", None)
        place, older = cassettefiles.place(test, folder, path), older_place(test, folder, path)
        if not place.exists() and older.exists() and _is_first(item, older):
            place = older
        try:
            found = cassette.Cassette(place, mode, **given)
        except (TypeError, LctlError) as error:
            said = str(error).replace("Cassette.__init__()", "it")
            raise pytest.fail.Exception(f"@pytest.mark.lctl on {item.name}: {said}", pytrace=False) from None
        found.base = partial(cassettefiles.base, item.config)
        _claim(item, str(place))
        item.__dict__["_lctl_cassette"] = found
    return found


def _mode(config: pytest.Config) -> str:
    return config.getoption("--lctl-record") or str(config.getini("lctl_record"))


def _named(item: pytest.Item) -> tuple[cassettefiles.Test, str, str | None]:
    """The test, the folder of unnamed cassettes, and the path its mark gives."""
    mark = item.get_closest_marker("lctl")
    path = None if mark is None else mark.args[0] if mark.args else mark.kwargs.get("path")
    classes = [node.name for node in item.listchain() if isinstance(node, pytest.Class)]
    test = cassettefiles.Test(item.path, classes, item.name, item.config.rootpath)
    return test, str(item.config.getini("lctl_cassettes")), path


def _is_first(item: pytest.Item, older: Path) -> bool:
    return item.config.stash[_first].get(str(older), item.nodeid) == item.nodeid


def _claim(item: Any, path: str) -> None:
    """Of two tests that name one cassette the second would replay the first one's calls."""
    owner = item.config.stash[_recorded].setdefault(path, item.nodeid)
    if owner != item.nodeid:
        pytest.fail(
            f"{path} is the cassette of {owner}, too; give each test its own (without a path each gets one)",
            pytrace=False,
        )


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    unused = config.stash[_unused]
    if unused:
        terminalreporter.section("lctl: recorded, but not used", sep="-", yellow=True)
        for line in unused:
            terminalreporter.line(line)
        terminalreporter.line("Record anew with --lctl-record=all where the program asks for less now.")
