"""The pytest plugin, in pytest runs of its own against a server with random answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

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

    def write(self, body: str) -> None:
        self._pytester.makepyfile(test_it=_TEST + body)

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
    runs.write(words("one"))
    refused = runs.run("--lctl-record=none")
    refused.assert_outcomes(failed=1)
    refused.stdout.fnmatch_lines(["*no such cassette*--lctl-record=once*"])
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
        "cassettes/test_it/test_it[two_three].lctl.json",
        "cassettes/test_it/test_by_fixture.lctl.json",
    }
    server.close()
    runs.run("-n", "2").assert_outcomes(passed=3)


def test_two_tests_do_not_share_one(runs: Runs, server: ModelServer) -> None:
    runs.write(words("one") + words("two").replace("def test_it", "def test_other"))
    shared = runs.run()
    shared.assert_outcomes(passed=1, failed=1)
    shared.stdout.fnmatch_lines(["*is the cassette of test_it.py::test_it, too*"])


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
