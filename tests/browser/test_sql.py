"""The SQL box: rows of a run as it was at a moment, and where a query is wrong."""

from __future__ import annotations

import pytest

pytest.importorskip("playwright", reason="needs playwright: pip install 'lctl[browser]'")
from playwright.sync_api import Page, expect

from tests.browser.debugger import Debugger, expect_chosen
from tests.browser.logs import Open, document, event

pytestmark = pytest.mark.browser
FACTS = "SELECT id, confidence, text, seq FROM facts ORDER BY seq"


def test_a_query_is_typed_run_and_followed_to_its_event(demo: Debugger, page: Page) -> None:
    demo.show(page, panel="search", seq=1)
    page.get_by_role("tab", name="SQL", exact=True).click()
    box = page.get_by_role("textbox", name="SQL")
    box.fill("SELECT seq, tool FROM tools ORDER BY seq LIMIT 3")
    box.press("Control+Enter")
    rows = page.get_by_role("table", name="Rows").get_by_role("row")
    expect(rows).to_have_count(4)
    expect(page.get_by_role("columnheader")).to_have_text(["seq", "tool"])
    at = int(rows.nth(2).get_by_role("cell").first.inner_text())
    rows.nth(2).click()
    expect_chosen(page, at)
    rows.nth(1).focus()
    page.keyboard.press("Enter")
    expect_chosen(page, int(rows.nth(1).get_by_role("cell").first.inner_text()))


def test_a_link_holds_the_query_and_its_moment(demo: Debugger, page: Page) -> None:
    demo.show(page, panel="search", ask="sql", sql="SELECT count(*) AS n FROM events", upto=20)
    expect(page.get_by_role("textbox", name="SQL")).to_have_value("SELECT count(*) AS n FROM events")
    expect(page.get_by_role("table", name="Rows").get_by_role("cell")).to_have_text(["20"])
    expect(page.get_by_role("checkbox")).to_be_checked()
    page.get_by_role("checkbox").uncheck()
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("table", name="Rows").get_by_role("cell")).not_to_have_text(["20"])


def test_what_is_wrong_with_a_query_is_pointed_at(demo: Debugger, page: Page) -> None:
    demo.show(page, panel="search", ask="sql", sql="SELECT id,\n  nothing FROM facts")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("nothing")
    assert alert.locator("code").inner_text().split("\n") == ["  nothing FROM facts", "  ^"]
    demo.show(page, panel="search", ask="sql", sql="DROP TABLE facts")
    expect(page.get_by_role("alert")).to_be_visible()
    demo.show(page, panel="search", ask="sql", sql="SELECT id FROM facts WHERE id = 'no such'")
    expect(page.get_by_text("No rows")).to_be_visible()


def test_tables_and_examples_begin_a_query(demo: Debugger, page: Page) -> None:
    demo.show(page, panel="search", ask="sql")
    page.get_by_role("button", name="surest facts").click()
    expect(page.get_by_role("columnheader").first).to_have_text("id")
    page.get_by_role("button", name="steps", exact=True).click()
    box = page.get_by_role("textbox", name="SQL")
    box.fill("SELECT ")
    page.get_by_role("button", name="duration_ms", exact=True).click()
    expect(box).to_have_value("SELECT duration_ms")


def test_what_a_log_holds_is_text_in_a_row_too(opened: Open) -> None:
    evil = "<img src=x onerror=alert(1)><script>alert(2)</script>"
    running, page = opened(
        document(event(1, "fact_added", evil, id=evil, text=evil, confidence=0.0, source=evil))
    )
    running.show(page, panel="search", ask="sql", sql=f"{FACTS}", seq=1)
    cells = page.get_by_role("table", name="Rows").get_by_role("cell")
    expect(cells.nth(0)).to_have_text(evil)
    expect(cells.nth(1)).to_have_text("0")
    assert page.locator("#panel img, #panel script").count() == 0
