"""`lctl export --format html`: the page in one file, opened from the disk, without a server."""

from __future__ import annotations

import base64
import random
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="needs playwright: pip install 'lctl[browser]'")
from playwright.sync_api import Browser, Page, expect

from lctl.codec import open_log
from lctl.debugger import pagetalk
from lctl.debugger.exporting import page_of
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


def test_conversations_are_as_of_the_event_however_many_there_are(browser: Browser, tmp_path: Path) -> None:
    talks = [
        one
        for n in range(300)
        for one in (
            said(2 * n + 1, f"q{n}", None, "user", f"question {n}", conversation_id=f"c{n}"),
            said(2 * n + 2, f"a{n}", f"q{n}", "assistant", f"answer {n}", conversation_id=f"c{n}"),
        )
    ]
    seen = Watched(browser, "file:")
    page = seen.page
    show(page, exported_of(tmp_path, *talks), "panel=conversation&seq=600")
    for at, messages in ((600, 2), (449, 1), (300, 2), (1, 1)):
        travel(page, at)
        expect(page.locator("article.message")).to_have_count(messages)
        expect(page.locator("article.message").first).to_contain_text(f"question {(at - 1) // 2}")
        listed = page.locator(".panel-aside .item")
        expect(listed).to_have_count((at + 1) // 2)
        expect(listed.last).to_contain_text(f"{messages} message")
        expect(listed.last).to_have_attribute("aria-current", "true")
    seen.close()


def test_a_long_conversation_is_there_to_its_newest_message(browser: Browser, tmp_path: Path) -> None:
    """Read in pieces, as with a server."""
    talk = [
        said(n, f"m{n}", f"m{n - 1}" if n > 1 else None, "user" if n % 2 else "assistant", f"number {n}.")
        for n in range(1, 2501)
    ]
    seen = Watched(browser, "file:")
    page = seen.page
    show(page, exported_of(tmp_path, *talk), "panel=conversation&seq=2500")
    for at in (2500, 1200, 10):
        travel(page, at)
        expect(page.locator("article.message").last).to_contain_text(f"number {at}.")
        expect(page.locator(".panel-aside .item")).to_contain_text(f"{at:,} messages")
    travel(page, 2500)
    expect(page.locator("article.message")).to_have_count(60)
    page.get_by_role("button", name="Older messages").click()
    expect(page.locator("article.message").last).to_contain_text("number 2440.")
    seen.close()


def test_messages_it_has_no_room_for_are_told(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where they would stand, and above the panels."""
    talk = [said(n, f"m{n}", f"m{n - 1}" if n > 1 else None, "user", f"number {n}.") for n in range(1, 101)]
    monkeypatch.setattr(pagetalk, "_BYTES", 4000)
    made = tmp_path / "run.html"
    log = tmp_path / "run.lctl.json"
    log.write_text(document(*talk))
    made.write_text(page_of(open_log(log)))
    seen = Watched(browser, "file:")
    page = seen.page
    show(page, made, "panel=conversation&seq=100")
    held = page.locator("article.message").count()
    assert 3 < held < 60
    region = page.get_by_role("region", name="Conversation")
    expect(region).to_contain_text(f"This page holds the last {held} of 100 messages: lctl debug has all.")
    expect(page.locator(".notes")).to_contain_text(f"the last {held} of 100 messages")
    travel(page, 5)
    expect(region).to_contain_text("This page does not hold what was said up to here")
    expect(region).to_contain_text("5 messages")
    seen.close()


def exported_of(folder: Path, *events: dict[str, object]) -> Path:
    log, made = folder / "run.lctl.json", folder / "run.html"
    log.write_text(document(*events))
    lctl("export", str(log), "--format", "html", "-o", str(made), cwd=folder)
    return made


def travel(page: Page, seq: int) -> None:
    page.keyboard.press("g")
    page.keyboard.type(str(seq))
    page.keyboard.press("Enter")
    expect_chosen(page, seq)


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
