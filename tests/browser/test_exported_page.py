"""`lctl export --format html`: the page in one file, opened from the disk, without a server."""

from __future__ import annotations

import base64
import random
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="needs playwright: pip install 'lctl[browser]'")
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import lctl
from tests.browser.debugger import PANELS, Watched, expect_chosen
from tests.browser.logs import document, event, png, said

pytestmark = pytest.mark.browser
INSIDE = [name for name in PANELS if name not in ("compare", "fork", "runs")]


@pytest.fixture(scope="module")
def exported(demo_log: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("exported") / "run.html"
    lctl("export", str(demo_log), "--format", "html", "-o", str(path), cwd=path.parent)
    return path


def show(page: Page, path: Path, fragment: str) -> None:
    page.goto("about:blank")
    page.goto(f"{path.as_uri()}#{fragment}")
    page.locator(".app").wait_for()


def test_it_is_the_same_page_without_a_server(browser: Browser, exported: Path) -> None:
    seen = Watched(browser, "file:")
    page = seen.page
    for name in INSIDE:
        show(page, exported, f"panel={name}&seq=44")
        expect(page.get_by_role("tab", name=PANELS[name], exact=True)).to_have_attribute(
            "aria-selected", "true"
        )
        expect_chosen(page, 44)
        expect(page.locator(".notice.error")).to_have_count(0)
        expect(page.locator(".inspector-head")).to_contain_text("#44")
    for name in ("compare", "fork", "runs"):
        expect(page.get_by_role("tab", name=PANELS[name], exact=True)).to_have_count(0)
    seen.close()


def test_it_travels(browser: Browser, exported: Path) -> None:
    seen = Watched(browser, "file:")
    page = seen.page
    show(page, exported, "panel=state&seq=24")
    expect(page.locator(".fact .fact-sure b")).to_have_text("0.84")
    page.keyboard.press("]")
    expect_chosen(page, 39)
    page.keyboard.press("End")
    expect_chosen(page, 62)
    expect(page.locator(".fact", has_text="F1").locator(".fact-sure b")).to_have_text("0.99")
    page.get_by_label("Seq to compare with").fill("24")
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(
        page.get_by_label("Difference with another event").locator("tr", has_text="F2").first
    ).to_be_visible()
    show(page, exported, "panel=search&q=type:tool_call")
    expect(page.get_by_role("listbox", name="Found events").get_by_role("option")).to_have_count(4)
    show(page, exported, "panel=conversation&call=37")
    expect(page.get_by_role("region", name="Conversation")).to_contain_text("Judge each finding.")
    seen.close()


def test_its_pictures_are_in_it(browser: Browser, tmp_path: Path) -> None:
    """Also those that are too large to be fetched with a message."""
    rows = b"".join(b"\0" + random.Random(n).randbytes(300) for n in range(100))
    url = f"data:image/png;base64,{base64.b64encode(png(100, 100, rows)).decode()}"
    content = [{"type": "image_url", "image_url": {"url": url}}]
    log, made = tmp_path / "run.lctl.json", tmp_path / "run.html"
    log.write_text(document(said(1, "q", None, "user", content), said(2, "a", "q", "assistant", "I see.")))
    lctl("export", str(log), "--format", "html", "-o", str(made), cwd=tmp_path)
    seen = Watched(browser, "file:")
    show(seen.page, made, "panel=conversation&seq=2")
    picture = seen.page.locator(".message img")
    assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") == 100
    seen.close()


def test_one_failure_is_one_there_too(browser: Browser, tmp_path: Path) -> None:
    """The step around an error ends as red, and the keys pass over it, as with a server."""
    step = event(1, "step_start")
    inside = [
        event(2, "error", category="execution_error", message="no"),
        event(3, "step_end", outcome="error"),
    ]
    log, path = tmp_path / "run.lctl.json", tmp_path / "run.html"
    log.write_text(document(step, *({**one, "step": 1} for one in inside)))
    lctl("export", str(log), "--format", "html", "-o", str(path), cwd=tmp_path)
    seen = Watched(browser, "file:")
    page = seen.page
    show(page, path, "panel=state&seq=3")
    expect(page.locator(".topbar").get_by_role("button", name="1 failure")).to_be_visible()
    page.keyboard.press("Home")
    expect_chosen(page, 1)
    page.keyboard.press("]")
    expect_chosen(page, 2)
    page.keyboard.press("End")
    expect_chosen(page, 3)
    page.keyboard.press("[")
    expect_chosen(page, 2)
    page.keyboard.press("]")
    expect(page.get_by_text("no later failure")).to_be_visible()
    seen.close()
