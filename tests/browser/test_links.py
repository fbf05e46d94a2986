"""Every moment has a link, and the address is always the link to what is shown."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

pytest.importorskip("playwright", reason="needs playwright: pip install 'lctl[browser]'")
from playwright.sync_api import Browser, Page, expect

from tests.browser.debugger import PANELS, Debugger, Watched, debugger, expect_chosen

pytestmark = pytest.mark.browser


def words(page: Page) -> dict[str, str]:
    return {name: found[0] for name, found in parse_qs(urlsplit(page.url).fragment).items()}


@pytest.mark.parametrize("panel", [name for name in PANELS if name != "runs"])
def test_a_link_opens_its_moment_in_its_panel(demo: Debugger, page: Page, panel: str) -> None:
    demo.show(page, panel=panel, seq=41)
    expect(page.get_by_role("tab", name=PANELS[panel], exact=True)).to_have_attribute("aria-selected", "true")
    expect_chosen(page, 41)


def test_the_command_line_opens_at_an_event(browser: Browser, demo_log: Path) -> None:
    with debugger(demo_log, "--at", "17") as running:
        seen = Watched(browser, running.place)
        seen.page.goto(running.link)
        expect_chosen(seen.page, 17)
        assert "token" not in seen.page.url
        seen.close()


def test_the_address_follows_what_is_shown(demo: Debugger, page: Page) -> None:
    demo.show(page, panel="state", seq=20)
    page.keyboard.press("ArrowRight")
    page.get_by_role("tab", name="Flow").click()
    page.wait_for_url(re.compile("panel=flow"))
    page.wait_for_url(re.compile("seq=21"))
    assert set(words(page)) == {"run", "seq", "panel"}


def test_a_link_holds_the_panel_s_own_choices(demo: Debugger, page: Page) -> None:
    demo.show(page, panel="search", q="type:tool_call")
    found = page.get_by_role("listbox", name="Found events").get_by_role("option")
    expect(found).to_have_count(4)
    page.get_by_role("searchbox", name="Search the run").fill("type:error")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("q=type%3Aerror"))
    page.reload()
    expect(found).to_have_count(1)
    expect(page.get_by_role("searchbox", name="Search the run")).to_have_value("type:error")


def test_back_returns_to_the_panel_before(demo: Debugger, page: Page) -> None:
    demo.show(page, panel="state", seq=30)
    page.get_by_role("tab", name="Flow").click()
    expect(page.get_by_role("tab", name="Flow")).to_have_attribute("aria-selected", "true")
    page.wait_for_url(re.compile("panel=flow"))
    page.go_back()
    expect(page.get_by_role("tab", name="State")).to_have_attribute("aria-selected", "true")
    expect_chosen(page, 30)


def test_another_run_has_no_messages_and_calls_of_this_one(
    browser: Browser, folder: Path, demo_log: Path, other_log: Path
) -> None:
    with debugger(demo_log) as running:
        seen = Watched(browser, running.place)
        page = seen.page
        page.goto(running.link)
        running.show(page, panel="compare", right=other_log.name, leaf="m5", call=6, against=3)
        page.locator(".difference").get_by_role("button", name="right #").click()
        expect(page).to_have_title(f"{run_id(other_log)} · lctl debug")
        page.wait_for_url(re.compile(f"run={re.escape(other_log.name)}"))
        assert not {"leaf", "call", "against"} & set(words(page))
        seen.close()


def test_back_and_a_link_in_the_same_tab_open_their_run(
    browser: Browser, folder: Path, demo_log: Path, other_log: Path
) -> None:
    first, second = (run_id(path) for path in (demo_log, other_log))
    with debugger(folder) as running:
        seen = Watched(browser, running.place)
        page = seen.page
        page.goto(running.link)
        page.get_by_role("option", name=first).click()
        expect(page).to_have_title(f"{first} · lctl debug")
        page.wait_for_url(re.compile("panel=conversation"))  # the title is that of the newest run before, too
        page.keyboard.press("8")
        page.wait_for_url(re.compile("panel=runs"))
        page.get_by_role("option", name=second).click()
        expect(page).to_have_title(f"{second} · lctl debug")
        page.wait_for_url(re.compile(re.escape(other_log.name) + ".*panel=conversation"))
        page.go_back()
        page.go_back()
        expect(page).to_have_title(f"{first} · lctl debug")
        running.move(page, run=other_log.name, panel="state", seq=12)
        expect(page).to_have_title(f"{second} · lctl debug")
        expect_chosen(page, 12)
        expect(page.get_by_role("tab", name="State")).to_have_attribute("aria-selected", "true")
        running.move(page, run="nothing.lctl.json", panel="state")
        expect(page.get_by_role("alert")).to_contain_text("nothing.lctl.json")
        running.move(page, run=demo_log.name, panel="flow", seq=9)
        expect(page).to_have_title(f"{first} · lctl debug")
        expect_chosen(page, 9)
        page.wait_for_timeout(300)  # the address follows a reader who rests
        assert words(page) == {"run": demo_log.name, "seq": "9", "panel": "flow"}
        seen.close()


def run_id(log: Path) -> str:
    return str(json.loads(log.read_text())["chain"]["id"])


def test_an_event_that_is_not_there_is_the_nearest(demo: Debugger, page: Page) -> None:
    demo.show(page, panel="state", seq=99_999)
    expect_chosen(page, 62)


def test_without_the_key_the_page_says_what_to_do(browser: Browser, demo: Debugger) -> None:
    seen = Watched(browser, demo.place)
    seen.page.goto(f"{demo.place}/#seq=3")
    expect(seen.page.get_by_role("alert")).to_contain_text("Open the link that lctl debug printed")
    seen.close()


def test_a_run_that_is_not_there_is_said(demo: Debugger, page: Page) -> None:
    demo.show(page, run="nothing.lctl.json")
    expect(page.get_by_role("alert")).to_contain_text("nothing.lctl.json")
