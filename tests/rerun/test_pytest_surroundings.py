"""What is around the tests of a suite that is replayed: fixtures, processes, threads, options, keys."""

from __future__ import annotations

import pytest

from lctl.testing import ModelServer
from tests.rerun.harness import RERUNS
from tests.rerun.pytestruns import Runs, said

pytest_plugins = ("pytester",)
pytestmark = pytest.mark.slow

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
    """Set up and torn down; what tests share has its own: the first test alone would have it."""
    runs.write(_FIXTURES.replace("FAILS", "True"))
    runs.run().assert_outcomes(failed=1)
    assert [path.name for path in runs.folder.rglob("*.lctl.json*")] == ["fixture.shared.lctl.json"]
    runs.write(_FIXTURES.replace("FAILS", "False"))
    first = runs.run("-rP")
    first.assert_outcomes(passed=1)
    asked = server.count
    again = runs.run("-rP", "--lctl-record=none")
    again.assert_outcomes(passed=1)
    assert said(again) == said(first) and len(said(first)) == 3
    assert server.count == asked


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


_FOLDERS = """
    import tempfile
    import lctl

    @lctl.tool
    def look(folder):
        return len(folder)

    @pytest.fixture(scope="module")
    def shared(tmp_path_factory):
        return ask(f"shared {tmp_path_factory.mktemp('data')}")

    @pytest.mark.lctl
    def test_it(shared, tmp_path, tmp_path_factory):
        print(shared, ask(f"workspace {tmp_path}"), look(str(tmp_path)))
        print(ask(f"again {tmp_path}/a.txt, {tmp_path_factory.mktemp('more')}"))
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory(dir=tmp_path) as two:
            print(ask(f"{one}, {two} and {one}/x.py"))
        with tempfile.NamedTemporaryFile(suffix=".md") as file:
            print(ask(f"file {file.name}"))
        print(ask(f"kept {tempfile.mkdtemp(prefix='kept-')}"))
"""


def test_temporary_folders_stand_for_the_recorded_ones(runs: Runs, server: ModelServer) -> None:
    """They are others in each run. What else a test says of them is a part of what it asks."""
    runs.write(_FOLDERS)
    first = runs.run("-rP")
    first.assert_outcomes(passed=1)
    asked = server.count
    for options in ((), (f"--basetemp={runs.folder / 'here'}",)):
        again = runs.run("-rP", "--lctl-record=none", *options)
        again.assert_outcomes(passed=1)
        assert said(again) == said(first) and len(said(first)) == 5
    for recorded, other in (("{tmp_path}/a.txt", "{tmp_path}/b.txt"), ("{one}/x.py", "{two}/x.py")):
        runs.write(_FOLDERS.replace(recorded, other))
        runs.run("--lctl-record=none").assert_outcomes(failed=1)
    assert server.count == asked


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


@pytest.mark.parametrize("key", [None, ""])
def test_a_key_that_is_not_there_or_withheld(
    runs: Runs, server: ModelServer, monkeypatch: pytest.MonkeyPatch, key: str | None
) -> None:
    """CI sets secrets to nothing where it does not give them, and clients refuse such a key."""
    runs.write("""
    @pytest.mark.lctl
    def test_it():
        key = os.environ["OPENAI_API_KEY"]
        headers = {"authorization": f"Bearer {key}"} if key else {"authorization": 1}
        asked = {"model": "m", "messages": [{"role": "user", "content": "Hello"}]}
        answer = httpx.post(os.environ["MODELS"] + "/chat/completions", json=asked, headers=headers)
        print(answer.json()["choices"][0]["message"]["content"])

    def test_behind_it():
        print("left as", os.environ.get("OPENAI_API_KEY"))
""")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-proj-" + "a1B2" * 12)
    first = runs.run("-rP")
    first.assert_outcomes(passed=2)
    if key is None:
        monkeypatch.delenv("OPENAI_API_KEY")
    else:
        monkeypatch.setenv("OPENAI_API_KEY", key)
    again = runs.run("-rP", "--lctl-record=none")
    again.assert_outcomes(passed=2)
    assert said(again)[0] == said(first)[0]
    assert f"left as {key}" in again.stdout.str()
    assert server.count == 1
