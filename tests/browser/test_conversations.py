"""Versions, branches, sub-agents and pictures of a conversation."""

from __future__ import annotations

import base64
import random
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright", reason="needs playwright: pip install 'lctl[browser]'")
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.debugger import Watched, debugger, settled
from tests.browser.logs import Open, document, event, png, said

pytestmark = pytest.mark.browser
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


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


def test_a_patch_is_shown_letter_for_letter(opened: Open) -> None:
    """Whoever said it: as Markdown its lines were bullets, and `__init__` bold."""
    head = "diff --git a/m.py b/m.py\n--- a/m.py\n+++ b/m.py\n@@ -1,2 +1,2 @@"
    patch = f"{head}\n-def __init__(x)\n+def __init__(y)"
    running, page = opened(
        document(
            said(1, "q", None, "user", patch),
            said(2, "a", "q", "assistant", f"So:\n\n- one\n\n```diff\n{patch}\n```", sampled=True),
        )
    )
    running.show(page, panel="conversation")
    shown = page.locator(".message.role-user").get_by_role("group", name="Patch")
    expect(shown).to_have_text(patch)
    expect(page.locator(".message.role-assistant li")).to_have_text("one")


def test_nothing_in_the_head_of_a_message_lies_upon_another(opened: Open) -> None:
    """Versions, model, tokens, cost and time are more than a narrow panel has room for."""
    tokens = {"input": 12_345, "output": 678}
    running, page = opened(
        document(
            said(1, "q", None, "user", "Which colour?"),
            said(2, "a1", "q", "assistant", "Blue.", sampled=True),
            event(3, "step_start", kind="llm", model="gpt-4.1-mini-2025-04-14", prompt="q"),
            {**said(4, "a2", "q", "assistant", "Green.", sampled=True, fork_of="a1"), "step": 3},
            {
                **event(5, "step_end", outcome="success", message="a2", tokens=tokens, duration_ms=1234),
                "step": 3,
            },
        )
    )
    page.set_viewport_size({"width": 1100, "height": 800})
    running.show(page, panel="conversation", seq=5)
    head = page.locator("#m-4 header")
    expect(head).to_contain_text("what it read")
    assert head.evaluate(_OVERLAPS) == []


#: Pairs of buttons and texts of an element that cover each other.
_OVERLAPS = """head => {
  const leaves = [...head.querySelectorAll("*")].filter(e => !e.children.length && e.textContent);
  const boxes = leaves.map(e => [e.textContent, e.getBoundingClientRect()]);
  const beside = (p, q) => p.right <= q.left + 1 || q.right <= p.left + 1;
  const apart = (p, q) => beside(p, q) || p.bottom <= q.top + 1 || q.bottom <= p.top + 1;
  return boxes.flatMap(([a, p], n) =>
    boxes.slice(n + 1).filter(([, q]) => !apart(p, q)).map(([b]) => `${a} | ${b}`));
}"""


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


def test_a_picture_of_a_kind_that_is_not_shown_is_told_from_one_that_is_not_there(opened: Open) -> None:
    """In a text, too: of pictures png, jpeg, gif and webp are shown, as the docs say."""
    vector = base64.b64encode(b"<svg/>" * 2000).decode()
    urls = [f"data:image/svg+xml;base64,{part}" for part in (vector[:40], vector)]
    images = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
    text = "![p](data:image/avif;base64,AAAA) ![q](data:image/bmp;base64,Qk0=)"
    running, page = opened(
        document(said(1, "q", None, "user", images), said(2, "a", "q", "assistant", text, sampled=True))
    )
    running.show(page, panel="conversation")
    told = page.locator(".message.role-user .parts p")
    expect(told).to_have_text(["picture, image/svg+xml, not shown"] * 2)
    expect(page.locator(".message.role-assistant .parts")).to_have_text(text)
    expect(page.locator(".message img")).to_have_count(0)


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
    expect(page.locator(".message.role-tool")).to_contain_text("research")  # as the call says that it answers
    page.get_by_role("button", name="sub-agent").click()
    expect(page.locator(".thread")).to_contain_text("Look it up.")
    expect(page.locator(".thread")).to_contain_text("It is 42.")


