# ruff: noqa: E501  (attacks, and a log that has them everywhere)
"""Nothing that a log says is obeyed: not as HTML, not as a script, not as an address to ask."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright", reason="needs playwright: pip install 'lctl[browser]'")
from playwright.sync_api import Browser, Page, expect

from tests.browser.debugger import PANELS, Watched, debugger, settled

pytestmark = pytest.mark.browser

ATTACKS = [
    "<script>window.hit=1</script>",
    "<img src=x onerror='window.hit=1'>",
    "<svg onload=window.hit=1><script>window.hit=1</script></svg>",
    "<iframe srcdoc='<script>parent.hit=1</script>'></iframe>",
    "</script><script>window.hit=1</script>",
    "]]></textarea></style><img src=x onerror=window.hit=1>",
    "[click](javascript:window.hit=1)",
    "[click](JaVaScRiPt&colon;window.hit=1) [b](data:text/html,<script>window.hit=1</script>)",
    "![x](https://evil.invalid/pixel.png) ![y](data:image/svg+xml,<svg onload='window.hit=1'/>)",
    "<a href='https://evil.invalid/' ping='https://evil.invalid/'>x</a> https://evil.invalid/auto",
    "<style>@import 'https://evil.invalid/x.css'; body{background:url(https://evil.invalid/y)}</style>",
    "<base href='https://evil.invalid/'><meta http-equiv=refresh content='0;url=https://evil.invalid/'>",
    "```html\n<img src=x onerror=window.hit=1>\n```",
    "<details open ontoggle=window.hit=1>",
    "{{constructor.constructor('window.hit=1')()}} ${window.hit=1} \u202e\u0000 __proto__ 'onmouseover='window.hit=1",
    '{"__proto__":{"hit":1},"constructor":{"prototype":{"hit":1}}}',
]


def hostile(attack: str) -> list[dict[str, Any]]:
    """A log that has the text wherever a log can have text."""
    drafts: list[tuple[str, int | None, dict[str, Any]]] = [
        ("step_start", None, {"kind": attack, "intent": attack, "name": attack, "input_summary": attack}),
        ("message", 1, {"message_id": "m2", "parent_id": None, "role": "user", "content": attack}),
        ("step_start", 1, {"kind": "llm", "intent": attack, "model": attack, "provider": attack, "prompt": "m2",
                           "params": {attack: attack}, "tools": attack,
                           "tool_definitions": [{"type": "function", "function": {"name": attack, "description": attack}}]}),
        ("exchange", 3, {"attempt": 1, "method": attack, "url": f"https://evil.invalid/{attack}", "status": 200,
                         "headers": {attack: attack, "content-type": "text/html"}, "body": attack, "duration_ms": 1,
                         "request": {"hash": attack, "size": 1, "headers": {attack: attack}, "body": attack}}),
        ("message", 3, {"message_id": "m5", "parent_id": "m2", "role": attack, "sampled": True, "content": [
            {"type": "text", "text": attack}, {"type": attack, attack: attack},
            {"type": "image_url", "image_url": {"url": "https://evil.invalid/a.png"}},
            {"type": "image_url", "image_url": {"url": "data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9IndpbmRvdy5oaXQ9MSIvPg=="}},
            {"type": "tool_use", "id": attack, "name": attack, "input": {attack: attack}}]}),
        ("step_end", 3, {"outcome": attack, "message": "m5", "finish_reason": attack, "model": attack,
                         "tokens": {"input": 1, "output": 1}, "duration_ms": 1}),
        ("tool_call", 1, {"tool": attack, "input": {attack: attack}, "output": attack, "call_id": attack}),
        ("message", 1, {"message_id": attack, "parent_id": "m5", "role": "tool", "tool_call_id": attack, "content": attack}),
        ("fact_added", 1, {"id": attack, "text": attack, "source": attack, "confidence": 0.5}),
        ("fact_modified", 1, {"id": attack, "text": attack + "!", "reason": attack, "confidence": 0.4}),
        ("error", 1, {"category": attack, "type": attack, "message": attack, "recoverable": False}),
        ("handoff", 1, {"from": attack, "to": f"{attack}2", "reason": attack}),
        (attack, 1, {attack: attack}),
        ("checkpoint", None, {"state_hash": attack, "facts_snapshot": {attack: {"text": attack}}}),
    ]  # fmt: skip
    return [
        {"seq": n, "type": type, "timestamp": f"2026-01-15T10:30:{n:02d}Z", "agent": attack,
         **({} if step is None else {"step": step}), "data": data}
        for n, (type, step, data) in enumerate(drafts, 1)
    ]  # fmt: skip


def harmless(page: Page) -> None:
    assert page.evaluate(
        "[window.hit, ({}).hit, document.querySelectorAll('iframe, object, embed, base').length]"
    ) == [
        None,
        None,
        0,
    ]
    assert page.evaluate("document.scripts.length") == 1
    assert page.evaluate("[...document.querySelectorAll('a')].every(a => /^https?:/.test(a.protocol))")
    assert page.evaluate(
        "[...document.images].every(i => /^(data:image.(png|jpeg|gif|webp)|http:..127)/.test(i.src))"
    )


def test_a_hostile_log_is_shown_and_not_obeyed(browser: Browser, tmp_path: Path) -> None:
    chains: list[Path] = []
    groups = ["\n\n".join(ATTACKS[n::4]) for n in range(4)]
    for n, attack in enumerate(groups):
        path = tmp_path / f"{n}.lctl.json"
        path.write_text(json.dumps({"lctl": "4.0", "chain": {"id": attack}, "events": hostile(attack)}))
        chains.append(path)
    with debugger(tmp_path) as running:
        seen = Watched(browser, running.place)
        seen.page.goto(running.link)
        for n, path in enumerate(chains):
            opened = running.show  # then the page stays: what is late to be obeyed is seen, too
            for panel in PANELS:
                right = chains[(n + 1) % len(chains)].name
                more = (
                    {"right": right} if panel == "compare" else {"q": groups[n]} if panel == "search" else {}
                )
                opened(seen.page, run=path.name, panel=panel, seq=13, **more)
                expect(seen.page.get_by_role("tab", name=PANELS[panel], exact=True)).to_have_attribute(
                    "aria-selected", "true"
                )
                settled(seen.page)
                harmless(seen.page)
                opened = running.move
            for words in ({"call": 3}, {"tab": "exchange"}, {"tab": "raw"}, {"tab": "copy"}):
                running.move(seen.page, run=path.name, panel="conversation", seq=4, **words)
                settled(seen.page)
                harmless(seen.page)
        seen.close()


def test_a_hostile_text_stands_as_it_is(browser: Browser, tmp_path: Path) -> None:
    attack = ATTACKS[1]
    path = tmp_path / "one.lctl.json"
    path.write_text(json.dumps({"lctl": "4.0", "chain": {"id": "one"}, "events": hostile(attack)}))
    with debugger(path) as running:
        seen = Watched(browser, running.place)
        seen.page.goto(running.link)
        running.show(seen.page, panel="conversation", call=3)
        assert attack in seen.page.locator(".message").first.inner_text()
        running.show(seen.page, panel="state", seq=10)
        assert attack in seen.page.locator(".fact").inner_text()
        seen.close()
