"""What installed libraries do for themselves beside the program: threads that look again and again, folders,
the machine's address."""

from __future__ import annotations

import shutil
import signal
import urllib.request
from pathlib import Path
from textwrap import dedent

import pytest

from tests.rerun.harness import LCTL, Result, World, record, rerun, run
from tests.rerun.served import served
from tests.warm.starting import python_path

pytestmark = pytest.mark.slow


def _library(folder: Path, name: str, code: str) -> Path:
    """An installed one, as far as its place tells; where it is to be found."""
    package = folder / "site-packages" / name
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(dedent(code))
    return package.parent


_POLLER = """
    import time
    from concurrent.futures import ThreadPoolExecutor, as_completed

    looking = ThreadPoolExecutor(max_workers=2)

    def look():
        time.sleep(0.1)
        looking.submit(look)

    def scan():
        end = time.perf_counter() + 0.3
        while time.perf_counter() < end:
            sum(range(1000))

    looking.submit(look)
    looking.submit(look)
    with ThreadPoolExecutor(max_workers=1) as pool:
        for one in as_completed([pool.submit(scan)]):
            one.result()
"""
_SERVER = """
    import sys
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    import poller
    from common_openai import ask
    from openai import OpenAI

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            said = ask(OpenAI(), self.path).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *args):
            pass

    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def test_who_looks_again_and_again_from_before_the_recording(tmp_path: Path) -> None:
    """As Streamlit looks for changed files: jobs that sleep, some of which began before the first event."""
    place = _library(tmp_path, "poller", _POLLER)
    (tmp_path / "serves.py").write_text(dedent(_SERVER))
    log = tmp_path / "serves.lctl.json"
    with World() as world:
        environ = {**world.environ, "PYTHONPATH": python_path(Path(__file__).parent / "programs", place)}
        with served(["serves.py", "PORT"], log, environ) as server:
            for n in range(2):
                with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/{n}") as answer:
                    assert answer.status == 200
            server.end(signal.SIGINT)
    again = rerun(log, tmp_path, environ={"PYTHONPATH": environ["PYTHONPATH"]}, timeout=60)
    assert "log equal" in again.err, again.err
    assert "rerun exact" in again.err, again.err


_KEEPER = """
    import threading
    from pathlib import Path

    def _keep(place):
        (Path(place) / "within").mkdir(parents=True, exist_ok=True)
        (Path(place) / "within" / "kept").write_text("of the library")
        (Path(place) / "gone").write_text("and removed by it")
        (Path(place) / "gone").unlink()

    def begin(place):
        thread = threading.Thread(target=_keep, args=(place,))
        thread.start()
        thread.join()

    def make(place):
        Path(place).mkdir()
"""


def _kept(tmp_path: Path, call: str, more: str = "") -> tuple[Result, Result]:
    place = _library(tmp_path, "keeper", _KEEPER)
    (tmp_path / "asks.py").write_text(
        f"import keeper\nfrom common_openai import ask\nfrom openai import OpenAI\n"
        f"keeper.{call}('kept-here')\nprint(ask(OpenAI(), 'Hello'))\n{more}"
    )
    log = tmp_path / "asks.lctl.json"
    path = {"PYTHONPATH": python_path(Path(__file__).parent / "programs", place)}
    with World() as world:
        first = run([*LCTL, "run", "-o", str(log), "asks.py"], tmp_path, {**world.environ, **path}, log)
    assert first.code == 0, first.err
    shutil.rmtree(tmp_path / "kept-here")
    return first, rerun(log, tmp_path, environ=path)


def test_a_folder_that_a_library_makes_for_itself(tmp_path: Path) -> None:
    """As Chainlit does: it is there for the rerun, and nothing of it is left."""
    first, again = _kept(tmp_path, "begin")
    assert (again.code, again.out) == (0, first.out), again.err
    assert not (tmp_path / "kept-here").exists()


def test_what_others_put_into_such_a_folder_stays(tmp_path: Path) -> None:
    """The program itself may be at work beside its rerun. (What C does no guard sees.)"""
    place = tmp_path / "of-others"
    place.write_text("of others")
    _, again = _kept(
        tmp_path, "begin", "import ctypes\nctypes.CDLL(None).link(b'of-others', b'kept-here/theirs')\n"
    )
    assert again.code == 0, again.err
    assert [path.name for path in (tmp_path / "kept-here").iterdir()] == ["theirs"]


def test_a_folder_that_the_program_has_a_library_make(tmp_path: Path) -> None:
    _, again = _kept(tmp_path, "make")
    assert again.code == 1
    assert "making the folder" in again.err
    assert not (tmp_path / "kept-here").exists()


def test_the_address_of_the_machine(tmp_path: Path) -> None:
    """Each real connection would have another port."""
    first = record("own_address.py", tmp_path, {})
    assert first.code == 0, first.err
    places = [e["data"]["place"] for e in first.events if e["data"].get("source") == "host"]
    assert [Path(place.partition(":")[0]).name for place in places] == ["own_address.py"] * 3
    again = rerun(first.log, tmp_path)
    assert (again.code, again.out) == (0, first.out), again.err


def test_what_is_sent_to_it_is_refused(tmp_path: Path) -> None:
    first = record("own_address.py", tmp_path, {"SENDS": "1"})
    assert first.code == 0, first.err
    again = rerun(first.log, tmp_path, environ={"SENDS": "1"})
    assert again.code == 1
    assert "connecting to 192.0.2.1:9 is refused" in again.err
    allowed = rerun(first.log, tmp_path, "--allow", "network:192.0.2.1", environ={"SENDS": "1"})
    assert (allowed.code, allowed.out) == (0, first.out), allowed.err