def talk(length: int) -> list[dict[str, Any]]:
    """Question and answer, until so many events."""
    roles = ("user", "assistant")
    return [
        said(n, f"m{n}", f"m{n - 1}" if n > 1 else None, roles[n % 2], f"Number {n}.\n\n" * 4)
        for n in range(1, length + 1)
    ]


def in_sight(page: Page, seq: int) -> None:
    expect(page.locator(f"#m-{seq}")).to_be_in_viewport(ratio=0.99)


def test_the_message_of_the_chosen_event_is_in_sight(opened: Open) -> None:
    """However it was chosen; of an event that is no message, the one that was said last before it."""
    running, page = opened(document(*talk(50), event(51, "fact_added", id="F", text="x", confidence=1)))
    running.show(page, panel="conversation")
    in_sight(page, 50)
    running.move(page, panel="conversation", seq=20)
    in_sight(page, 20)
    page.keyboard.press("ArrowLeft")
    in_sight(page, 19)
    page.keyboard.press("Home")
    in_sight(page, 1)
    page.keyboard.press("End")
    in_sight(page, 50)
    page.get_by_role("region", name="Conversation").evaluate("view => { view.scrollTop = 0 }")
    settled(page)
    expect(page.locator("#m-50")).not_to_be_in_viewport()  # whoever reads elsewhere is left there
    page.keyboard.press("ArrowLeft")
    in_sight(page, 50)


def test_a_picture_that_comes_late_pushes_nothing_out_of_sight(opened: Open) -> None:
    rows = b"".join(b"\0" + random.Random(n).randbytes(900) for n in range(300))
    url = f"data:image/png;base64,{base64.b64encode(png(300, 300, rows)).decode()}"
    first = said(1, "m1", None, "user", [{"type": "image_url", "image_url": {"url": url}}])
    running, page = opened(document(first, *talk(8)[1:]))
    held: list[Route] = []
    come: list[bool] = []  # a page that is at work may ask for it once more
    page.route("**/api/blob?*", lambda route: route.continue_() if come else held.append(route))
    running.show(page, panel="conversation", seq=8)
    in_sight(page, 8)
    page.wait_for_function("() => document.querySelector('.message img')")
    while not held:
        page.wait_for_timeout(20)
    come.append(True)
    for route in held:
        route.continue_()
    page.wait_for_function("() => document.querySelector('.message img').naturalHeight === 300")
    in_sight(page, 8)


def test_what_a_call_read_begins_at_its_beginning(opened: Open) -> None:
    running, page = opened(
        document(
            *talk(30),
            event(31, "step_start", kind="llm", model="m", prompt="m30"),
            {**said(32, "m32", "m30", "assistant", "Done.", sampled=True), "step": 31},
            {**event(33, "step_end", outcome="success", message="m32"), "step": 31},
        )
    )
    running.show(page, panel="conversation")
    in_sight(page, 32)
    page.get_by_role("button", name="what it read").click()
    expect(page.get_by_text("It read 30 messages")).to_be_in_viewport()
    page.get_by_role("button", name="Close").click()
    in_sight(page, 32)


def test_the_chosen_conversation_is_in_sight_in_its_list(browser: Browser, tmp_path: Path) -> None:
    """However many there are before it, and however low the list."""
    log = tmp_path / "many.lctl.json"
    log.write_text(document(*(said(n, f"m{n}", None, "user", f"talk {n}") for n in range(1, 60))))
    with debugger(log) as running:
        seen = Watched(browser, running.place, width=1024)
        page = seen.page
        page.goto(running.link)
        chosen = page.locator(".panel-aside .item[aria-current=true]")
        for seq in (59, 30, 1):
            running.move(page, panel="conversation", seq=seq)
            expect(chosen).to_contain_text(f"talk {seq}")
            expect(chosen).to_be_in_viewport(ratio=0.9)
        seen.close()
