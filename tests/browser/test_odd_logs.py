"""Logs at the edge of what a log can be look right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="needs playwright: pip install 'lctl[browser]'")
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.debugger import PANELS, Debugger, Watched, debugger, expect_chosen, settled
from tests.browser.logs import Open, document, event

pytestmark = pytest.mark.browser


def walk(running: Debugger, page: Page) -> None:
    """Every panel stands, and none of them says that something went wrong."""
    running.show(page)
    for name in PANELS:
        running.move(page, panel=name)
        expect(page.get_by_role("tab", name=PANELS[name], exact=True)).to_have_attribute(
            "aria-selected", "true"
        )
        settled(page)
        if name not in ("fork", "compare"):
            expect(page.locator(".notice.error")).to_have_count(0)


def test_an_empty_log(opened: Open) -> None:
    running, page = opened(document())
    expect(page.get_by_text("No events yet")).to_be_visible()
    walk(running, page)


def test_a_panel_chosen_before_the_run_is_there_stands(opened: Open) -> None:
    """A log without messages is best looked at by its state; but not where somebody has chosen."""
    running, page = opened(document())
    held: list[Route] = []
    page.route(re.compile(r"/api/run(\?|$)"), lambda route: held.append(route))
    page.goto("about:blank")
    page.goto(running.fragment())
    page.locator(".app").wait_for()
    page.wait_for_function("() => window.underWay > 0")
    running.move(page, panel="flow")  # not the one that the address says by then, if the page was slow
    page.wait_for_timeout(100)
    for route in held:
        route.continue_()
    settled(page)
    expect(page.get_by_role("tab", name="Flow", exact=True)).to_have_attribute("aria-selected", "true")


def test_a_moment_chosen_before_the_run_is_there_stands(opened: Open) -> None:
    """A link that was followed in a tab that is still opening."""
    facts = [event(n, "fact_added", id=f"F{n}", text="x", confidence=0.5) for n in range(1, 9)]
    running, page = opened(document(*facts))
    held: list[Route] = []
    page.route(re.compile(r"/api/run(\?|$)"), lambda route: held.append(route))
    page.goto("about:blank")
    page.goto(running.place)
    page.wait_for_function("() => window.underWay > 0")
    running.move(page, panel="state", seq=3)
    page.wait_for_timeout(100)
    for route in held:
        route.continue_()
    expect_chosen(page, 3)


def test_a_panel_chosen_as_the_page_appears_stands(opened: Open) -> None:
    """Between the first drawing and the frame after it, too."""
    running, page = opened(document())
    page.add_init_script(
        """new MutationObserver((_, seen) => {
          if (!document.querySelector(".app")) return;
          seen.disconnect();
          location.hash = "panel=flow";
        }).observe(document, { childList: true, subtree: true });"""
    )
    running.show(page)
    settled(page)
    expect(page.get_by_role("tab", name="Flow", exact=True)).to_have_attribute("aria-selected", "true")


def test_one_event(opened: Open) -> None:
    running, page = opened(document(event(1, "fact_added", id="F1", text="alone", confidence=0.5)))
    expect_chosen(page, 1)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("+")
    expect_chosen(page, 1)
    running.show(page, panel="state")
    expect(page.locator(".fact")).to_contain_text("alone")
    walk(running, page)


def test_the_steps_of_a_run_without_times_are_as_wide_as_their_events(opened: Open) -> None:
    """Of what was imported; all of them were one line at its left edge."""
    events = [
        event(1, "step_start", "ann"),
        event(2, "step_end", "ann"),
        event(3, "step_start", "bob"),
        event(4, "step_end", "bob"),
    ]
    running, page = opened(document(*({**one, "timestamp": ""} for one in events)))
    running.show(page, panel="flow", seq=4)
    steps = page.get_by_role("region", name="Flame graph of steps")
    expect(steps).to_contain_text("by event")
    canvas = steps.locator("canvas")
    expect(canvas).to_be_visible()
    settled(page)
    box = canvas.bounding_box()
    assert box is not None
    canvas.click(position={"x": box["width"] - 8, "y": 10})
    expect_chosen(page, 3)
    canvas.click(position={"x": 8, "y": 10})
    expect_chosen(page, 1)


def test_a_confidence_of_nothing_is_a_confidence(opened: Open) -> None:
    running, page = opened(
        document(
            event(1, "fact_added", id="F1", text="surely not", confidence=0.0),
            event(2, "fact_added", id="F2", text="nobody said how sure"),
            event(3, "fact_modified", id="F2", text="still nobody"),
        )
    )
    running.show(page, panel="state", seq=3)
    none = page.locator(".fact", has_text="F1")
    expect(none.locator(".fact-sure b")).to_have_text("0.00")
    expect(none.locator(".history")).to_contain_text("#1 0.00")
    expect(none.get_by_role("img")).to_have_attribute("aria-label", "Confidence: 0.00 at 1")
    expect(page.locator(".fact", has_text="F2").locator(".fact-sure b")).to_have_text("–")


def test_an_unfinished_log(opened: Open) -> None:
    running, page = opened(
        document(
            event(1, "step_start", kind="agent", intent="plan"),
            event(2, "tool_call", tool="grep", input={"pattern": "x"}, output=[], duration_ms=3),
            tail='{"seq":3,"type":"fact_ad',
        )
    )
    expect_chosen(page, 2)
    expect(page.locator(".notes")).to_be_visible()
    running.show(page, panel="state")
    expect(page.get_by_role("region", name="Open steps")).to_contain_text("plan")
    walk(running, page)


def test_a_step_that_is_open_lasts_as_long_as_the_run(opened: Open) -> None:
    running, page = opened(
        document(
            event(1, "step_start", kind="agent", intent="plan"),
            *(event(n, "fact_added", id=f"F{n}", text="seen", confidence=0.5) for n in range(2, 12)),
            tail="",
        )
    )
    running.show(page, panel="flow", seq=11)
    settled(page)
    for canvas, top in (page.locator(".tb-lanes canvas"), 32), (page.locator(".flame canvas"), 12):
        for share in (0.05, 0.5, 0.9):
            assert canvas.evaluate(_PAINTED, [share, top]), (canvas, share)
    page.locator(".flame canvas").hover(position={"x": 300, "y": 12})
    expect(page.locator(".flame header")).to_contain_text("10.0s so far")


#: Whether a canvas has something at a share of its width and so many CSS pixels from its top.
_PAINTED = """(canvas, [share, top]) => {
  const fine = canvas.height / canvas.clientHeight;
  const [x, y] = [Math.round(canvas.width * share), Math.round(top * fine)];
  return canvas.getContext("2d").getImageData(x, y, 1, 1).data[3] > 0;
}"""


def test_a_long_line_does_not_hold_up_the_page(opened: Open) -> None:
    """A browser's time for a text without ends of lines grows with the square of its length."""
    texts = ["слово " * 11_000, "A" * 100_000, "b" * 30_000, "😀" * 2_500]
    running, page = opened(
        document(
            *(
                event(n, "message", message_id=f"m{n}", parent_id=f"m{n - 1}", role="user", content=said)
                for n, said in enumerate(texts, 1)
            )
        )
    )
    running.show(page, panel="conversation", seq=len(texts))
    expect(page.locator(".message")).to_have_count(len(texts))
    shown = page.locator(".message .parts").all_text_contents()
    assert len(shown) == len(texts)
    assert all(one.rstrip() == said.rstrip() for one, said in zip(shown, texts, strict=True))
    took = page.evaluate(_LAID_OUT)
    assert took < 6_000, took


