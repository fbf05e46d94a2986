"""Apps with a page, used in a browser while they are recorded: they run again with what the page said.

Each needs its library; CI has an environment with all of them.
"""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

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
    "chainlit": (f"-m chainlit run {PROGRAMS}/page_chainlit.py --headless --port PORT", "#chat-input"),
    "gradio": (f"{PROGRAMS}/page_gradio.py PORT", "textarea"),
    "nicegui": (f"{PROGRAMS}/page_nicegui.py PORT", "input"),
}
ENVIRON = {"GRADIO_ANALYTICS_ENABLED": "False", "HF_HUB_OFFLINE": "1"}
#: Seconds for a page to be ready once it is there, and for an answer to be shown once it was asked for.
_READY, _SHOWN = 1.0, 1.5


@pytest.mark.parametrize("app", APPS)
def test_it_runs_again_exactly(app: str, browser: Browser, tmp_path: Path) -> None:
    pytest.importorskip(app, reason=f"needs: pip install {app}")
    words, field = APPS[app]
    log = tmp_path / f"{app}.lctl.json"
    with (
        ModelServer(random_answers=True) as models,
        served(words.split(), log, {**ENVIRON, **models.environ}) as server,
    ):
        _chat(browser, f"http://127.0.0.1:{server.port}/", field, models)
        server.end(signal.SIGINT)
    events = [event.to_dict() for event in open_log(log).events()]
    assert [event["type"] for event in events].count("exchange") >= 2
    again = rerun(log, tmp_path, environ=ENVIRON, timeout=90)
    assert "rerun exact" in again.err, again.err
    assert again.events == events


def _chat(browser: Browser, url: str, field: str, models: ModelServer) -> None:
    page = browser.new_page()
    page.goto(url)
    page.wait_for_selector(field, timeout=30_000)
    time.sleep(_READY)
    for n, text in enumerate(("Hello", "How are you?"), 1):
        page.click(field)
        page.keyboard.type(text)
        time.sleep(0.3)
        page.keyboard.press("Enter")
        until = time.monotonic() + 20
        while len(models.requests) < n and time.monotonic() < until:
            time.sleep(0.05)
        assert len(models.requests) == n
        time.sleep(_SHOWN)
    page.close()
