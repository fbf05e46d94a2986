"""What tests share: fixtures of wider scope that ask a model have cassettes of their own."""

from __future__ import annotations

import pytest

from lctl.chain import Chain
from lctl.testing import ModelServer
from tests.rerun.pytestruns import Runs, said

pytest_plugins = ("pytester",)
pytestmark = pytest.mark.slow

_SHARED = """
    import unittest

    pytestmark = pytest.mark.lctl

    @pytest.fixture(scope="session", params=["black", "green"])
    def tea(request):
        return ask(f"{request.param} tea")

    @pytest.fixture(scope="module")
    def cake(cake):
        return cake + ask("with a spoon")

    def test_tea(tea):
        print(ask(tea))

    def test_cake(cake):
        print(ask(cake))

    class TestBill:
        @classmethod
        def setup_class(cls):
            cls.sum = ask("the bill")

        def test_sum(self):
            print(ask(self.sum))

        def test_tip(self):
            print(ask("a tip on " + self.sum))

    class TestUnit(unittest.TestCase):
        @classmethod
        def setUpClass(cls):
            cls.unit = ask("a unit")

        def test_unit(self):
            print(ask(self.unit))
"""
_CONFTEST = """
    @pytest.fixture(scope="module")
    def cake():
        return ask("cake")
"""
_CASSETTES = {
    "fixture.tea[0].lctl.json": 1,
    "fixture.tea[1].lctl.json": 1,
    "test_it/fixture.cake.lctl.json": 1,
    "test_it/_fixture.cake.lctl.json": 1,
    "test_it/TestBill.fixture.setup_class.lctl.json": 1,
    "test_it/TestUnit.fixture.setUpClass.lctl.json": 1,
}


def _shared(runs: Runs) -> dict[str, int]:
    """Cassettes of what is shared, and how many calls each has."""
    folder = runs.folder / "cassettes"
    return {
        path.relative_to(folder).as_posix(): Chain.load(path).state.totals.llm_calls
        for path in folder.rglob("*fixture*.lctl.json")
    }


def test_what_tests_share_is_recorded_once_and_replayed(runs: Runs, server: ModelServer) -> None:
    runs.write(_CONFTEST, "conftest.py")
    runs.write(_SHARED)
    runs.run().assert_outcomes(passed=6)
    assert _shared(runs) == _CASSETTES
    asked = len(server.requests)
    assert asked == 12
    server.close()
    runs.run("--lctl-record=none").assert_outcomes(passed=6)
    runs.run("--lctl-record=none", "-k", "tip or green").assert_outcomes(passed=2, deselected=4)


def test_what_asks_no_model_has_none_and_goes_on_as_ever(runs: Runs, server: ModelServer) -> None:
    runs.write("""
    import subprocess, sys

    @pytest.fixture(scope="module")
    def reached():
        return httpx.get(os.environ["MODELS"] + "/models").status_code

    @pytest.fixture(scope="module")
    def started():
        program = "import test_it; print(test_it.ask('from a process'))"
        return subprocess.check_output([sys.executable, "-c", program])

    @pytest.mark.lctl
    def test_it(reached, started):
        assert reached and started
        print(ask("one"))
""")
    for _ in range(2):
        runs.run().assert_outcomes(passed=1)
    assert _shared(runs) == {}
    assert [request.last_text for request in server.requests if request.path.endswith("completions")] == [
        "from a process",
        "one",
        "from a process",
    ]


def test_a_fixture_that_asks_something_else_is_told_by_each_test(
    runs: Runs, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CI", "BUILD_NUMBER"):  # with these the summary repeats what failed
        monkeypatch.delenv(name, raising=False)
    text = """
    @pytest.fixture(scope="module")
    def tea():
        return ask("tea")

    @pytest.mark.lctl
    def test_one(tea):
        print(ask("one"))

    @pytest.mark.lctl
    def test_two(tea):
        print(ask("two"))

    def test_without(tea):
        pass
"""
    runs.write(text)
    runs.run().assert_outcomes(passed=3)
    cassette = runs.folder / "cassettes/test_it/fixture.tea.lctl.json"
    before = cassette.read_bytes()
    runs.write(text.replace('"tea"', '"coffee"'))
    result = runs.run()
    result.assert_outcomes(errors=3)
    lines = "\n".join(result.outlines)
    assert lines.count("ERROR test_it.py::") == 3
    assert lines.count("+  coffee") == 3
    assert "fixture.tea.lctl.json" in lines
    assert "Traceback" not in lines
    assert cassette.read_bytes() == before
    runs.run("--lctl-record=new").assert_outcomes(passed=3)
    runs.run("--lctl-record=none").assert_outcomes(passed=3)


def test_one_that_fails_leaves_none(runs: Runs, server: ModelServer) -> None:
    runs.write("""
    @pytest.fixture(scope="module")
    def tea():
        raise ValueError(ask("tea"))

    @pytest.mark.lctl
    def test_one(tea):
        pass
""")
    runs.run().assert_outcomes(errors=1)
    assert _shared(runs) == {}
    assert not list(runs.folder.rglob("*.part"))


def test_of_tests_without_cassettes_nothing_is_recorded(runs: Runs, server: ModelServer) -> None:
    runs.write("""
    @pytest.fixture(scope="module")
    def tea():
        return ask("tea")

    def test_one(tea):
        print(tea)

    @pytest.mark.lctl
    def test_two():
        print(ask("two"))
""")
    for _ in range(2):
        result = runs.run("-rP")
        result.assert_outcomes(passed=2)
        assert said(result)
    assert _shared(runs) == {}
    assert [request.last_text for request in server.requests] == ["tea", "two", "tea"]
