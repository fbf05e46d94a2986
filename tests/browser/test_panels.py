"""Every panel on the run of the demo: what it shows, and what one can do there."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright", reason="needs playwright: pip install 'lctl[browser]'")
from playwright.sync_api import Page, Route, expect

from tests.browser.debugger import PANELS, Debugger, chosen, expect_chosen
from tests.browser.logs import Open, document, event

pytestmark = pytest.mark.browser


def events(log: Path) -> list[dict[str, Any]]:
    return list(json.loads(log.read_text())["events"])


def seqs(log: Path, type: str) -> list[int]:
    return [event["seq"] for event in events(log) if event["type"] == type]


@pytest.mark.parametrize("name", PANELS)
def test_each_panel_opens_by_its_tab(demo: Debugger, page: Page, name: str) -> None:
    demo.show(page)
    page.get_by_role("tab", name=PANELS[name], exact=True).click()
    expect(page.get_by_role("tab", name=PANELS[name], exact=True)).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("tabpanel", name=PANELS[name])).to_be_visible()
    expect(page.locator(".notice.error")).to_have_count(0)


def test_the_conversation_is_what_was_said_up_to_the_chosen_event(
    demo: Debugger, page: Page, demo_log: Path
) -> None:
    first, second = seqs(demo_log, "message")[:2]
    demo.show(page, panel="conversation", seq=first)
    expect(page.locator(".message")).to_have_count(1)
    expect(page.locator(".message .role")).to_have_text("user")
    demo.show(page, panel="conversation", seq=len(events(demo_log)))
    expect(page.locator(".thread")).to_contain_text("The name is bound, not concatenated")
    assert second > first


def test_a_call_shows_exactly_what_the_model_read(demo: Debugger, page: Page, demo_log: Path) -> None:
    call = next(e for e in events(demo_log) if e["data"].get("operation") == "messages")
    demo.show(page, panel="conversation", call=call["seq"])
    thread = page.get_by_role("region", name="Conversation")
    expect(thread).to_contain_text("It read 2 messages")
    expect(thread).to_contain_text("You are a security reviewer. Judge each finding.")
    expect(thread).to_contain_text("F1 CONFIRMED 0.91")
    expect(thread).to_contain_text("2 attempts")
    error = next(e for e in events(demo_log) if e["type"] == "error" and e.get("step") == call["seq"])
    thread.get_by_role("button", name=f"#{error['seq']}").click()
    expect_chosen(page, error["seq"])
    expect(page.locator(".item[aria-current=true]")).to_be_in_viewport()


def test_a_text_of_several_lines_is_read_as_such(opened: Open) -> None:
    """As a traceback is; what looks like the end of a line and is none stays as it is written."""
    said = "Traceback:\n  line 1\nC:\\new"
    _, page = opened(document(event(1, "output", stream="stderr", text=said)))
    text = page.locator(".json .string", has_text="Traceback")
    expect(text).to_have_js_property("textContent", '"Traceback:\n  line 1\nC:\\\\new"')


def test_two_calls_are_compared_by_what_they_read(demo: Debugger, page: Page, demo_log: Path) -> None:
    demo.show(page, panel="conversation", list="calls")
    page.locator(".item").nth(1).click()
    page.locator(".item").nth(3).click(modifiers=["Shift"])
    thread = page.get_by_role("region", name="Conversation")
    expect(thread.locator(".tag.diff-injected").first).to_have_text("2 injected")
    expect(thread).to_contain_text("1 message both read")
    thread.get_by_role("button", name="1 message both read").click()
    expect(thread).to_contain_text("Please review the settings.")


def test_the_state_is_that_of_the_chosen_event(demo: Debugger, page: Page, demo_log: Path) -> None:
    added, modified = seqs(demo_log, "fact_added")[0], seqs(demo_log, "fact_modified")[0]
    demo.show(page, panel="state", seq=added)
    facts = page.locator(".fact")
    expect(facts).to_have_count(1)
    expect(facts.locator(".fact-sure b")).to_have_text("0.84")
    expect(facts).to_contain_text("changed here")
    expect(page.get_by_label("Changed here")).to_contain_text("F1")
    demo.show(page, panel="state", seq=modified)
    expect(page.locator(".fact", has_text="changed here").locator(".fact-sure b")).to_have_text("0.91")


def test_the_state_is_compared_with_any_other(demo: Debugger, page: Page, demo_log: Path) -> None:
    added, modified = seqs(demo_log, "fact_added")[0], seqs(demo_log, "fact_modified")[0]
    demo.show(page, panel="state", seq=modified)
    page.get_by_label("Seq to compare with").fill(str(added))
    page.get_by_role("button", name="Compare", exact=True).click()
    found = page.get_by_label("Difference with another event")
    expect(found).to_contain_text(f"From #{added} to #{modified}")
    row = found.locator("tr", has_text="F1").filter(has_text="confidence")
    expect(row.locator("del")).to_have_text("0.84")
    expect(row.locator("ins")).to_have_text("0.91")


def test_the_flow_shows_agents_and_hand_offs(demo: Debugger, page: Page, demo_log: Path) -> None:
    demo.show(page, panel="flow")
    chart = page.get_by_label("Agents and hand-offs")
    expect(chart.locator(".node")).to_have_count(3)
    expect(chart.locator(".edge.handoff")).to_have_count(2)
    chart.get_by_role("button", name=re.compile("^hand-off from security-reviewer")).click()
    expect_chosen(page, seqs(demo_log, "handoff")[2])
    chart.get_by_role("button", name=re.compile("^code-analyzer")).focus()
    before = chosen(page)
    page.keyboard.press("Enter")
    expect(page.get_by_role("slider")).not_to_have_attribute("aria-valuenow", str(before))


def test_a_step_of_the_flame_graph_is_gone_to(demo: Debugger, page: Page) -> None:
    demo.show(page, panel="flow")
    canvas = page.get_by_label("Flame graph of steps").locator("canvas")
    expect(page.get_by_label("Flame graph of steps")).to_contain_text("11 ·")
    canvas.click(position={"x": 12, "y": 10})
    expect_chosen(page, 1)


def test_cost_and_time_by_agent_model_and_tool(demo: Debugger, page: Page) -> None:
    demo.show(page, panel="cost")
    panel = page.get_by_role("region", name="Cost and time")
    expect(panel.get_by_role("region", name="Agents").locator("tbody tr")).to_have_count(3)
    expect(panel.get_by_role("region", name="Models")).to_contain_text("claude-sonnet-4-6")
    expect(panel.get_by_role("region", name="Tools")).to_contain_text("apply_fix")
    expect(panel.get_by_role("region", name="Waste")).to_contain_text("Retries")
    expect(panel.get_by_role("region", name="Critical path").locator("li").first).to_be_visible()
    expect(panel.locator(".uplot")).to_have_count(2)


def test_search_finds_by_words_and_fields(demo: Debugger, page: Page, demo_log: Path) -> None:
    demo.show(page, panel="search")
    box = page.get_by_role("searchbox", name="Search the run")
    box.fill("type:tool_call tool:grep")
    box.press("Enter")
    expect(page.get_by_role("status").filter(has_text="events")).to_contain_text("3 events")
    found = page.get_by_role("listbox", name="Found events").get_by_role("option")
    expect(found).to_have_count(3)
    found.nth(1).click()
    expect_chosen(page, seqs(demo_log, "tool_call")[1])
    box.fill('"exploit returned 2 rows"')
    box.press("Enter")
    expect(found.filter(has_text="assistant").first).to_contain_text("The name is bound")


def test_a_query_that_cannot_be_read_says_where(demo: Debugger, page: Page) -> None:
    demo.show(page, panel="search", q="seq:banana")
    expect(page.get_by_role("alert")).to_contain_text("seq")


def test_the_inspector_has_the_event_whole(demo: Debugger, page: Page, demo_log: Path) -> None:
    exchange = seqs(demo_log, "exchange")[3]
    demo.show(page, panel="state", seq=exchange)
    side = page.get_by_role("complementary", name="Inspector")
    side.get_by_role("tab", name="exchange").click()
    expect(side).to_contain_text("POST")
    expect(side).to_contain_text("/v1/")
    side.get_by_role("tab", name="raw").click()
    raw = json.loads(side.get_by_role("region", name="Raw JSON").inner_text())
    assert raw == events(demo_log)[exchange - 1]
    side.get_by_role("tab", name="copy").click()
    expect(side.get_by_role("region", name="Copy as lctl")).to_contain_text("lctl show")
    expect(side.get_by_role("region", name="Copy as curl")).to_contain_text("curl")
    expect(side.get_by_role("region", name="Copy as Python")).to_contain_text("messages")


def test_what_was_said_at_another_event_stands_back(demo: Debugger, page: Page, demo_log: Path) -> None:
    """Until the answer for the chosen one is there."""
    demo.show(page, panel="conversation", seq=60)
    thread = page.locator(".thread")
    expect(thread).to_have_attribute("aria-busy", "false")
    held: list[Route] = []
    page.route("**/api/conversation?**", lambda route: held.append(route))
    page.keyboard.press("g")
    page.keyboard.type("40")
    page.keyboard.press("Enter")
    expect(thread).to_have_attribute("aria-busy", "true")
    expect(thread.locator(".message").first).to_have_css("opacity", "0.4")
    for route in held:
        route.continue_()
    expect(thread).to_have_attribute("aria-busy", "false")
    expect(thread.locator(".message").first).to_have_css("opacity", "1")


def test_two_runs_stand_side_by_side(demo: Debugger, page: Page, demo_log: Path, other_log: Path) -> None:
    demo.show(page, panel="compare", left=demo_log.name, right=other_log.name)
    rows = page.get_by_role("list", name="Both runs, aligned")
    expect(rows.locator(".pair").first).to_be_visible()
    bar = page.locator(".compare-bar")
    total = int(re.match(r"(\d+) differences", bar.inner_text()).group(1))  # type: ignore[union-attr]
    assert total > 1
    expect(bar).to_contain_text(f"1 / {total}")
    page.keyboard.press("n")
    expect(bar).to_contain_text(f"2 / {total}")
    expect(rows.locator(".pair[aria-current=true]")).to_be_visible()
    page.keyboard.press("p")
    expect(bar).to_contain_text(f"1 / {total}")


def test_a_difference_leads_to_its_event_and_back(
    demo: Debugger, page: Page, demo_log: Path, other_log: Path
) -> None:
    """In either run, in its conversation. What is compared stays what it was: a run is never compared with
    itself."""
    for side, log in (("right", other_log), ("left", demo_log)):
        demo.show(page, panel="compare", right=other_log.name)
        bar = page.locator(".compare-bar")
        expect(bar).to_contain_text("1 / ")
        told = bar.inner_text()
        link = page.locator(".difference").get_by_role("button", name=f"{side} #")
        seq = int(link.inner_text().partition("#")[2])
        link.click()
        expect(page).to_have_title(re.compile("demo-8" if log == other_log else "demo-7"))
        expect(page.get_by_role("tab", name="Conversation", exact=True)).to_have_attribute(
            "aria-selected", "true"
        )
        expect_chosen(page, seq)
        page.go_back()
        expect(bar).to_contain_text("1 / ")
        assert bar.inner_text() == told
    demo.show(page, panel="compare", right=demo_log.name)
    expect(page.get_by_role("combobox", name="Right run")).to_have_value("")
    choice = page.get_by_role("combobox", name="Right run").get_by_role("option", name=re.compile("demo-8"))
    expect(choice).to_have_text(re.compile(r" · (ok|error) · "))


def test_what_if_shows_what_follows_and_runs_nothing(demo: Debugger, page: Page, demo_log: Path) -> None:
    before = demo_log.read_bytes()
    at = seqs(demo_log, "fact_modified")[0]
    demo.show(page, panel="fork", seq=at)
    editor = page.get_by_label(f"Data of event {at}")
    data = json.loads(editor.input_value())
    editor.fill("{")
    expect(page.get_by_text("This is no JSON yet")).to_be_visible()
    editor.fill(json.dumps({**data, "confidence": 0.0}))
    row = page.locator(".whatif tbody tr", has_text="F1").first
    expect(row).to_contain_text("0.91")
    expect(row).to_contain_text("0.00")
    expect(page.get_by_role("region", name="The same on the command line")).to_contain_text("lctl what-if")
    assert demo_log.read_bytes() == before
    said = seqs(demo_log, "tool_call")[0]
    demo.show(page, panel="fork", seq=said)
    editor = page.get_by_label(f"Data of event {said}")
    editor.fill(json.dumps({**json.loads(editor.input_value()), "output": "other"}))
    hint = page.get_by_text("only a fork tells, below")
    expect(hint).to_be_visible()
    assert hint.evaluate("text => text.scrollWidth - text.clientWidth") <= 1


def test_run_from_here_prepares_the_command(demo: Debugger, page: Page, demo_log: Path) -> None:
    at = seqs(demo_log, "handoff")[1] + 2
    demo.show(page, panel="fork", seq=at)
    page.get_by_label("What to change in the fork").fill("prompt.system+=Be strict.")
    command = page.get_by_role("region", name="The command of this fork")
    expect(command).to_contain_text("Be strict.")
    page.get_by_label("What to change in the fork").press("End")
    page.keyboard.type("\nmodel=gpt-4.1")  # a second one, on a line of its own
    expect(command).to_contain_text("--set 'prompt.system+=Be strict.' --set model=gpt-4.1")
    expect(command).to_contain_text(f"--at {at}")
    expect(page.get_by_text("--allow-run")).to_be_visible()
    expect(page.get_by_role("button", name="Run from here")).to_have_count(0)


def test_the_folder_lists_its_runs(demo: Debugger, page: Page) -> None:
    demo.show(page, panel="runs")
    rows = page.get_by_role("listbox").get_by_role("option")
    expect(rows).to_have_count(2)
    expect(rows.first.locator(".bars rect").first).to_be_attached()
    page.get_by_label("Find runs").fill("demo-8")
    expect(rows).to_have_count(1)
    rows.first.click()
    expect(page.locator(".brand strong")).to_have_text(re.compile("demo-8"))
    expect(page.get_by_role("tab", name="Conversation", exact=True)).to_have_attribute(
        "aria-selected", "true"
    )


def test_a_slow_answer_is_not_taken_for_the_chosen_event_s(demo: Debugger, page: Page) -> None:
    """What is shown meanwhile stands back; a list without rows says that they come."""
    demo.show(page, panel="state", seq=20)
    state = page.get_by_role("region", name="State")
    expect(state).to_be_visible()
    held: list[Route] = []
    page.route(re.compile("/api/(state|event/|runs)"), lambda route: held.append(route))
    demo.move(page, panel="state", seq=33)  # of which nothing can be there yet
    expect(state).to_have_class(re.compile("late"))
    expect(page.locator(".inspector")).to_have_class(re.compile("late"))
    page.keyboard.press("8")
    expect(page.locator(".runs")).to_contain_text("Working it out")
    for route in held:
        route.continue_()
    page.unroute_all()
    expect(page.locator(".runs .run-row b").first).to_be_visible()
    page.keyboard.press("2")
    expect(state).not_to_have_class(re.compile("late"))
