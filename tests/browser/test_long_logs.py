"""A log of 30,000 events: scrubbed through, with few elements and one question at a time; and a longer one,
which is read while one looks at it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="needs playwright: pip install 'lctl[browser]'")
from playwright.sync_api import Browser, Locator, Page, Request, Route, expect

from benchmarks.trace import write_trace
from tests.browser.debugger import (
    PANELS,
    PATIENCE_MS,
    Debugger,
    Watched,
    chosen,
    debugger,
    expect_chosen,
    settled,
)

pytestmark = [pytest.mark.browser, pytest.mark.long]
EVENTS = 30_000
#: Elements of a page, however long the log is.
MOST_ELEMENTS = 4000


@pytest.fixture(scope="module")
def long_run(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Debugger]:
    path: Path = tmp_path_factory.mktemp("long") / "long.lctl.json"
    write_trace(path, EVENTS)
    with debugger(path) as running:
        yield running


@pytest.fixture
def page(browser: Browser, long_run: Debugger) -> Iterator[Page]:
    seen = Watched(browser, long_run.place)
    seen.page.goto(long_run.link)
    expect_chosen(seen.page, EVENTS)
    yield seen.page
    seen.close()


def elements(page: Page) -> int:
    return int(page.evaluate("document.querySelectorAll('*').length"))


def test_rows_in_sight_stay_while_others_come(long_run: Debugger, page: Page) -> None:
    """Of a long list the rows longest out of sight are let go of, and never those that one looks at."""
    held: list[Route] = []

    def look_at(seq: int) -> None:
        long_run.move(page, seq=seq)
        expect_chosen(page, seq)

    look_at(7_540)
    expect(page.locator(".event[data-seq='7540']")).to_be_visible()
    for seq in range(10_100, 17_900, 200):
        look_at(seq)
        settled(page)
    page.route("**/api/events?*", lambda route: route.continue_() if held else held.append(route))
    look_at(25_100)
    page.wait_for_timeout(200)
    look_at(7_540)
    held[0].continue_()
    settled(page)
    expect(page.locator(".event[data-seq='7540']")).to_be_visible()


def test_scrubbing_shows_the_state_of_where_it_stops(long_run: Debugger, page: Page) -> None:
    long_run.show(page, panel="state", seq=15_000)
    expect(page.locator(".figures dd").first).to_contain_text("15,000")
    under_way: set[Request] = set()
    most = 0

    def asked(request: Request) -> None:
        nonlocal most
        if "/api/state?" in request.url:
            under_way.add(request)
            most = max(most, len(under_way))

    page.on("request", asked)
    page.on("requestfinished", lambda request: under_way.discard(request))
    page.on("requestfailed", lambda request: under_way.discard(request))
    box = page.locator(".tb-lanes").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 5, box["y"] + 40)
    page.mouse.down()
    for n in range(60):
        page.mouse.move(box["x"] + 5 + n * (box["width"] - 10) / 60, box["y"] + 40)
    page.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + 40)
    page.mouse.up()
    at = chosen(page)
    assert EVENTS * 0.15 < at < EVENTS * 0.35
    expect(page.locator(".figures dd").first).to_contain_text(f"{at:,}")
    expect(page.locator(".inspector-head")).to_contain_text(f"#{at}")
    expect(page.locator(f".event[data-seq='{at}']")).to_have_attribute("aria-selected", "true")
    assert most == 1
    assert elements(page) < MOST_ELEMENTS


def test_what_is_out_of_sight_while_one_scrubs_shows_the_same_event(long_run: Debugger, page: Page) -> None:
    """Parts below the fold follow when the reader rests, as the address does: reloaded, it is the same."""
    long_run.show(page, panel="state", seq=2_000)
    state = page.get_by_role("region", name="State")
    expect(state.locator(".fact").first).to_be_attached()
    settled(page)
    before = state.text_content()
    box = page.locator(".tb-lanes").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 5, box["y"] + 40)
    page.mouse.down()
    for n in range(30):
        page.mouse.move(box["x"] + 5 + n * (box["width"] - 10) / 60, box["y"] + 40)
    page.mouse.up()
    at, scrubbed = chosen(page), _at_rest(page, state)
    page.reload()
    expect_chosen(page, at)
    expect(state.locator(".fact").first).to_be_attached()
    settled(page)
    assert scrubbed == state.text_content() != before


def _at_rest(page: Page, part: Locator) -> str | None:
    """What it says once it says the same for a while, however slow this machine is."""
    said = part.text_content()
    while True:
        settled(page)
        page.wait_for_timeout(400)
        before, said = said, part.text_content()
        if said == before:
            return said


def test_every_panel_has_few_elements(long_run: Debugger, page: Page) -> None:
    for name in PANELS:
        more = {"q": "type:tool_call"} if name == "search" else {}
        long_run.move(page, panel=name, seq=18_000, **more)
        expect(page.locator(f"#tab-{name}")).to_have_attribute("aria-selected", "true")
        settled(page, 4 * PATIENCE_MS)
        assert elements(page) < MOST_ELEMENTS, name


def test_the_list_reaches_both_ends(long_run: Debugger, page: Page) -> None:
    long_run.show(page, panel="state", seq=1)
    expect(page.locator(".event[data-seq='1']")).to_be_visible()
    page.keyboard.press("End")
    expect(page.locator(f".event[data-seq='{EVENTS}']")).to_be_visible()
    expect_chosen(page, EVENTS)


def test_zooming_in_reaches_single_steps(long_run: Debugger, page: Page) -> None:
    long_run.show(page, panel="flow", seq=15_000)
    box = page.locator(".tb-window")
    for _ in range(14):
        page.keyboard.press("+")
        settled(page)
    expect(box).to_be_visible()
    expect(page.get_by_label("Flame graph of steps")).to_be_visible()
    expect_chosen(page, 15_000)


def test_a_log_that_is_still_being_read_says_so(browser: Browser, tmp_path: Path) -> None:
    """Its state is there at once and becomes whole by itself; what takes long comes in steps."""
    path, events = tmp_path / "longer.lctl.json", 210_000
    write_trace(path, events)
    with debugger(path) as running:
        seen = Watched(browser, running.place)
        page = seen.page
        page.goto(running.link)
        expect_chosen(page, events)
        expect(page.locator(".figures dd").first).to_contain_text(f"{events:,}")
        running.show(page, panel="cost", seq=30_000)
        expect(page.get_by_role("region", name="Cost and time")).to_be_visible()
        expect(page.get_by_role("region", name="Critical path")).to_be_visible(timeout=4 * PATIENCE_MS)
        running.show(page, panel="state", seq=150_000)
        expect(page.get_by_text("The log is still being read")).to_have_count(0, timeout=4 * PATIENCE_MS)
        facts = page.get_by_role("region", name="Facts")
        more = facts.get_by_role("button", name="more")
        first = page.locator(".fact").count()
        page.route("**/api/facts?*", lambda route: route.abort())
        more.press("Enter")  # not where it is just now: what is above it is being drawn anew
        expect(facts.get_by_role("alert")).to_contain_text("no longer answers")
        expect(more).to_have_text(re.compile("^Try again: [0-9,]+ more$"))
        page.unroute("**/api/facts?*")
        more.press("Enter")
        expect(page.locator(".fact").nth(first + 50)).to_be_attached()
        expect(facts.get_by_role("alert")).to_have_count(0)
        running.show(page, panel="flow", seq=150_000)
        expect(page.locator(".edge").first).to_be_attached()
        running.show(page, panel="fork", seq=150_000)
        page.get_by_label("Or edits, one on a line").fill('event.agent="somebody"')
        compared = page.get_by_text("a long log: compared after event 200,000")
        expect(compared).to_be_visible(timeout=4 * PATIENCE_MS)
        seen.close()