#: Milliseconds that it takes to lay all messages out anew.
_LAID_OUT = """() => {
  const list = document.querySelector(".message").parentElement;
  const began = performance.now();
  list.style.width = "300px";
  list.getBoundingClientRect();
  return performance.now() - began;
}"""


def test_a_log_of_nothing_but_unknown_types(opened: Open) -> None:
    running, page = opened(document(*(event(n, f"weather.{n}", agent="", wind=n) for n in range(1, 6))))
    expect_chosen(page, 5)
    expect(page.locator(".event", has_text="weather.3")).to_be_visible()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".inspector")).to_contain_text("weather.4")
    expect(page.locator(".inspector")).to_contain_text("wind")
    walk(running, page)


def test_an_empty_folder(browser: Browser, tmp_path: Path) -> None:
    with debugger(tmp_path) as running:
        seen = Watched(browser, running.place)
        seen.page.goto(running.link)
        expect(seen.page.get_by_text("No runs yet")).to_be_visible()
        seen.close()


def test_from_a_run_that_cannot_be_read_one_comes_back_to_the_others(
    browser: Browser, tmp_path: Path
) -> None:
    (tmp_path / "good.lctl.json").write_text(document(event(1, "fact_added", id="F", text="x", confidence=1)))
    (tmp_path / "none.lctl.json").write_text("hello")
    with debugger(tmp_path) as running:
        seen = Watched(browser, running.place)
        page = seen.page
        page.goto(running.link)
        running.show(page, run="none.lctl.json")
        expect(page.get_by_role("alert")).to_contain_text("not a log")
        page.get_by_role("button", name="All runs", exact=True).click()
        expect(page.locator(".run-row[role=option]")).to_have_count(2)
        running.move(page, run="none.lctl.json", panel="state")
        expect(page.get_by_role("alert")).to_contain_text("not a log")
        page.get_by_role("tab", name="Runs").click()
        page.locator(".run-row", has_text="odd").click()
        expect_chosen(page, 1)
        seen.close()


