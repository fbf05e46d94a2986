"""The pytest plugin, in pytest runs of its own against a server with random answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from lctl.chain import Chain
from lctl.testing import ModelServer
from tests.rerun.pytestruns import Runs, said, words

pytest_plugins = ("pytester",)
pytestmark = pytest.mark.slow


def test_recorded_once_and_replayed_ever_after(runs: Runs, server: ModelServer) -> None:
    runs.write(words("one", "two"))
    first = runs.run("-rP")
    first.assert_outcomes(passed=1)
    assert server.count == 2
    server.close()
    again = runs.run("-rP")
    again.assert_outcomes(passed=1)
    assert said(again) == said(first)
    cassette = runs.folder / "cassettes" / "it.lctl.json"
    assert Chain.load(cassette).state.totals.llm_calls == 2
    assert b"a1B2a1B2" not in cassette.read_bytes()


def test_a_mismatch_shows_both_requests_and_changes_nothing(runs: Runs, server: ModelServer) -> None:
    runs.write(words("one"))
    runs.run().assert_outcomes(passed=1)
    before = (runs.folder / "cassettes" / "it.lctl.json").read_bytes()
    runs.write(words("another"))
    failed = runs.run()
    failed.assert_outcomes(failed=1)
    failed.stdout.fnmatch_lines(["*cassettes/it.lctl.json*", "*-*one", "*+*another", "*--lctl-record=all*"])
    failed.stdout.no_fnmatch_line("*During handling*")
    assert server.count == 1
    assert (runs.folder / "cassettes" / "it.lctl.json").read_bytes() == before


_PRICES = """
    import lctl

    @lctl.tool
    def price(item):
        return 2

    @pytest.mark.lctl("cassettes/it.lctl.json")
    def test_it():
        assert price("{item}") == 2
"""


def test_a_mismatch_shows_both_calls_of_a_tool(runs: Runs, server: ModelServer) -> None:
    runs.write(_PRICES.replace("{item}", "pen"))
    runs.run().assert_outcomes(passed=1)
    runs.write(_PRICES.replace("{item}", "pencil"))
    failed = runs.run()
    failed.assert_outcomes(failed=1)
    failed.stdout.fnmatch_lines(['*- *"item": "pen"', '*+ *"item": "pencil"', "*--lctl-record=all*"])
    failed.stdout.no_fnmatch_line("*--on-miss*")


def test_a_mismatch_the_program_swallows_fails_all_the_same(runs: Runs, server: ModelServer) -> None:
    runs.write(words("one"))
    runs.run().assert_outcomes(passed=1)
    runs.write("""
    @pytest.mark.lctl("cassettes/it.lctl.json")
    def test_it():
        try:
            ask("another")
        except BaseException:
            pass
""")
    runs.run().assert_outcomes(failed=1)


def test_none_never_records(runs: Runs, server: ModelServer) -> None:
    runs.write(
        words("one")
        + """
    @pytest.fixture
    def ready():
        return ask("ready")

    @pytest.mark.lctl
    def test_two(ready):
        pass

    @pytest.mark.lctl
    def test_three(ready):
        pass
