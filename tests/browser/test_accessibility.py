"""For who sees little, uses no mouse, or wants nothing to move."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="needs playwright: pip install 'lctl[browser]'")
from playwright.sync_api import Browser, Page, expect

from tests.browser.debugger import PANELS, Debugger, Watched, settled

pytestmark = pytest.mark.browser
VIOLATIONS = """async () => (await axe.run({ resultTypes: ["violations"] })).violations.map(found =>
  found.id + ": " + found.nodes.slice(0, 4).map(n => n.html.slice(0, 120) + (n.any[0]?.message ?? "")))"""
#: Which part of the page has the focus.
PLACE = """(() => {
  const parts = { ".topbar": "head", ".transport": "transport", ".timebar": "time", ".list": "list",
                  "#panel": "panel", ".side": "side" };
  return Object.entries(parts).find(([part]) => document.activeElement.closest(part))?.[1] ?? "body";
})()"""
AXE = Path(__file__).parents[2] / "debugger/node_modules/axe-core/axe.min.js"


@pytest.fixture(scope="module", params=["dark", "light"])
def looked(browser: Browser, demo: Debugger, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page that axe is in, at one panel after another."""
    if not AXE.exists():
        pytest.skip("needs axe-core: npm ci in debugger/")
    seen = Watched(browser, demo.place, color_scheme=request.param, bypass_csp=True)
    seen.page.goto(demo.link)
    seen.page.locator(".app").wait_for()
    seen.page.add_script_tag(path=AXE)
    yield seen.page
    seen.close()


@pytest.mark.parametrize("panel", [*PANELS, "sql"])
def test_axe_finds_nothing(demo: Debugger, looked: Page, other_log: Path, panel: str) -> None:
    more = {"right": other_log.name} if panel == "compare" else {}
    if panel == "sql":
        panel, more = "search", {"ask": "sql", "sql": "SELECT seq, type, agent FROM events LIMIT 30"}
    demo.move(looked, panel=panel, seq=41, **more)
    expect(looked.locator(f"#tab-{panel}")).to_have_attribute("aria-selected", "true")
    settled(looked)
    assert looked.evaluate(VIOLATIONS) == []


def test_the_focus_goes_through_the_page_in_reading_order(demo: Debugger, page: Page) -> None:
    demo.show(page, panel="state", seq=41)
    expect(page.locator(".inspector-head")).to_be_visible()
    seen: list[str] = []
    for _ in range(80):
        page.keyboard.press("Tab")
        seen.append(page.evaluate(PLACE))
        if seen[-1] == "side":
            break
    order = [place for n, place in enumerate(seen) if n == 0 or seen[n - 1] != place]
    assert order == ["head", "transport", "time", "list", "panel", "side"]


def test_nothing_moves_for_who_wants_it_so(demo: Debugger, page: Page) -> None:
    demo.show(page, panel="runs")
    moving = page.evaluate("document.getAnimations().length")
    assert moving == 0


@pytest.mark.parametrize(("width", "seq"), [(320, 41), (700, 62), (1024, 41), (1280, 62), (1920, 41)])
def test_the_page_fits(browser: Browser, demo: Debugger, width: int, seq: int) -> None:
    """Also a narrow window, which is what a wide one is at 200 % and 400 %."""
    seen = Watched(browser, demo.place, width)
    looked = seen.page
    looked.goto(demo.link)
    demo.show(looked, seq=seq)
    for panel in PANELS:
        demo.move(looked, panel=panel, seq=seq)
        expect(looked.locator(f"#tab-{panel}")).to_have_attribute("aria-selected", "true")
        settled(looked)
        assert looked.evaluate("document.documentElement.scrollWidth") <= width, panel
        ends = looked.evaluate(
            "[...document.querySelectorAll('.topbar > *')].map(e => e.getBoundingClientRect().right)"
        )
        assert max(ends) <= width + 1, panel
        if panel == "conversation":  # the list beside it is above it where there is no room
            assert looked.evaluate("document.querySelector('.thread').clientWidth") >= min(340, width - 40)
        if panel == "state":
            lefts = looked.evaluate("[...document.querySelectorAll('.figures > div')].map(e => e.offsetLeft)")
            assert len(lefts) == 7 and set(lefts) == set(lefts[: len(set(lefts))]), "figures stand in columns"
    seen.close()
