"""The pytest plugin, in pytest runs of its own against a server with random answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from lctl.chain import Chain
from lctl.testing import ModelServer
from tests.rerun.harness import RERUNS

pytest_plugins = ("pytester",)
pytestmark = pytest.mark.slow

# Over plain HTTP: importing an SDK takes longer than a run of all else here. (One test below has it.)
_TEST = """
    import os
    import httpx
    import pytest

    def ask(text):
        asked = {"model": "m", "messages": [{"role": "user", "content": text}]}
        headers = {"authorization": "Bearer sk-proj-" + "a1B2" * 12}
        answer = httpx.post(os.environ["MODELS"] + "/chat/completions", json=asked, headers=headers)
        return answer.json()["choices"][0]["message"]["content"]
"""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    with ModelServer(random_answers=True) as server:
        monkeypatch.setenv("MODELS", server.openai_url)
        monkeypatch.delenv("LCTL_STRICT", raising=False)
        yield server


# Other plugins that happen to be here take a second to import.
_WITHOUT = [f"-pno:{name}" for name in ("cacheprovider", "hypothesispytest", "inline_snapshot", "anyio")]


class Runs:
    """A test file, run again and again in processes of their own."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self._pytester = pytester
        self.folder = pytester.path

    def write(self, body: str, name: str = "test_it.py") -> None:
        (self.folder / name).write_text(dedent(_TEST + body))

    def run(self, *options: str) -> pytest.RunResult:
        return self._pytester.runpytest_subprocess(*_WITHOUT, *options)


@pytest.fixture
def runs(pytester: pytest.Pytester) -> Runs:
    return Runs(pytester)


def words(*texts: str) -> str:
    asked = "; ".join(f"print(ask({text!r}))" for text in texts)
    return f"""
    @pytest.mark.lctl("cassettes/it.lctl.json")
    def test_it():
        {asked}
"""


def said(result: pytest.RunResult) -> list[str]:
    """What the test printed."""
    lines = result.outlines
    start = next(n for n, line in enumerate(lines) if "Captured stdout call" in line)
    return [line for line in lines[start + 1 :] if line and not line.startswith(("=", "-"))]


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


_FIXTURES = """
    import threading, tempfile

    @pytest.fixture(scope="module")
    def shared():
        return ask("shared")

    @pytest.fixture(autouse=True)
    def each(request, shared):
        said = []
        for n in range(2):
            one = threading.Thread(target=lambda n=n: said.append(ask(f"set up {n}")))
            one.start()
            one.join()
        yield said
        print("after", ask("tear down"))

    class TestAll:
        def setup_method(self):
            self.said = ask("method")

        @pytest.mark.lctl
        def test_it(self, each, tmp_path):
            (tmp_path / "x").write_text("x")
            print(tempfile.gettempdir(), self.said, *each)
            one = threading.Thread(target=lambda: print(ask("body")))
            one.start()
            one.join()
            assert FAILS is False
"""


def test_fixtures_of_a_test_are_in_its_cassette(runs: Runs, server: ModelServer) -> None:
    """Set up and torn down; what tests share is not: the first one alone would have it."""
    runs.write(_FIXTURES.replace("FAILS", "True"))
    runs.run().assert_outcomes(failed=1)
    assert not list(runs.folder.rglob("*.lctl.json*"))
    runs.write(_FIXTURES.replace("FAILS", "False"))
    first = runs.run("-rP")
    first.assert_outcomes(passed=1)
    asked = server.count
    again = runs.run("-rP", "--lctl-record=none")
    again.assert_outcomes(passed=1)
    assert said(again) == said(first) and len(said(first)) == 3
    assert [one.last_text for one in server.requests[asked:]] == ["shared"]


def test_a_fixture_that_asks_something_else(runs: Runs, server: ModelServer) -> None:
    """Setting up is an error then, tearing down another; a thread more in a fixture moves nothing."""
    runs.write(_FIXTURES.replace("FAILS", "False"))
    runs.run().assert_outcomes(passed=1)
    runs.write(_FIXTURES.replace("FAILS", "False").replace('ask(f"set up {n}")', "n"))
    fewer = runs.run("--lctl-record=none")
    fewer.assert_outcomes(passed=1)
    fewer.stdout.fnmatch_lines(["*recorded, but not used*"])
    for asked in ("method", "tear down"):
        runs.write(_FIXTURES.replace("FAILS", "False").replace(f'"{asked}"', '"another"'))
        changed = runs.run("--lctl-record=none")
        changed.assert_outcomes(errors=1, passed=int(asked != "method"))
        changed.stdout.fnmatch_lines([f"*-*{asked}", "*+*another", "*--lctl-record=all*"])
        changed.stdout.no_fnmatch_line("*During handling*")


