"""A window as narrow as a telephone's, or a page that is zoomed four times."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("playwright", reason="needs playwright: pip install 'lctl[browser]'")
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.debugger import PANELS, Debugger, Watched, settled

pytestmark = pytest.mark.browser
WIDTH = 400


@pytest.fixture
def narrow(browser: Browser, demo: Debugger) -> Iterator[Page]:
    seen = Watched(browser, demo.place, WIDTH)
    seen.page.goto(demo.link)
    yield seen.page
    seen.close()


def across(element: Locator) -> tuple[float, float]:
    """From where to where it goes, left to right."""
    box = element.bounding_box()
    assert box is not None
    return box["x"], box["x"] + box["width"]


@pytest.mark.parametrize("panel", PANELS)
def test_the_tab_of_the_panel_that_is_shown_is_seen(demo: Debugger, narrow: Page, panel: str) -> None:
    """Not all have room; a link may open one of the last."""
    demo.show(narrow, panel=panel)
    tab = narrow.get_by_role("tab", name=PANELS[panel], exact=True)
    expect(tab).to_have_attribute("aria-selected", "true")
    settled(narrow)
    left, right = across(tab)
    assert left >= 0 and right <= WIDTH


def test_a_window_that_becomes_narrow_still_shows_the_tab(demo: Debugger, narrow: Page) -> None:
    narrow.set_viewport_size({"width": 1440, "height": 900})
    demo.show(narrow, panel="runs")
    tab = narrow.get_by_role("tab", name="Runs", exact=True)
    settled(narrow)
    narrow.set_viewport_size({"width": WIDTH, "height": 900})
    expect(tab).to_be_in_viewport(ratio=0.99)
    settled(narrow)
    left, right = across(tab)
    assert left >= 0 and right <= WIDTH


def test_the_buttons_of_the_head_stand_in_one_row(demo: Debugger, narrow: Page) -> None:
    """Beside a long name, how it ended and its failures."""
    demo.show(narrow, panel="state")
    settled(narrow)
    tops = narrow.locator(".topbar > button:visible").evaluate_all(
        "all => all.map(e => e.getBoundingClientRect()).map(box => box.top + box.height / 2)"
    )
    assert len(tops) >= 5 and max(tops) - min(tops) < 4
    assert narrow.locator(".brand strong").evaluate("e => e.clientWidth") > 20


def test_what_is_written_into_has_the_width_of_the_window(demo: Debugger, narrow: Page) -> None:
    """The search of runs, and the event of a what-if, stood beside what has room below them."""
    demo.show(narrow, panel="runs")
    left, right = across(narrow.get_by_role("searchbox", name="Find runs"))
    assert right - left > WIDTH - 40
    demo.show(narrow, panel="fork", seq=43)
    left, right = across(narrow.locator(".whatif textarea").first)
    assert right - left > WIDTH - 60


def test_runs_to_compare_with_have_their_names(demo: Debugger, narrow: Page) -> None:
    """Those of the folder, and not the one that is looked at."""
    demo.show(narrow, panel="compare")
    items = narrow.locator(".lineage .item")
    expect(items).to_have_count(1)
    name = items.locator("b")
    expect(name).to_contain_text("demo-8")
    assert name.evaluate("e => e.scrollWidth <= e.clientWidth")
