"""For who sees little, uses no mouse, or wants nothing to move."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

pytest.importorskip("playwright", reason="needs playwright: pip install 'lctl[browser]'")
from playwright.sync_api import Browser, Page, expect

from tests.browser.debugger import PANELS, PATIENCE_MS, Debugger, Watched, settled

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


@pytest.mark.parametrize("theme", ["dark", "light"])
@pytest.mark.parametrize("panel", [*PANELS, "sql"])
def test_axe_finds_nothing(
    browser: Browser, demo: Debugger, other_log: Path, panel: str, theme: Literal["dark", "light"]
) -> None:
    if not AXE.exists():
        pytest.skip("needs axe-core: npm ci in debugger/")
    context = browser.new_context(
        viewport={"width": 1440, "height": 900}, color_scheme=theme, bypass_csp=True, reduced_motion="reduce"
    )
    looked = context.new_page()
    looked.set_default_timeout(PATIENCE_MS)
    looked.goto(demo.link)
    more = {"right": other_log.name} if panel == "compare" else {}
    if panel == "sql":
        panel, more = "search", {"ask": "sql", "sql": "SELECT seq, type, agent FROM events LIMIT 30"}
    demo.show(looked, panel=panel, seq=41, **more)
    looked.wait_for_load_state("networkidle")
    looked.add_script_tag(path=str(AXE))
    found = looked.evaluate(VIOLATIONS)
    context.close()
    assert found == []


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


@pytest.mark.parametrize("width", [1024, 1280, 1920])
def test_the_page_fits(browser: Browser, demo: Debugger, width: int) -> None:
    seen = Watched(browser, demo.place, width)
    looked = seen.page
    looked.goto(demo.link)
    demo.show(looked, seq=41)
    for panel in PANELS:
        demo.move(looked, panel=panel, seq=41)
        expect(looked.locator(f"#tab-{panel}")).to_have_attribute("aria-selected", "true")
        settled(looked)
        assert looked.evaluate("document.documentElement.scrollWidth") <= width, panel
        ends = looked.evaluate(
            "[...document.querySelectorAll('.topbar > *')].map(e => e.getBoundingClientRect().right)"
        )
        assert max(ends) <= width + 1, panel
    seen.close()
