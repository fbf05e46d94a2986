"""pytest plugin: a test records its model calls once and replays them ever after.

    @pytest.mark.lctl("cassettes/checkout.lctl.json")
    def test_checkout(): ...

The cassette is an ordinary log. Loaded by pytest in every run where lctl is installed, so nothing of lctl
is imported until a test asks for a cassette.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from lctl.rerun.cassette import Cassette

_MODES = {
    "none": "replay; a test without a cassette, or a call that is not in it, fails",
    "once": "replay where there is a cassette, else record it (the default)",
    "new": "replay what is in the cassette, make and add what is missing",
    "all": "record anew",
}
_ADVICE = "record the test anew with --lctl-record=all, or add what is missing with --lctl-record=new"
_unused = pytest.StashKey[list[str]]()
_recorded = pytest.StashKey[dict[str, str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("lctl", "lctl: recorded model calls")
    said = "; ".join(f"{name}: {what}" for name, what in _MODES.items())
    group.addoption("--lctl-record", choices=tuple(_MODES), default=None, help=said)
    parser.addini("lctl_record", f"how tests marked lctl run: {', '.join(_MODES)}", default="once")
    parser.addini("lctl_cassettes", "folder of unnamed cassettes, beside the test file", default="cassettes")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "lctl(path=None, *, record=None, policy='strict', ambient=False): record the test's model calls and "
        "tools into a cassette once, and replay them ever after",
    )
    config.stash[_unused] = []
    config.stash[_recorded] = {}


@pytest.fixture
def lctl_tape(request: pytest.FixtureRequest) -> Cassette:
    """The test's cassette; asking for it is the same as the mark `lctl` without arguments."""
    cassette: Cassette = _cassette_of(request.node)
    return cassette


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    asked = item.get_closest_marker("lctl") is not None or "lctl_tape" in getattr(item, "fixturenames", ())
    if not asked:
        return (yield)
    from lctl.errors import LctlError, RerunStopped

    cassette = _cassette_of(item)
    said: str | None = None
    result: Any = None
    try:
        with cassette:
            result = yield
    except RerunStopped as error:
        said = f"{cassette.path}\n{_without_options(str(error))}\n\n  {_ADVICE}"
    except LctlError as error:
        said = str(error)
    finally:
        item.config.stash[_unused] += cassette.unused
    if said is not None:
        pytest.fail(said, pytrace=False)
    return result


def _without_options(text: str) -> str:
    """Without the last paragraph, which names options of `lctl rerun`."""
    body, _, last = text.rpartition("\n\n")
    return body if last.lstrip().startswith("--") else text


def _cassette_of(item: Any) -> Cassette:
    """The one of this test, made when first asked for."""
    found: Cassette | None = item.__dict__.get("_lctl_cassette")
    if found is None:
        from lctl.rerun import cassette

        mark = item.get_closest_marker("lctl")
        given = dict(mark.kwargs) if mark else {}
        if mark and mark.args:
            given["path"] = mark.args[0]
        mode: Any = (
            given.pop("record", None)
            or item.config.getoption("--lctl-record")
            or str(item.config.getini("lctl_record"))
        )
        try:
            found = cassette.of_test(
                item.path, item.name, folder=str(item.config.getini("lctl_cassettes")), mode=mode, **given
            )
            _claim(item, str(found.path))
        except (TypeError, cassette.LctlError) as error:
            said = str(error).replace("Cassette.__init__()", "it")
            raise pytest.fail.Exception(f"@pytest.mark.lctl on {item.name}: {said}", pytrace=False) from None
        item.__dict__["_lctl_cassette"] = found
    return found


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
