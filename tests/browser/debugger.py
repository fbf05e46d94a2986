"""`lctl debug` as a process, and its page in a browser."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from playwright.sync_api import Browser, Dialog, Page, Request, ViewportSize, expect

#: What a person may have to wait for on a loaded machine; nothing here is a measure of speed.
PATIENCE_MS = 30_000
expect.set_options(timeout=PATIENCE_MS)

#: Milliseconds without a question after which a page has what it wants: longer than it puts any of them off.
_QUIET_MS = 200
_COUNTED = """(() => {
  const ask = window.fetch;
  window.underWay = 0;
  window.fetch = async (...words) => {
    window.underWay += 1;
    try {
      return await ask(...words);
    } finally {
      window.underWay -= 1;
    }
  };
})()"""
_SETTLED = """([quiet, patience]) => new Promise((done, fail) => {
  const began = performance.now();
  let since = began;
  const look = () => {
    const now = performance.now();
    if (window.underWay || document.readyState !== "complete" || document.querySelector(".busy")) since = now;
    if (now - since >= quiet) done();
    else if (now - began > patience) fail(new Error(`still asking after ${patience} ms`));
    else setTimeout(look, 20);
  };
  look();
})"""

PANELS = {
    "conversation": "Conversation",
    "state": "State",
    "flow": "Flow",
    "cost": "Cost & time",
    "search": "Search",
    "compare": "Compare",
    "fork": "What if",
    "runs": "Runs",
}


class Debugger:
    """A debugger that runs. `link` holds its token, `place` is its address without."""

    def __init__(self, link: str) -> None:
        self.link = link
        parts = urlsplit(link)
        self.place = f"{parts.scheme}://{parts.netloc}"

    def fragment(self, **words: object) -> str:
        return f"{self.place}/#{urlencode(words)}"

    def show(self, page: Page, **words: object) -> Page:
        """The page at a moment, as a link to it opens it."""
        page.goto("about:blank")
        page.goto(self.fragment(**words))
        page.locator(".app").wait_for()
        return page

    def move(self, page: Page, **words: object) -> Page:
        """A page of the same run at another moment, without loading it anew."""
        page.goto(self.fragment(**words))
        return page


@contextmanager
def debugger(target: Path, *options: str) -> Iterator[Debugger]:
    """`lctl debug TARGET`, until the block ends."""
    command = [sys.executable, "-m", "lctl", "debug", str(target), "--port", "0", "--no-browser", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        link = process.stdout.readline().strip()
        assert link.startswith("http://"), link
        yield Debugger(link)
    finally:
        process.terminate()
        process.wait(60)
        if process.stdout is not None:
            process.stdout.close()


class Watched:
    """A page, and what must not happen on it: errors of the page, requests to elsewhere, dialogs."""

    def __init__(self, browser: Browser, place: str, width: int = 1440, **options: Any) -> None:
        viewport: ViewportSize = {"width": width, "height": 900}
        self.context = browser.new_context(viewport=viewport, reduced_motion="reduce", **options)
        self.context.add_init_script(_COUNTED)
        self.page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE_MS)
        self.complaints: list[str] = []
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.page.on("dialog", self._refuse)
        self.page.on("request", self._asked)
        self._place = place

    def _refuse(self, dialog: Dialog) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _asked(self, request: Request) -> None:
        if not request.url.startswith((self._place, "data:", "blob:", "about:", "file:")):
            self.complaints.append(f"request to {request.url}")

    def close(self) -> None:
        self.context.close()
        assert not self.complaints, self.complaints


def settled(page: Page, patience_ms: int = PATIENCE_MS) -> None:
    """A page that was opened by `Watched` asks for nothing more."""
    page.evaluate(_SETTLED, [_QUIET_MS, patience_ms])


def chosen(page: Page) -> int:
    """The seq that the page shows."""
    return int(page.get_by_role("slider", name="Chosen event").get_attribute("aria-valuenow") or 0)


def expect_chosen(page: Page, seq: int) -> None:
    expect(page.get_by_role("slider", name="Chosen event")).to_have_attribute("aria-valuenow", str(seq))
