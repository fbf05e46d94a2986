"""The browser, logs to look at, and a debugger that serves them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.browser.debugger import Debugger, Watched
    from tests.browser.logs import Open

_SWITCHES = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


#: By name; the first draws no window of its own around each page, which is quicker to open.
_BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def _chromium() -> str | None:
    return os.environ.get("LCTL_CHROMIUM") or next(filter(None, map(shutil.which, _BROWSERS)), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    pytest.importorskip("playwright", reason="needs playwright: pip install 'lctl[browser]'")
    pytest.importorskip("starlette", reason="needs starlette: pip install 'lctl[debug]'")
    path = _chromium()
    if path is None:
        pytest.skip("needs Chromium: apt-get install chromium, or name it in LCTL_CHROMIUM")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=_SWITCHES)
        yield started
        started.close()


def lctl(*arguments: str, cwd: Path) -> str:
    """What a command prints, run as a user runs it."""
    environment = {**os.environ, "NO_COLOR": "1"}
    environment.pop("LCTL_DIR", None)
    done = subprocess.run(
        [sys.executable, "-m", "lctl", *arguments], cwd=cwd, env=environment, text=True, capture_output=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of the demo, of different seeds, as `lctl demo` records them."""
    pytest.importorskip("openai", reason="needs the demo: pip install 'lctl[demo]'")
    pytest.importorskip("anthropic", reason="needs the demo: pip install 'lctl[demo]'")
    place = tmp_path_factory.mktemp("runs")
    for seed in ("8", "7"):
        lctl("demo", "--seed", seed, cwd=place)
    return place / ".lctl"


@pytest.fixture(scope="session")
def demo_log(folder: Path) -> Path:
    (found,) = folder.glob("*demo-7*.lctl.json")
    return found


@pytest.fixture(scope="session")
def other_log(folder: Path) -> Path:
    (found,) = folder.glob("*demo-8*.lctl.json")
    return found


@pytest.fixture(scope="session")
def demo(browser: Browser, demo_log: Path) -> Iterator[Debugger]:
    """A debugger of the demo's run."""
    from tests.browser.debugger import debugger

    with debugger(demo_log) as running:
        yield running


@pytest.fixture
def watched(browser: Browser, demo: Debugger) -> Iterator[Watched]:
    from tests.browser.debugger import Watched

    seen = Watched(browser, demo.place)
    seen.page.goto(demo.link)
    yield seen
    seen.close()


@pytest.fixture
def page(watched: Watched) -> Page:
    """A page of the demo's run that has its key."""
    return watched.page


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Opens a log of this text."""
    from tests.browser.debugger import Watched, debugger

    with ExitStack() as stack:
        pages: list[Watched] = []

        def open_log(text: str) -> tuple[Debugger, Page]:
            path = tmp_path / "odd.lctl.json"
            path.write_text(text)
            running = stack.enter_context(debugger(path))
            seen = Watched(browser, running.place)
            pages.append(seen)
            seen.page.goto(running.link)
            seen.page.locator(".transport, .run-row, .empty, [role=alert]").first.wait_for()
            return running, seen.page

        yield open_log
        for seen in pages:
            seen.close()
