"""Each key does what the help says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright", reason="needs playwright: pip install 'lctl[browser]'")
from playwright.sync_api import Page, Route, expect

from tests.browser.debugger import PANELS, Debugger, chosen, expect_chosen

pytestmark = pytest.mark.browser


@pytest.fixture
def log(demo_log: Path) -> list[dict[str, Any]]:
    return list(json.loads(demo_log.read_text())["events"])


def after(log: list[dict[str, Any]], seq: int, what: str, back: bool = False) -> int:
    def fits(event: dict[str, Any]) -> bool:
        if what == "llm":
            return bool(event["type"] == "step_start" and event["data"].get("kind") == "llm")
        return bool(event["type"] == {"step": "step_start"}.get(what, what))

    found: list[int] = [e["seq"] for e in log if fits(e) and (e["seq"] < seq if back else e["seq"] > seq)]
    return found[-1] if back else found[0]


def at(demo: Debugger, page: Page, seq: int, panel: str = "state") -> None:
    demo.show(page, panel=panel, seq=seq)
    expect_chosen(page, seq)
    expect(page.locator(".inspector-head")).to_contain_text(f"#{seq}")


def test_arrows_move_by_one_event(demo: Debugger, page: Page) -> None:
    at(demo, page, 20)
    page.keyboard.press("ArrowRight")
    expect_chosen(page, 21)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect_chosen(page, 19)


def test_a_key_pressed_before_the_log_is_open_counts(demo: Debugger, page: Page) -> None:
    held: list[Route] = []
    page.route(re.compile(r"/api/run(\?|$)"), lambda route: held.append(route))
    demo.show(page, panel="state", seq=20)
    expect(page.get_by_text("Opening the log")).to_be_visible()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("3")
    while not held:  # it is told of while something is waited for
        page.wait_for_timeout(20)
    held[0].continue_()
    expect_chosen(page, 22)
    expect(page.get_by_role("tab", name="Flow")).to_have_attribute("aria-selected", "true")


@pytest.mark.parametrize(
    ("key", "what", "back"),
    [
        ("Shift+ArrowRight", "step", False),
        ("Shift+ArrowLeft", "step", True),
        ("]", "error", False),
        (")", "checkpoint", False),
        ("}", "llm", False),
        ("{", "llm", True),
    ],
)
def test_jumps(
    demo: Debugger, page: Page, log: list[dict[str, Any]], key: str, what: str, back: bool
) -> None:
    at(demo, page, 20)
    page.keyboard.press(key)
    expect_chosen(page, after(log, 20, what, back))


def test_jumps_back_to_an_error_and_a_checkpoint(
    demo: Debugger, page: Page, log: list[dict[str, Any]]
) -> None:
    last = len(log)
    at(demo, page, last)
    page.keyboard.press("[")
    expect_chosen(page, after(log, last, "error", True))
    page.keyboard.press("End")
    expect_chosen(page, last)
    page.keyboard.press("(")
    expect_chosen(page, after(log, last, "checkpoint", True))


def test_where_there_is_no_further_one_the_page_says_so(demo: Debugger, page: Page) -> None:
    at(demo, page, 1)
    page.keyboard.press("[")
    expect(page.get_by_role("status").filter(has_text="no earlier failure")).to_be_visible()
    assert chosen(page) == 1


def test_home_and_end(demo: Debugger, page: Page, log: list[dict[str, Any]]) -> None:
    at(demo, page, 20)
    page.keyboard.press("Home")
    expect_chosen(page, 1)
    page.keyboard.press("End")
    expect_chosen(page, len(log))
    page.keyboard.press("ArrowRight")
    assert chosen(page) == len(log)


def test_go_to_a_seq(demo: Debugger, page: Page) -> None:
    at(demo, page, 20)
    page.keyboard.press("g")
    page.keyboard.type("33")
    page.keyboard.press("Enter")
    expect_chosen(page, 33)


@pytest.mark.parametrize(("key", "field"), [("g", "Go to event"), ("/", "Search the run")])
def test_what_is_typed_right_after_a_key_goes_to_its_field(
    demo: Debugger, page: Page, key: str, field: str
) -> None:
    at(demo, page, 20)
    focused = page.evaluate(
        """async key => {
            document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
            for (let n = 0; n < 20; n++) await null;  // microtasks only: no frame, no next key between
            const { activeElement } = document;
            return activeElement.ariaLabel ?? activeElement.labels?.[0]?.textContent;
        }""",
        key,
    )
    assert focused == field


def test_space_plays_to_the_end(demo: Debugger, page: Page, log: list[dict[str, Any]]) -> None:
    at(demo, page, len(log) - 12)
    for _ in range(8):
        page.keyboard.press(".")
    page.keyboard.press(" ")
    expect_chosen(page, len(log))
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()


def test_space_stops_what_plays(demo: Debugger, page: Page) -> None:
    at(demo, page, 1)
    for _ in range(8):
        page.keyboard.press(",")
    expect(page.get_by_label("Speed")).to_have_value("0.25")
    page.keyboard.press(" ")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    page.keyboard.press(" ")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()


def test_slash_searches(demo: Debugger, page: Page) -> None:
    at(demo, page, 20)
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Search the run")).to_be_focused()
    page.keyboard.type("?grep")
    expect(page.get_by_role("searchbox", name="Search the run")).to_have_value("?grep")


def test_question_mark_shows_every_key(demo: Debugger, page: Page) -> None:
    at(demo, page, 20)
    page.keyboard.press("?")
    helped = page.get_by_role("dialog", name="Keys")
    for text in ("previous event", "next step", "next failure", "play or pause", "search", "whole run"):
        expect(helped.get_by_text(text, exact=True)).to_be_visible()
    for name in PANELS.values():
        expect(helped.get_by_text(f"{name} panel", exact=True)).to_be_visible()
    expect(helped.get_by_text("go to an event", exact=True)).to_be_visible()
    for last in ("this help", "Drag: choose an event."):
        expect(helped.get_by_text(last)).to_be_in_viewport(ratio=1)
    assert helped.evaluate("box => box.scrollHeight <= box.clientHeight")
    page.keyboard.press("Escape")
    expect(helped).to_be_hidden()


@pytest.mark.parametrize(("digit", "name"), [(str(n), name) for n, name in enumerate(PANELS, 1)])
def test_digits_open_panels(demo: Debugger, page: Page, digit: str, name: str) -> None:
    at(demo, page, 20, panel="state" if digit != "2" else "flow")
    page.keyboard.press(digit)
    expect(page.get_by_role("tab", name=PANELS[name], exact=True)).to_have_attribute("aria-selected", "true")


def test_list_and_inspector_come_and_go(demo: Debugger, page: Page) -> None:
    at(demo, page, 20)
    page.keyboard.press("e")
    expect(page.locator(".column.list")).to_have_count(0)
    page.keyboard.press("i")
    expect(page.locator(".inspector")).to_have_count(0)
    page.keyboard.press("e")
    page.keyboard.press("i")
    expect(page.locator(".inspector")).to_be_visible()
    expect(page.locator(".column.list")).to_be_visible()


def test_zoom_pan_and_the_whole_run(demo: Debugger, page: Page) -> None:
    at(demo, page, 30)
    fit = page.get_by_role("button", name="fit")
    expect(fit).to_be_disabled()
    page.keyboard.press("t")
    expect(page.get_by_role("button", name="by event")).to_be_visible()
    page.keyboard.press("+")
    expect(fit).to_be_enabled()
    box = page.locator(".tb-window")
    expect(box).to_be_visible()
    before = box.get_attribute("style")
    page.keyboard.press("d")
    expect(box).not_to_have_attribute("style", before or "")
    page.keyboard.press("a")
    page.keyboard.press("-")
    page.keyboard.press("0")
    expect(fit).to_be_disabled()


def test_dark_and_light(demo: Debugger, page: Page) -> None:
    at(demo, page, 20)
    root = page.locator("html")
    first = root.get_attribute("data-theme")
    page.keyboard.press("m")
    expect(root).to_have_attribute("data-theme", "dark" if first == "light" else "light")


def test_keys_are_for_writing_in_a_box(demo: Debugger, page: Page) -> None:
    at(demo, page, 20, panel="search")
    box = page.get_by_role("searchbox", name="Search the run")
    box.focus()
    page.keyboard.type("e[i] 2")
    expect(box).to_have_value("e[i] 2")
    assert chosen(page) == 20
