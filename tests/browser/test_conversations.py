"""Versions, branches, sub-agents and pictures of a conversation."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("playwright", reason="needs playwright: pip install 'lctl[browser]'")
from playwright.sync_api import expect

from tests.browser.logs import Open, document, event

pytestmark = pytest.mark.browser
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def said(seq: int, id: str, parent: str | None, role: str, content: object, **more: Any) -> dict[str, Any]:
    return event(seq, "message", message_id=id, parent_id=parent, role=role, content=content, **more)


def test_versions_of_an_answer_are_chosen_between(opened: Open) -> None:
    running, page = opened(
        document(
            said(1, "q", None, "user", "Which colour?"),
            said(2, "a1", "q", "assistant", "It is **blue**.", sampled=True),
            said(3, "a2", "q", "assistant", "It is green.", sampled=True),
            said(4, "a3", "q", "assistant", "It is red.", sampled=True),
        )
    )
    running.show(page, panel="conversation")
    answer = page.locator(".message.role-assistant")
    expect(answer).to_contain_text("It is red.")
    expect(answer.get_by_role("group", name="Versions of this message")).to_contain_text("3 / 3")
    answer.get_by_role("button", name="Next version").click()
    expect(answer).to_contain_text("It is blue.")
    expect(answer.locator("strong", has_text="blue")).to_be_visible()
    expect(page.get_by_role("group", name="Branches").get_by_role("button")).to_have_count(3)


def test_a_picture_of_the_log_is_shown_and_one_of_the_web_is_not(opened: Open) -> None:
    running, page = opened(
        document(
            said(
                1,
                "q",
                None,
                "user",
                [
                    {"type": "text", "text": "Look:"},
                    {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}},
                    {"type": "image_url", "image_url": {"url": "https://pictures.invalid/cat.png"}},
                ],
            )
        )
    )
    running.show(page, panel="conversation")
    pictures = page.locator(".message img")
    expect(pictures).to_have_count(1)
    assert pictures.evaluate("image => image.decode().then(() => image.naturalWidth)") == 1
    expect(page.locator(".message")).to_contain_text("https://pictures.invalid/cat.png")


def test_a_sub_agent_opens_from_the_call_that_began_it(opened: Open) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "research", "arguments": "{}"}}
    inside = {"message_id": "a", "tool_call_id": "c1"}
    running, page = opened(
        document(
            said(1, "q", None, "user", "Find out."),
            said(2, "a", "q", "assistant", None, tool_calls=[call], sampled=True),
            said(3, "s1", None, "user", "Look it up.", conversation_id="sub", nested_in=inside),
            said(4, "s2", "s1", "assistant", "It is 42.", sampled=True),
            said(5, "t", "a", "tool", "42", tool_call_id="c1"),
        )
    )
    running.show(page, panel="conversation")
    expect(page.locator(".thread")).to_contain_text("Find out.")
    page.get_by_role("button", name="sub-agent").click()
    expect(page.locator(".thread")).to_contain_text("Look it up.")
    expect(page.locator(".thread")).to_contain_text("It is 42.")