@pytest.mark.parametrize("how", ["started", "forked"])
def test_a_process_of_a_test_asks_no_model(runs: Runs, server: ModelServer, how: str) -> None:
    """Nobody would see it in a replay. It is told, also where the test does not look at the process."""
    body = {
        "started": "subprocess.run([sys.executable, __file__], capture_output=True)",
        "forked": "os.waitpid(os.fork() or [ask('child'), os._exit(0)], 0)",
    }[how]
    runs.write(f"""
    import subprocess, sys

    if __name__ == "__main__":
        ask("child")
        sys.exit()

    @pytest.mark.lctl
    def test_it():
        print(ask("one"))
        if "ALONE" not in os.environ:
            try:
                {body}
            except BaseException:
                os._exit(1)
""")
    refused = runs.run()
    refused.assert_outcomes(failed=1)
    refused.stdout.fnmatch_lines(["*which the test started, asks a model*"])
    assert server.count == 1 and not list(runs.folder.rglob("*.lctl.json*"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ALONE", "1")
        runs.run().assert_outcomes(passed=1)
    again = runs.run("--lctl-record=none")
    again.assert_outcomes(failed=1)
    again.stdout.fnmatch_lines(["*which the test started, asks a model*"])
    assert server.count == 2 and len(list(runs.folder.rglob(".*.lctl.json*"))) == 0


def test_a_wrong_option_is_said_in_one_line(runs: Runs) -> None:
    runs.write("""
    @pytest.mark.lctl(polcy="pin")
    def test_it():
        pass
""")
    runs.run().stdout.fnmatch_lines(["*pytest.mark.lctl on test_it*unexpected keyword argument 'polcy'*"])


def test_async_and_threads(runs: Runs, server: ModelServer) -> None:
    runs.write("""
    import asyncio, threading
    from openai import AsyncOpenAI

    @pytest.mark.lctl
    def test_it():
        async def one(client, n):
            said = [{"role": "user", "content": "same"}]
            made = await client.chat.completions.create(model="m", messages=said)
            return made.choices[0].message.content

        async def main():
            client = AsyncOpenAI(base_url=os.environ["MODELS"], api_key="test")
            return await asyncio.gather(*[one(client, n) for n in range(5)])

        print(asyncio.run(main()))
        found = {}
        threads = [threading.Thread(target=lambda n=n: found.update({n: ask("same")})) for n in range(3)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        print(sorted(found.items()))
""")
    first = runs.run("-rP")
    first.assert_outcomes(passed=1)
    server.close()
    for _ in range(min(RERUNS, 3)):
        again = runs.run("-rP")
        again.assert_outcomes(passed=1)
        assert said(again) == said(first)


def test_of_lctl_only_the_suite_s_assertions_are_rewritten(runs: Runs) -> None:
    """All modules would be compiled in each run."""
    runs.write("""
    import lctl.chain
    import lctl.testing.integration_suite as suite

    def test_it():
        assert type(lctl.chain.__loader__).__name__ == "SourceFileLoader"
        assert type(suite.__loader__).__name__ == "AssertionRewritingHook"
""")
    runs.run().assert_outcomes(passed=1)


def test_a_pytest_that_rewrites_nothing(runs: Runs) -> None:
    runs.write("""
    def test_it():
        pass
""")
    runs.run("--assert=plain").assert_outcomes(passed=1)


def test_what_a_test_reads_of_its_surroundings(runs: Runs, server: ModelServer) -> None:
    """Where it is asked for; the test is as it was otherwise."""
    runs.write("""
    import random, time

    @pytest.mark.lctl(ambient=True)
    def test_it(tmp_path, capsys):
        print("word")
        assert capsys.readouterr().out == "word\\n"
        (tmp_path / "one").write_text("x")
        print(ask(f"{time.time()} {random.random()}"))
""")
    runs.run().assert_outcomes(passed=1)
    server.close()
    runs.run("--lctl-record=none").assert_outcomes(passed=1)


def test_a_replay_needs_no_key_and_may_write(
    runs: Runs, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client wants a key before it asks anything; files are a test's own affair."""
    runs.write("""
    from openai import OpenAI

    @pytest.mark.lctl
    def test_it(tmp_path):
        create = OpenAI().chat.completions.create
        answer = create(model="m", messages=[{"role": "user", "content": "hi"}])
        (tmp_path / "one").write_text(answer.choices[0].message.content)
        (tmp_path / "folder").mkdir()
        (tmp_path / "one").rename(tmp_path / "folder" / "two")
""")
    for name, value in server.environ.items():
        monkeypatch.setenv(name, value)
    runs.run().assert_outcomes(passed=1)
    for name in server.environ:
        monkeypatch.delenv(name)
    asked = len(server.requests)
    runs.run("--lctl-record=none").assert_outcomes(passed=1)
    assert len(server.requests) == asked
