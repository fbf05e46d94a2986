"""Logs of a great many things: agents, letters, changes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="needs playwright: pip install 'lctl[browser]'")
from playwright.sync_api import Browser, expect

from tests.browser.debugger import Watched, debugger, settled
from tests.browser.logs import Open, document, event

pytestmark = pytest.mark.browser


def test_a_confidence_that_changes_often_is_a_curve_without_marks(opened: Open) -> None:
    running, page = opened(
        document(
            event(1, "fact_added", id="A", text="often", confidence=0.5),
            event(2, "fact_added", id="B", text="twice", confidence=0.5),
            *(event(n, "fact_modified", id="A", confidence=n % 7 / 7) for n in range(3, 50)),
            event(50, "fact_modified", id="B", confidence=0.9),
        )
    )
    running.show(page, panel="state", seq=50)
    expect(page.locator(".fact", has_text="twice").locator("circle")).to_have_count(2)
    expect(page.locator(".fact", has_text="often").locator("path.curve")).to_have_count(1)
    expect(page.locator(".fact", has_text="often").locator("circle")).to_have_count(0)


def test_a_large_document_of_others_is_not_called_well_ended(browser: Browser, tmp_path: Path) -> None:
    """The list has not read it, and says so; chosen, it opens."""
    text = json.dumps(
        {"lctl": "4.0", "chain": {"id": "large"}, "events": [event(1, "x", text="word " * 1_000_000)]},
        indent=1,
    )
    (tmp_path / "20260101-000001-large.lctl.json").write_text(text)
    (tmp_path / "20260101-000002-small.lctl.json").write_text(document(event(1, "x")))
    with debugger(tmp_path) as running:
        seen = Watched(browser, running.place)
        seen.page.goto(running.link)
        row = seen.page.get_by_role("option", name="large")
        expect(row).to_contain_text("in another form than lctl writes: not read for this list")
        expect(row.locator("i.status")).not_to_have_class(re.compile("ok"))
        row.click()
        expect(seen.page).to_have_title("large · lctl debug")
        seen.close()


def test_thousands_of_agents_are_no_page_of_thousands_of_rows(opened: Open) -> None:
    """The busiest of them, and what the event changed; long names take no more room than there is."""
    agents = [f"agent {n:04d} {'x' * 300}" for n in range(400)]
    events = [
        event(n, "error", agent, category="execution_error", message="x") for n, agent in enumerate(agents, 1)
    ]
    running, page = opened(document(*({**one, "timestamp": "2026-01-15T10:30:00Z"} for one in events)))
    for panel in ("state", "cost"):
        running.show(page, panel=panel, seq=400)
        expect(page.locator(".panel .table .name")).to_have_count(100)
        expect(page.locator("#panel")).to_contain_text("300 more")
        settled(page)
        view = page.locator("#panel .scroll")
        assert view.evaluate("view => view.scrollWidth - view.clientWidth") <= 1
    running.show(page, panel="state", seq=400)
    expect(page.locator(".table tr.changed .name")).to_contain_text("agent 0399")


def test_a_type_of_the_log_s_own_stays_in_its_row(opened: Open) -> None:
    """Long, of several lines, with letters that turn what follows or reach above it."""
    kinds = ["a" * 300, "two words\nin lines " * 5, "turned \u202e round", "high " + "e" + "\u0301" * 40]
    running, page = opened(document(*(event(n, kind, text="x") for n, kind in enumerate(kinds, 1))))
    running.show(page, seq=1, panel="state")
    rows = page.locator(".vlist.events .event")
    expect(rows).to_have_count(len(kinds))
    for n in range(len(kinds)):
        assert rows.nth(n).evaluate("row => row.clientHeight") <= 24
        assert rows.nth(n).locator(".type").evaluate("type => type.clientHeight") <= 24
        expect(rows.nth(n).locator(".text")).to_be_in_viewport(ratio=1)


def test_of_many_agents_the_one_whose_event_is_chosen_is_in_sight(opened: Open) -> None:
    """In the time bar, which tells how many are below, and in the flowchart; one may look elsewhere then."""
    agents = [f"agent {n:02d}" for n in range(30)]
    running, page = opened(
        document(*(event(n, "step_start", agent, intent="work") for n, agent in enumerate(agents, 1)))
    )
    running.show(page, panel="flow", seq=28)
    here = page.get_by_role("list", name="Agents").locator("li[aria-current]")
    node = page.locator(".node[aria-current]")
    for seq, agent in ((28, "agent 27"), (2, "agent 01")):
        running.move(page, panel="flow", seq=seq)
        expect(here).to_have_text(agent)
        expect(here).to_be_in_viewport(ratio=0.9)
        expect(node).to_contain_text(agent)
        expect(node).to_be_in_viewport(ratio=0.9)
    below = page.locator(".tb-more")
    expect(below).to_have_text(re.compile(r"^\d\d more$"))
    page.get_by_role("slider", name="Chosen event").hover()
    page.mouse.wheel(0, 5_000)
    expect(below).to_have_count(0)
    expect(here).not_to_be_in_viewport()


def test_a_fact_of_many_letters_shows_its_beginning(opened: Open) -> None:
    """Ten million of them took the panel half a minute."""
    text = "x" * 1_199 + "😀" + "y" * 3_000_000
    running, page = opened(
        document(
            event(1, "fact_added", id="F1", text=text, confidence=0.5),
            event(2, "fact_added", id="F2", text="short", confidence=0.5),
        )
    )
    running.show(page, panel="state", seq=1)
    fact = page.locator(".fact").locator(".plain")
    more = fact.get_by_role("button", name="3,000,002 more characters")
    expect(more).to_be_visible()
    assert fact.text_content() == "x" * 1_199 + "3,000,002 more characters"
    running.move(page, panel="state", seq=2)
    expect(fact.first).to_have_text("short")


def test_wide_letters_in_the_flowchart_lie_upon_nothing(opened: Open) -> None:
    """A name in them covered how many errors there were."""
    name = "代理" * 12
    running, page = opened(
        document(
            event(1, "step_start", name, intent="work"),
            event(2, "error", name, category="execution_error", message="x"),
            event(3, "tool_call", name, tool="工具" * 12, input={}, output=1),
        )
    )
    running.show(page, panel="flow", seq=3)
    node = page.locator(".node")
    expect(node.locator(".err")).to_contain_text("1")
    room = node.evaluate(
        """node => [[".name", ".err"], [".dim", ".end.dim"]].map(([words, figure]) => {
          const box = node.querySelector(words).ownerSVGElement;
          const end = box.x.baseVal.value + box.width.baseVal.value;
          return getComputedStyle(box).overflow === "hidden" && node.querySelector(figure).getBBox().x - end;
        })"""
    )
    assert min(room) > 0, room
