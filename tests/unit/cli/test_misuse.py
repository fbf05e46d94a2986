"""Options that do nothing or contradict each other, names that are slips: said, and never passed over."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from lctl.cli import main
from tests.golden import logs
from tests.unit.cli.conftest import Cli


@pytest.fixture
def run(place: Path) -> Path:
    (place / ".lctl").mkdir()
    return logs.written(place / ".lctl" / "20260101-000000-a.lctl.json", logs.security_review(), "a")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("export --no-content", "--no-content is of spans"),
        ("export --no-content -f messages", "--format messages has it all"),
        ("export --header a=b -f otlp", "--header is sent with --otlp URL"),
        ("export --partial -f csv", "--partial is of the formats transcript and messages"),
        ("export --otlp http://127.0.0.1:1 -f csv", "--format csv is none"),
        ("export --otlp http://127.0.0.1:1 -o x.json", "leave one of the two out"),
        ("show a 3 --event --state", "leave out each other"),
        ("replay a --from-seq 999", "the log has events 1 to 25"),
        ("replay a --from-seq 9 --to-seq 5", "--from-seq 9 is behind --to-seq 5"),
        ("diff a", "a: is the last run itself"),
        ("diff last", "last: is the last run itself"),
        ("errors --category nosuch", "there is no such category; there are input_error"),
        ("query 'SELECT tool FROM facts'", "no such column: tool; there are id, text"),
        ("query a", "give TARGET and one query; put the query in quotes"),
        ("what-if a --at 3", "give --set data.confidence=0.3, --drop N or --insert JSON"),
        ("prune --older-than 30d", "file:FOLDER (file:.lctl), or set LCTL_STORE"),
        ("demo -o -", "a log is recorded into a file"),
        ("run -o - agent.py", "a log is recorded into a file"),
        ("rerun -o - a", "a log is recorded into a file"),
        ("fork -o - --at 3 a", "a log is recorded into a file"),
    ],
)
def test_it_is_an_error(lctl: Cli, run: Path, place: Path, words: str, said: str) -> None:
    """Exit code 2, one line that says what to do, and no file of that name."""
    import shlex

    (place / "agent.py").write_text("")
    got = lctl(*shlex.split(words))
    assert (got.code, got.out) == (2, "")
    assert said in got.err
    assert not (place / "-").exists()


@pytest.mark.parametrize(
    "words",
    [
        "export a -o LOG",
        "export LOG -f openai -o sub/../LOG",
        "export LOG+ -f html -o LOG",
        "export a -f otlp -o link.json",
        "confidence a -o LOG",
        "what-if a --at 2 --set data.confidence=0.3 -o link.json",
        "import LOG --from openai -o LOG",
    ],
)
def test_what_is_read_is_not_written_over(lctl: Cli, place: Path, words: str) -> None:
    """Under whatever name: the recording would be lost."""
    log = logs.written(place / "run.lctl.json", logs.security_review(), "a")
    (place / "sub").mkdir()
    (place / "link.json").symlink_to(log)
    if words.startswith("import"):
        log.write_text('[{"role": "user", "content": "hello"}]')
    before = log.read_bytes()
    got = lctl(*words.replace("LOG", log.name).replace(" a ", f" {log.name} ").split())
    assert (got.code, got.out, log.read_bytes()) == (2, "", before)
    assert "is what is read here, and would be lost; write to another file" in got.err


@pytest.mark.parametrize(
    "words",
    [
        "export a -o other.json",
        "export a -f csv -o other.json",
        "export a -f openai -o other.json",
        "export a -f otlp -o other.json.gz",
        "convert a -o other.json",
        "confidence a -o other.json",
        "what-if a --at 2 --set data.confidence=0.3 -o other.json",
        "import said.json --from openai -o other.json",
    ],
)
def test_another_recording_is_not_written_over(lctl: Cli, run: Path, place: Path, words: str) -> None:
    """A path of the history of the shell: that run cannot be had again."""
    other = logs.written(place / "other.json", logs.security_review(), "b")
    (place / "other.json.gz").write_bytes(gzip.compress(other.read_bytes()))
    (place / "said.json").write_text('[{"role": "user", "content": "hello"}]')
    before = {path: path.read_bytes() for path in place.glob("other*")}
    got = lctl(*words.split())
    assert (got.code, got.out) == (2, "")
    assert {path: path.read_bytes() for path in place.glob("other*")} == before
    assert "holds the recording b, which would be lost; write to another file, or remove it first" in got.err


def test_what_was_made_from_a_recording_makes_way(lctl: Cli, run: Path, place: Path) -> None:
    """The same command twice: what it wrote can be had again, and so can an import."""
    for words in ("export a -o copy.json", "export a -f csv -o table.csv", "convert a -o copy.json"):
        assert [lctl(*words.split()).code for _ in "ab"] == [0, 0]
    for said in ("hello", "good day"):
        (place / "said.json").write_text(f'[{{"role": "user", "content": "{said}"}}]')
        assert lctl("import", "said.json", "--from", "openai", "-o", "imported.json").code == 0
    assert "good day" in (place / "imported.json").read_text()


def test_a_store_is_not_written_over(lctl: Cli, run: Path, place: Path) -> None:
    assert lctl("push", "a", "--store", "sqlite:///runs.db").code == 0
    got = lctl("export", "sqlite:///runs.db#a", "-f", "csv", "-o", "runs.db")
    assert (got.code, got.out) == (2, "") and "runs.db: is a database" in got.err
    assert lctl("stats", "sqlite:///runs.db#a").code == 0


def test_what_is_asked_for_by_name_is_done(lctl: Cli, run: Path) -> None:
    """The same run twice, the category of a failure that is not there, the content left out of spans."""
    assert lctl("diff", "a", "a").code == 0
    assert lctl("errors", "--category", "output_error").out == "No errors in 1 run.\n"
    assert "UserController" not in lctl("export", "--no-content", "-f", "otlp").out
    assert "UserController" in lctl("export", "-f", "otlp").out


def test_types_that_are_not_there(lctl: Cli, run: Path) -> None:
    """They may be a slip: what there is is named."""
    got = lctl("replay", "--types", "fact_added,tool_cal")
    assert "5 of 25 events shown" in got.out
    assert got.err.startswith("lctl: there is no event of type tool_cal; there are ")
    assert "tool_call" in got.err


def test_runs_and_ls_mark_a_killed_program_alike(lctl: Cli, place: Path) -> None:
    (place / ".lctl").mkdir()
    logs.written(place / ".lctl" / "20260101-000000-k.lctl.json", logs.security_review(), "k", closed=False)
    for command in ("ls", "runs"):
        row = lctl(command).out.splitlines()[1]
        assert row.startswith("○  k ")
        assert row.endswith("not closed by its program")


def test_narrow_terminals(lctl: Cli, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What tells runs apart is whole in 80 columns, and no row is longer than the terminal."""
    (place / ".lctl").mkdir()
    name = "agent-20260101-110000"
    logs.written(place / ".lctl" / "20260101-000000-a.lctl.json", logs.security_review(), name)
    logs.written(place / ".lctl" / "20260101-000001-k.lctl.json", logs.security_review(), "k", closed=False)
    for columns in (80, 40):
        monkeypatch.setenv("COLUMNS", str(columns))
        for command in ("ls", "runs"):
            rows = lctl(command, "--no-color", terminal=True).out.splitlines()
            assert max(map(len, rows)) <= columns
            assert columns < 80 or any(name in row for row in rows)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1"])