def test_events_that_the_log_lacks_are_told_from_those_to_come(opened: Open) -> None:
    facts = [event(n, "fact_added", id=f"F{n}", text="x", confidence=0.5) for n in (1, 2, 4)]
    running, page = opened(document(*facts))
    running.show(page, panel="state")
    expect(page.locator(".event.lacking")).to_have_text("3not in the log")
    expect(page.locator(".event.waiting")).to_have_count(0)


def test_a_link_to_an_event_behind_the_end_shows_the_last(opened: Open) -> None:
    facts = [event(n, "fact_added", id="F", text="x", confidence=0.5) for n in (1, 2)]
    running, page = opened(document(*facts))
    running.show(page, panel="state")
    running.move(page, panel="state", seq=9)
    expect_chosen(page, 2)
    expect(page.locator(".inspector-head")).to_contain_text("#2")


def test_a_state_of_less_than_was_asked_for_says_so(opened: Open) -> None:
    """As it is while a log is being read."""
    running, page = opened(
        document(*(event(n, "fact_added", id=f"F{n}", text="x", confidence=0.5) for n in range(1, 9)))
    )

    def early(route: Route) -> None:
        answer = route.fetch(url=route.request.url.replace("at=8", "at=5"))
        route.fulfill(json={**answer.json(), "progress": 0.6, "changes": []})

    page.route("**/api/state?*", early)
    running.show(page, panel="state", seq=8)
    state = page.get_by_role("region", name="State")
    expect(state.get_by_role("status")).to_contain_text("still being read: this is the state at event 5.")
    expect(state).not_to_contain_text("Nothing but")
    page.unroute("**/api/state?*")
    expect(state.get_by_role("status")).to_have_count(0)
    expect(state.locator(".figures dd").first).to_have_text("8")


def test_what_a_call_used_is_not_nothing_where_the_log_does_not_say_it(opened: Open) -> None:
    call = event(1, "step_start", kind="llm", model="gpt-4.1-mini")
    running, page = opened(document(call, {**event(2, "step_end", outcome="success"), "step": 1}))
    for panel in ("state", "cost"):
        running.show(page, panel=panel, seq=2)
        figure = page.locator(".figures > div", has_text="tokens").first
        expect(figure).to_contain_text("–")
        expect(figure).to_contain_text("not recorded")
        expect(page.locator(".figures > div", has_text="cost").first).not_to_contain_text("0")
        cells = page.locator(".table tr", has_text="gpt-4.1-mini").get_by_role("cell").all_inner_texts()
        assert cells.count("–") >= 2, cells
    running.show(page, panel="flow", seq=2)
    expect(page.locator(".node")).to_contain_text("1 call")
    expect(page.locator(".node")).not_to_contain_text("tok")


def test_the_steps_around_a_deep_event_and_a_clock_that_was_set_back(opened: Open) -> None:
    deep = [
        {**event(n, "step_start", kind="agent", intent=f"level {n}"), **({"step": n - 1} if n > 1 else {})}
        for n in range(1, 41)
    ]
    late = {**event(41, "tool_call", tool="look"), "step": 40, "timestamp": "2026-01-15T10:30:00Z"}
    running, page = opened(document(*deep, late))
    running.show(page, panel="state", seq=41)
    around = page.get_by_role("navigation", name="Steps it is in").get_by_role("button")
    expect(around).to_have_text(["level 1", "level 2", "33 more", *(f"level {n}" for n in range(36, 41))])
    around.nth(2).click()
    expect(around).to_have_count(40)
    expect(page.locator(".inspector-head")).to_contain_text("10:30:00  -1.00s")
    expect(page.locator(".transport")).to_contain_text("-1.00s")
    expect(page.locator(".transport")).not_to_contain_text("+-")
