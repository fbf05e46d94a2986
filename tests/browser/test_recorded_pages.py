"""Apps with a page, used in a browser while they are recorded: they run again with what the page said.

Each needs its library; CI has an environment with all of them.
"""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lctl.codec import open_log
from lctl.testing import ModelServer
from tests.rerun.harness import PROGRAMS, rerun
from tests.rerun.served import served

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser
_STREAMLIT = "--server.port PORT --server.headless true --browser.gatherUsageStats false"
#: What follows `lctl run`, and where one writes.
APPS = {
    "streamlit": (f"-m streamlit run {PROGRAMS}/page_streamlit.py {_STREAMLIT}", "textarea"),
    "streamlit on asyncio": (
        f"{PROGRAMS}/page_streamlit_asyncio.py {PROGRAMS}/page_streamlit.py {_STREAMLIT}",
        "textarea",
    ),
    "chainlit": (f"-m chainlit run {PROGRAMS}/page_chainlit.py --headless --port PORT", "#chat-input"),
    "gradio": (f"{PROGRAMS}/page_gradio.py PORT", "textarea"),
    "nicegui": (f"{PROGRAMS}/page_nicegui.py PORT", "input"),
}
#: Who has two visitors at once.
FOR_TWO = ("streamlit on asyncio", "gradio")
ENVIRON = {"GRADIO_ANALYTICS_ENABLED": "False", "HF_HUB_OFFLINE": "1"}
#: Seconds for a page to be ready once it is there, and to show an answer that is whole.
_READY, _SHOWN = 1.0, 1.5


@pytest.mark.parametrize("app", APPS)
def test_it_runs_again(app: str, browser: Browser, tmp_path: Path) -> None:
    library = app.partition(" ")[0]
    pytest.importorskip(library, reason=f"needs: pip install {library}")
    words, field = APPS[app]
    log = tmp_path / f"{library}.lctl.json"
    with (
        ModelServer(random_answers=True) as models,
        served(words.split(), log, {**ENVIRON, **models.environ}) as server,
    ):
        visitors = 2 if app in FOR_TWO else 1
        _chat(browser, f"http://127.0.0.1:{server.port}/", field, log, visitors)
        server.end(signal.SIGINT)
    events = [event.to_dict() for event in open_log(log).events()]
    again = rerun(log, tmp_path, "--json", environ=ENVIRON, timeout=90)
    certificate = json.loads(again.out)
    asked = len([event for event in events if event["data"].get("url", "").startswith(models.openai_url)])
    assert asked == 2 * visitors
    assert certificate["exact"] == len(_of(events, "exchange"))
    assert certificate.get("output_equal") is not False  # None of a server that leaves by `os._exit`
    assert not [name for name in _FAULTS if certificate.get(name)], certificate
    assert _told(again.events) == _told(events)


#: What a certificate holds none of, where all is as it was.
_FAULTS = ("unmatched", "unused", "live", "executed", "blocked", "drift", "moved", "stopped")


def _of(events: list[dict[str, Any]], type: str) -> list[dict[str, Any]]:
    return [event for event in events if event["type"] == type]


def _told(events: list[dict[str, Any]]) -> list[Any]:
    """What the page asked and said, and all calls and messages. Which of the threads that read files for a
    page has done so first is chance where several requests come in one turn of the server's loop
    (docs/rerun.md)."""
    told = []
    for event in events:
        data = event["data"]
        if event["type"] == "ambient" and data.get("source") in ("wake", "jobs"):
            continue
        told.append((event["type"], *(data.get(key) for key in ("source", "key", "role", "content", "text"))))
    return told


def _chat(browser: Browser, url: str, field: str, log: Path, visitors: int) -> None:
    pages = [browser.new_context().new_page() for _ in range(visitors)]
    for page in pages:
        page.goto(url, wait_until="commit")
    for page in pages:
        page.wait_for_selector(field, timeout=30_000)
    time.sleep(_READY)
    for n, text in enumerate(("Hello", "How are you?"), 1):
        for page in pages:
            page.click(field)
            page.keyboard.type(text)
        time.sleep(0.3)
        for page in pages:
            page.keyboard.press("Enter")
        until = time.monotonic() + 30
        while log.read_bytes().count(b'"type":"step_end"') < n * visitors:
            assert time.monotonic() < until, "no answer has come to its end"
            time.sleep(0.05)
        time.sleep(_SHOWN)
    for page in pages:
        page.context.close()