def test_marks_say_something_in_any_encoding(
    place: Path, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    """As Windows gives pipes: `+` is well, `x` is not."""
    (place / ".lctl").mkdir()
    logs.written(place / ".lctl" / "20260101-000000-a.lctl.json", logs.security_review(), "a")
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", out)
    assert main(["ls"]) == 0
    written: Any = out.buffer
    assert written.getvalue().decode(encoding).splitlines()[1].startswith("+  a")


def test_an_imported_log_on_standard_output(lctl: Cli, place: Path) -> None:
    """The log alone, which a command reads from a pipe; what is said of it goes to stderr."""
    said = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]
    (place / "chat.json").write_text(json.dumps({"messages": said}))
    got = lctl("import", "chat.json", "-o", "-")
    assert (got.code, "chat.json is openai" in got.err) == (0, True)
    assert not list(place.glob("**/*.lctl.json"))
    assert lctl("verify", "-", "--sealed", stdin=got.out.encode()).code == 0
    assert lctl("import", "chat.json", "-o", "-", "--json").code == 2


def test_a_stored_log_on_standard_output(lctl: Cli, run: Path, place: Path) -> None:
    assert lctl("push", "a", "--store", "sqlite:///runs.db").code == 0
    got = lctl("pull", "a", "-o", "-", "--store", "sqlite:///runs.db")
    assert got.code == 0
    assert lctl("stats", "-", stdin=got.out.encode()).out == lctl("stats", run).out


@pytest.mark.parametrize(
    ("places", "shown"),
    [
        (
            ["/app/agent.py:22 in <module>", "/x/lib/python3.12/json/decoder.py:353 in f"],
            "agent.py:22",
        ),
        (
            ["/app/agent.py:22 in run", "/v/site-packages/openai/_base_client.py:1248 in g"],
            "agent.py:22",
        ),
        (
            [r"C:\app\agent.py:7 in f", r"C:\Python312\Lib\json\decoder.py:353 in g"],
            "agent.py:7",
        ),
        (["/app/agent.py:22 in <module>", "/app/lib/tools.py:4 in read"], "tools.py:4"),
        (["/x/lib/python3.12/runpy.py:1 in run"], "runpy.py:1"),
    ],
)
def test_where_an_error_came_from(lctl: Cli, place: Path, places: list[str], shown: str) -> None:
    """The last of the program's own files, not the library that raised."""
    log = logs.Script()
    log.add(0, "main", "error", type="E", message="m", context={"traceback": places})
    logs.written(place / "e.lctl.json", log.events, "e")
    assert f"E: m ({shown})" in lctl("replay", "e.lctl.json").out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("run -m", "option '-m' requires an argument (see 'lctl run --help')"),
        ("run --chain", "option '--chain' requires an argument (see 'lctl run --help')"),
        ("run --record bogus a.py", "'bogus' is not one of 'model', 'full' (see 'lctl run --help')"),
        ("ls --limit", "option '--limit' requires an argument (see 'lctl ls --help')"),
        ("--bogus", "no such option '--bogus' (see 'lctl --help')"),
    ],
)
def test_the_help_it_names_is_that_of_the_command(lctl: Cli, words: str, said: str) -> None:
    got = lctl(*words.split())
    assert got.code == 2 and said in got.err
