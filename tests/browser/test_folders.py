"""A folder of runs: what is opened of it, and when."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="needs playwright: pip install 'lctl[browser]'")
from playwright.sync_api import Browser, expect

from tests.browser.debugger import Watched, debugger, expect_chosen, settled
from tests.browser.logs import document, event

pytestmark = pytest.mark.browser


def test_a_folder_opens_none_of_its_runs_before_one_is_wanted(browser: Browser, tmp_path: Path) -> None:
    """The newest may be a large document of others, which is read whole to be shown. Another panel than the
    list is of the newest, as the address of a panel is."""
    foreign = {"lctl": "4.0", "chain": {"id": "foreign"}, "events": [event(1, "x"), event(2, "x")]}
    (tmp_path / "20260101-000002-foreign.lctl.json").write_text(json.dumps(foreign, indent=1))
    (tmp_path / "20260101-000001-ours.lctl.json").write_text(document(event(1, "x")))
    with debugger(tmp_path) as running:
        seen = Watched(browser, running.place)
        page, asked = seen.page, list[str]()
        page.on("request", lambda request: asked.append(request.url))
        page.goto(running.link)
        expect(page.get_by_role("option", name="foreign")).to_be_visible()
        settled(page)
        assert not [url for url in asked if re.search(r"/api/(run|event|state)\b(?!s)", url)], asked
        expect(page).to_have_title("lctl debug")
        page.keyboard.press("2")
        expect(page).to_have_title("foreign · lctl debug")
        expect_chosen(page, 2)
        running.show(page, panel="state")
        expect(page).to_have_title("foreign · lctl debug")
        seen.close()


def test_a_folder_without_runs_says_so_and_shows_what_comes(browser: Browser, tmp_path: Path) -> None:
    with debugger(tmp_path) as running:
        seen = Watched(browser, running.place)
        page = seen.page
        page.goto(running.link)
        expect(page.get_by_text("No runs yet")).to_be_visible()
        page.keyboard.press("2")
        expect(page.get_by_role("alert")).to_contain_text("no recorded runs")
        page.get_by_role("button", name="All runs", exact=True).click()
        (tmp_path / "first.lctl.json").write_text(document(event(1, "fact_added", id="F", text="x")))
        expect(page.get_by_role("option", name="odd")).to_be_visible()
        page.keyboard.press("2")
        expect(page).to_have_title("odd · lctl debug")
        seen.close()
