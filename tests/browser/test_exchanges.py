"""What was on the wire is told as far as the log has it: bodies whole, and what of them was not kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright", reason="needs playwright: pip install 'lctl[browser]'")
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import lctl
from tests.browser.debugger import Watched
from tests.browser.logs import Open, document, event, said

pytestmark = pytest.mark.browser

WORDS = "It is forty-two, and here is why. " * 5
URL = "https://api.openai.com/v1/chat/completions"


def call(**response: Any) -> list[dict[str, Any]]:
    """A call whose request is in the log by its size, and whose answer was cut where its message is."""
    exchange = event(
        3, "exchange", method="POST", url=URL, status=200, duration_ms=5,
        request={"hash": "sha256:0", "size": 1485, "headers": {"user-agent": "x"}}, **response,
    )  # fmt: skip
    start = event(2, "step_start", kind="llm", model="m", operation="chat.completions", provider="openai",
                  prompt="q", params={"temperature": 1.0, "seed": 9007199254740993})  # fmt: skip
    inside = [
        exchange,
        said(4, "a", "q", "assistant", WORDS, sampled=True),
        event(5, "step_end", outcome="success", message="a", duration_ms=5),
    ]
    return [said(1, "q", None, "user", "Why?"), start, *({**one, "step": 2} for one in inside)]


PIECES = ['{"id":"x","message":{"content":', {"$content": "a"}, ',"n":1.0}}']


def tab(page: Page) -> Locator:
    return page.get_by_role("tabpanel", name="exchange")


def test_a_request_is_rebuilt_and_an_answer_put_together(opened: Open) -> None:
    running, page = opened(document(*call(body=PIECES, headers={"a": "1", "b": "2"})))
    running.show(page, panel="state", seq=3, tab="exchange")
    shown = tab(page)
    expect(shown).to_contain_text("1,485 bytes, not kept in the log; rebuilt from the messages:")
    rebuilt = shown.get_by_role("region", name="Request body, rebuilt").inner_text()
    assert json.loads(rebuilt) == {
        "model": "m",
        "messages": [{"role": "user", "content": "Why?"}],
        "temperature": 1.0,
        "seed": 9007199254740993,
    }
    assert '"temperature": 1.0' in rebuilt and "9007199254740993" in rebuilt
    answer = shown.get_by_role("region", name="Response body").inner_text()
    assert json.loads(answer) == {"id": "x", "message": {"content": WORDS, "n": 1.0}}
    expect(shown.locator("summary")).to_have_text(["1 header", "2 headers"])
    expect(shown).not_to_contain_text("Of later")
    expect(shown).not_to_contain_text("Not kept:")


def test_the_answer_to_a_chosen_question_is_told_to_be_of_later(opened: Open) -> None:
    running, page = opened(document(*call(body=PIECES)))
    running.show(page, panel="state", seq=2, tab="exchange")
    expect(tab(page)).to_contain_text("Of later than event 2: it was there at event 3.")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".inspector-head")).to_contain_text("#3")
    expect(tab(page)).not_to_contain_text("Of later")


def test_what_is_not_in_the_log_is_said(opened: Open) -> None:
    pieces = [*PIECES[:1], {"$content": "gone"}, "}}"]
    running, page = opened(document(*call(body=pieces, dropped=2048, complete=False)))
    running.show(page, panel="state", seq=3, tab="exchange")
    shown = tab(page)
    expect(shown.get_by_role("region", name="Response body")).to_contain_text('"content":⟨message gone⟩}}')
    expect(shown).to_contain_text("Not kept: the log does not have what message gone said there.")
    expect(shown).to_contain_text("Not kept: 2,048 bytes of it were too many to be kept.")
    expect(shown).to_contain_text("Not kept: it was not read to its end.")


def test_parts_of_a_stream_are_whole(opened: Open) -> None:
    """What most of them begin and end with is in the log once."""
    around = ['data: {"delta":"', '"}\n\n']
    chunks = [[1.0, ["one"]], [2.0, ["two"]], [3.5, "data: [DONE]\n\n"]]
    running, page = opened(document(*call(chunks=chunks, around=around)))
    running.show(page, panel="state", seq=3, tab="exchange")
    shown = tab(page).locator(".chunks li")
    expect(shown).to_have_text(
        ['+1ms data: {"delta":"one"}', '+2ms data: {"delta":"two"}', "+3.5ms data: [DONE]"],
        use_inner_text=True,
    )


def test_a_request_without_a_body_has_none(opened: Open) -> None:
    running, page = opened(
        document(event(1, "exchange", method="GET", url=URL, status=200, request={"size": 0}, body=""))
    )
    running.show(page, panel="state", seq=1, tab="exchange")
    expect(tab(page).locator("p.dim")).to_have_text(["no body", "no body"])


def test_an_exported_page_tells_the_same(browser: Browser, tmp_path: Path) -> None:
    log, made = tmp_path / "run.lctl.json", tmp_path / "run.html"
    log.write_text(document(*call(body=PIECES)))
    lctl("export", str(log), "--format", "html", "-o", str(made), cwd=tmp_path)
    seen = Watched(browser, "file:")
    seen.page.goto(f"{made.as_uri()}#panel=state&seq=2&tab=exchange")
    shown = tab(seen.page)
    expect(shown).to_contain_text("1,485 bytes, not kept in the log; rebuilt from the messages:")
    expect(shown.get_by_role("region", name="Request body, rebuilt")).to_contain_text("9007199254740993")
    expect(shown).to_contain_text("Of later than event 2")
    answer = shown.get_by_role("region", name="Response body").inner_text()
    assert json.loads(answer)["message"]["content"] == WORDS
    seen.close()