"""
    )
    refused = runs.run("--lctl-record=none")
    refused.assert_outcomes(failed=1, errors=2)
    refused.stdout.fnmatch_lines(["*no such cassette*--lctl-record=once*"] * 3)
    refused.stdout.no_fnmatch_line("*AssertionError*")
    assert server.count == 0


def test_new_adds_what_is_missing(runs: Runs, server: ModelServer) -> None:
    runs.write(words("one"))
    first = said(runs.run("-rP"))
    runs.write(words("one", "two"))
    added = runs.run("-rP", "--lctl-record=new")
    assert server.count == 2
    assert said(added)[0] == first[0]
    assert said(runs.run("-rP", "--lctl-record=none")) == said(added)


def test_all_records_anew(runs: Runs, server: ModelServer) -> None:
    runs.write(words("one"))
    first = said(runs.run("-rP"))
    assert said(runs.run("-rP", "--lctl-record=all")) != first
    assert server.count == 2


def test_what_is_not_asked_for_any_more_is_reported(runs: Runs, server: ModelServer) -> None:
    runs.write(words("one", "two"))
    runs.run().assert_outcomes(passed=1)
    runs.write(words("one"))
    fewer = runs.run()
    fewer.assert_outcomes(passed=1)
    fewer.stdout.fnmatch_lines(["*recorded, but not used*", "*it.lctl.json: event *"])


def test_a_test_that_fails_leaves_no_cassette(runs: Runs, server: ModelServer) -> None:
    runs.write(words("one") + "        assert False\n")
    runs.run().assert_outcomes(failed=1)
    assert not list(Path(runs.folder).rglob("*.lctl.json"))


def test_each_set_of_parameters_has_its_own(runs: Runs, server: ModelServer) -> None:
    runs.write("""
    @pytest.mark.lctl
    @pytest.mark.parametrize("text", ["one", "two/three"])
    def test_it(text):
        print(ask(text))

    def test_by_fixture(lctl_tape):
        assert lctl_tape.path.name == "test_by_fixture.lctl.json"
        ask("four")
""")
    runs.run("-n", "2").assert_outcomes(passed=3)
    names = {str(path.relative_to(runs.folder)) for path in Path(runs.folder).rglob("*.lctl.json")}
    assert names == {
        "cassettes/test_it/test_it[one].lctl.json",
        "cassettes/test_it/test_it[two_three]~9e652ae2.lctl.json",
        "cassettes/test_it/test_by_fixture.lctl.json",
    }
    server.close()
    runs.run("-n", "2").assert_outcomes(passed=3)


def test_two_tests_do_not_share_one(runs: Runs, server: ModelServer) -> None:
    runs.write(words("one") + words("two").replace("def test_it", "def test_other"))
    shared = runs.run()
    shared.assert_outcomes(passed=1, failed=1)
    shared.stdout.fnmatch_lines(["*is the cassette of test_it.py::test_it, too*"])


def test_unnamed_cassettes_of_tests_that_are_alike(runs: Runs, server: ModelServer) -> None:
    """Classes, odd characters and folders count; a cassette of before that is its first test's."""
    alike = """
    @pytest.mark.lctl
    class TestBuy:
        def test_it(self):
            print(ask("buy"))

    @pytest.mark.lctl
    class TestSell:
        class TestAll:
            def test_it(self):
                print(ask("sell"))

    @pytest.mark.lctl
    @pytest.mark.parametrize("q", ["a/b", "a b", "x" * 300])
    def test_q(q):
        print(ask(q))
"""
    for folder in ("one", "two"):
        (runs.folder / folder).mkdir()
        runs.write(alike, f"{folder}/test_it.py")
    options = ("-rP", "--import-mode=importlib", "-o", f"lctl_cassettes={runs.folder / 'all'}")
    first = runs.run(*options)
    first.assert_outcomes(passed=10)
    assert len(list(runs.folder.rglob("*.lctl.json"))) == 10
    names = {path.name for path in (runs.folder / "all" / "one" / "test_it").iterdir()}
    assert {"TestBuy.test_it.lctl.json", "TestSell.TestAll.test_it.lctl.json"} < names
    server.close()
    again = runs.run(*options, "--lctl-record=none")
    again.assert_outcomes(passed=10)
    assert said(again) == said(first)

    before = runs.folder / "all" / "test_it" / "test_it.lctl.json"
    before.parent.mkdir()
    (runs.folder / "all" / "one" / "test_it" / "TestBuy.test_it.lctl.json").rename(before)
    runs.run(*options, "--lctl-record=none", "one").assert_outcomes(passed=5)
    (runs.folder / "all" / "one" / "test_it" / "TestSell.TestAll.test_it.lctl.json").unlink()
    runs.run(*options, "--lctl-record=none", "one", "-k", "TestSell").assert_outcomes(failed=1)
