"""Events that only a rerun needs stand aside in the list of events; each can be had, or all at once."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("playwright", reason="needs playwright: pip install 'lctl[browser]'")
from playwright.sync_api import Page, expect

from tests.browser.debugger import expect_chosen
from tests.browser.logs import Open, document, event, said

pytestmark = pytest.mark.browser


def drawn(seq: int) -> dict[str, Any]:
    return event(seq, "ambient", source="random", key="seed", value=seq)


#: Steps at 1, 5 and 6; the tape at 2 to 4, and from 8 to 40.
LOG = document(
    event(1, "step_start", intent="first"),
    *(drawn(seq) for seq in (2, 3, 4)),
    event(5, "step_start", intent="second"),
    event(6, "step_end", outcome="success"),
    event(7, "error", category="TOOL", message="on the way", recoverable=True),
    *(drawn(seq) for seq in range(8, 41)),
    event(41, "step_end", outcome="success"),
    event(42, "output", stream="stdout", text="done", size=4),
)


def rows(page: Page) -> list[int]:
    found = page.locator(".vlist.events .event[data-seq]").evaluate_all(
        "all => all.map(one => Number(one.dataset.seq))"
    )
    return sorted(found)


def test_the_list_leaves_out_what_only_a_rerun_needs(opened: Open) -> None:
    """And says how many they are; a link to one shows it; keys go from row to row; a click shows all.
    Beside how the run ended stand the errors on its way."""
    running, page = opened(LOG)
    running.show(page, seq=5)
    expect(page.get_by_role("listbox", name="Events, 5")).to_be_visible()
    expect(page.locator(".list-head")).to_contain_text("without 37 events of the tape")
    assert rows(page) == [1, 5, 6, 7, 41]
    page.keyboard.press("ArrowLeft")
    expect_chosen(page, 1)
    page.keyboard.press("ArrowRight")
    expect_chosen(page, 5)
    running.show(page, seq=20)
    chosen = page.locator(".vlist.events [aria-selected=true]")
    expect(chosen).to_have_attribute("data-seq", "20")
    assert rows(page) == [1, 5, 6, 7, 20, 41]
    page.get_by_role("button", name="Next event").click()
    expect_chosen(page, 41)
    expect(chosen).to_have_attribute("data-seq", "41")
    assert rows(page) == [1, 5, 6, 7, 41]
    page.locator(".list-head").get_by_role("button", name="show").click()
    expect(page.get_by_role("listbox", name="Events, 42")).to_be_visible()
    page.get_by_role("button", name="Previous event").click()
    expect_chosen(page, 40)
    page.locator(".topbar").get_by_role("button", name="1 failure").click()  # beside "ended well"
    expect_chosen(page, 7)


def test_what_was_asked_of_the_program_is_in_the_list(opened: Open) -> None:
    """Cells of a notebook, requests to a server and how that was ended, commands that it had run: each by its
    name, and by its code. Not what a browser asks for its page."""
    asked = {"method": "POST", "target": "/ask", "body": "{}"}
    log = document(
        event(1, "ambient", source="cell", key="In[1]", value="def answer():\n    return 41\n"),
        drawn(2),
        event(3, "ambient", source="request", key="POST /ask", value=asked),
        event(4, "ambient", source="request", key="GET /static/app.js?v=2", value={**asked, "method": "GET"}),
        event(5, "ambient", source="signal", key="SIGTERM", value=None),
        drawn(6),
        event(7, "ambient", source="command", key="ls *.py", value={"code": 2, "stdout": ""}),
    )
    _, page = opened(log)
    expect_chosen(page, 7)
    assert rows(page) == [1, 3, 5, 7]
    expect(page.locator(".list-head")).to_contain_text("without 3 events of the tape")
    listed = page.get_by_role("listbox", name="Events, 4")
    texts = (
        'cell In[1] "def answer(): return 41"',
        "request POST /ask",
        "signal SIGTERM",
        'command "ls *.py" (exit 2)',
    )
    for words in texts:
        expect(listed).to_contain_text(words)


def test_a_run_opens_at_what_its_program_did_last(opened: Open) -> None:
    """Not at what a rerun is told behind it; that is there, with its text."""
    running, page = opened(LOG)
    expect_chosen(page, 41)
    running.show(page, seq=42)
    expect(page.locator(".vlist.events [aria-selected=true]")).to_contain_text('stdout "done" (4 bytes)')


def test_headings_of_a_text_skip_no_level(opened: Open) -> None:
    """Whatever level it begins with."""
    text = "### Deep\n\none\n\n##### Deeper\n\n# Top\n\n## Below"
    running, page = opened(document(said(1, "m1", None, "assistant", text)))
    running.show(page, seq=1, panel="conversation")
    thread = page.get_by_role("region", name="Conversation")
    for name, level in (("Deep", 3), ("Deeper", 4), ("Top", 3), ("Below", 4)):
        expect(thread.get_by_role("heading", name=name, level=level, exact=True)).to_be_visible()


def test_many_deep_lanes_share_the_time_bar(opened: Open) -> None:
    """One agent with many steps at once leaves the others in sight."""
    deep = [event(n, "step_start", f"agent {n // 8:02d}", intent="work") for n in range(8, 56)]
    running, page = opened(document(*({**one, "seq": n} for n, one in enumerate(deep, 1))))
    running.show(page, seq=3)
    names = page.locator(".tb-names")
    expect(names.locator("li").nth(2)).to_be_visible()
    bottom = names.evaluate("box => box.getBoundingClientRect().bottom")
    seen = names.locator("li").evaluate_all("all => all.map(one => one.getBoundingClientRect().bottom)")
    assert sum(one <= bottom for one in seen) >= 3
