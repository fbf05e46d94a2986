"""Numbers, and JSON texts, are shown, changed and sent on as the log has them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright", reason="needs playwright: pip install 'lctl[browser]'")
from playwright.sync_api import Browser, Page, Request, expect

from tests.browser.conftest import lctl
from tests.browser.debugger import Watched, settled
from tests.browser.logs import Open, document, event, said

pytestmark = pytest.mark.browser

LONG, ODD = 12345678901234567891, 9007199254740993
VALUES = {"order_id": LONG, "amount": 1.0, "small": 1e-7, "none": -0.0, "n": 3}
CALL = event(1, "tool_call", tool="pay", input=VALUES, output={"user": ODD}, duration_ms=5)
SHOWN = [f"order_id: {LONG}", "amount: 1.0", "small: 1e-7", "none: -0.0", "n: 3", f"user: {ODD}"]


def shows_them(page: Page) -> None:
    inspector = page.get_by_role("tree", name="JSON")
    for text in SHOWN:
        expect(inspector.get_by_text(text, exact=True)).to_be_visible()


def test_the_inspector_shows_numbers_as_the_log_has_them(opened: Open) -> None:
    running, page = opened(document(CALL))
    running.show(page, panel="state", seq=1)
    shows_them(page)
    page.get_by_role("tab", name="raw", exact=True).click()
    raw = page.get_by_role("region", name="Raw JSON")
    for number in (str(LONG), str(ODD), '"amount": 1.0', '"none": -0.0'):
        expect(raw).to_contain_text(number)


def test_an_exported_page_shows_them_so_too(browser: Browser, tmp_path: Path) -> None:
    log, made = tmp_path / "run.lctl.json", tmp_path / "run.html"
    part = {"type": "tool_use", "id": "c", "name": "pay", "input": {"order_id": LONG, "amount": 1.0}}
    log.write_text(document(CALL, said(2, "a", None, "assistant", [part])))
    lctl("export", str(log), "--format", "html", "-o", str(made), cwd=tmp_path)
    seen = Watched(browser, "file:")
    seen.page.goto(f"{made.as_uri()}#panel=state&seq=1")
    shows_them(seen.page)
    seen.page.goto("about:blank")
    seen.page.goto(f"{made.as_uri()}#panel=conversation&seq=2")
    message = seen.page.locator(".message")
    expect(message).to_contain_text(f"order_id: {LONG}")
    expect(message).to_contain_text("amount: 1.0")
    seen.close()


def test_what_if_and_fork_change_only_what_was_changed(opened: Open) -> None:
    running, page = opened(document(CALL))
    sent: list[dict[str, Any]] = []

    def see(request: Request) -> None:
        if request.method == "POST":
            sent.append(json.loads(request.post_data or ""))

    running.show(page, panel="fork", seq=1)
    page.on("request", see)
    editor = page.get_by_role("textbox", name="Data of event 1")
    text = editor.input_value()
    assert json.loads(text) == CALL["data"]
    for number in (f'"order_id": {LONG}', '"amount": 1.0', '"none": -0.0', f'"user": {ODD}'):
        assert number in text
    editor.fill(text.replace('"amount": 1.0', '"amount": 2.0'))
    command = page.get_by_role("region", name="The same on the command line")
    expect(command).to_contain_text("input.amount=2.0")
    fork = page.get_by_role("region", name="The command of this fork")
    expect(fork).to_contain_text(
        f'pay.input={{"order_id": {LONG}, "amount": 2.0'
    )  # an input is changed as one
    settled(page)
    shown = command.inner_text()
    assert "order_id" not in shown and "user" not in shown and "small" not in shown, shown
    assert "--result" not in fork.inner_text() and "user" not in fork.inner_text()
    data = {**CALL["data"], "input": {**VALUES, "amount": 2.0}}
    assert len(sent) >= 2 and all(one["data"] == data for one in sent)


def test_a_json_text_keeps_its_digits_and_what_it_says_twice(opened: Open) -> None:
    twice = f'{{"id":{LONG},"amount":1.0,"a":1,"a":2}}'
    call = {"id": "c", "type": "function", "function": {"name": "pay", "arguments": twice}}
    once = {"id": "d", "type": "function", "function": {"name": "pay", "arguments": f'{{"id":{LONG}}}'}}
    running, page = opened(
        document(
            said(1, "q", None, "user", twice),
            said(2, "a", "q", "assistant", twice),
            said(3, "b", "a", "assistant", None, tool_calls=[call, once]),
            said(4, "r", "b", "tool", twice, tool_call_id="c"),
        )
    )
    running.show(page, panel="conversation", seq=4)
    lines = f'{{\n  "id": {LONG},\n  "amount": 1.0,\n  "a": 1,\n  "a": 2\n}}'
    expect(page.locator("#m-1 .parts")).to_have_text(twice)
    assert page.locator("#m-2 .parts pre").inner_text() == lines
    calls = page.locator("#m-3 .tool-part")
    assert calls.first.locator("pre").inner_text() == lines
    expect(calls.nth(1).get_by_role("tree")).to_contain_text(f"id: {LONG}")
    expect(page.locator("#m-4 pre")).to_have_text(twice)
    page.locator("#m-4").get_by_role("button", name="rendered").click()
    assert page.locator("#m-4 pre").inner_text() == lines
