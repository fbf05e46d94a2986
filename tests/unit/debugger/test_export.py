"""The page as one file: what is in it, and that nothing in it runs but the page."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

import lctl
from lctl.analysis.prices import Prices
from lctl.chain import Chain
from lctl.codec import open_log
from lctl.debugger import exporting, packing, pagetalk
from lctl.debugger.exporting import answers, page_of
from lctl.debugger.opened import Opened
from lctl.debugger.views.calldiff import CallDiffAsked, call_diff
from lctl.debugger.views.calls import call_view
from lctl.debugger.views.events import EventAsked, event
from tests.unit.conversation.events import lines_run
from tests.unit.debugger.logs import Writing, review, save
from tests.unit.debugger.pages import held, path_to, unpacked
from tests.unit.debugger.test_access import XSS
from tests.unit.debugger.test_answers import check


def test_the_file_holds_the_answers_of_the_server(tmp_path: Path) -> None:
    """Of each kind, in its documented shape; the state at every event."""
    found = held(page_of(open_log(save(tmp_path / "run.lctl.json", review()))))
    assert found["format"] == 1 and found["session"]["static"] is True
    for name in ("session", "run", "flow", "steps", "conversations", "calls", "costs"):
        check(f"/api/{name}", found[name])
    assert [row["seq"] for row in found["rows"]] == found["seqs"] == list(range(1, 22))
    for seq in found["seqs"]:
        check("/api/state", found["states"][str(seq)])
        check(f"/api/event/{seq}", found["events"][str(seq)])
    assert found["states"]["13"]["fact_count"] == 1
    assert list(found["call"]) == ["4", "10"] and list(found["diffs"]) == ["4-10"]
    assert [one["id"] for one in path_to(found, "m11")][-1] == "m11" and len(path_to(found, "m11")) == 5


def test_what_every_call_has_read_is_there_once(tmp_path: Path) -> None:
    """Twice as many turns of one conversation make a page about twice as large, though each call reads all
    that the calls before it have; what the page makes of it is what the server gives."""
    sizes = []
    for turns in (20, 40):
        log, parent = Writing(), None
        for n in range(turns):
            asked = log.add(
                "message", message_id=f"u{n}", parent_id=parent, role="user", content=f"{n} " * 200
            )
            call = log.add(
                "step_start",
                kind="llm",
                intent="chat",
                operation="chat.completions",
                model="m",
                prompt=f"u{n}",
            )
            parent = f"a{n}"
            log.add(
                "message", "planner", call, message_id=parent, parent_id=f"u{n}", role="assistant",
                content=f"answer {n}", sampled=True,
            )  # fmt: skip
            log.add("step_end", "planner", call, outcome="success", message=parent)
        path = save(tmp_path / f"{turns}.lctl.json", log.events)
        given = answers(open_log(path))
        assert len(given["messages"]) < 4 * turns
        sizes.append(len(json.dumps({**given, "copies": None})))  # of requests there are some MB at most
        found = unpacked(given)
        run = Opened(path.name, path, Prices(), open_log(path))
        check_same(found["call"][str(call)], call_view(run, call))
        check_same(
            found["diffs"][f"{call - 4}-{call}"], call_diff(run, CallDiffAsked(left=call - 4, right=call))
        )
        for seq in (asked, call, call + 1):
            check_same(found["events"][str(seq)], event(run, EventAsked(seq=seq)))
    assert sizes[1] < 2.5 * sizes[0]


def test_it_is_told_how_far_the_page_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "_STEP", 1)
    told: list[float] = []
    page_of(open_log(save(tmp_path / "run.lctl.json", review())), told.append)
    assert told == sorted(told) and len(told) > 40 and told[0] < 0.2 and told[-1] == 1.0


def test_an_event_of_a_long_log_costs_no_more_than_one_of_a_short_one(tmp_path: Path) -> None:
    """And it is not looked for in the file, nor is its state folded anew where nobody asks for it."""
    costs = []
    for count in (200, 800):
        log = Writing()
        for n in range(count):
            step = log.add("step_start", kind="tool", intent=f"look {n}")
            log.add("tool_call", "planner", step, name="grep", arguments={"n": n}, result="x")
            log.add("step_end", "planner", step, outcome="success")
        path = save(tmp_path / f"{count}.lctl.json", log.events)
        _, lines = lines_run(lambda path=path: answers(open_log(path)))  # type: ignore[misc]
        costs.append(lines / count)
    assert costs[1] < 1.3 * costs[0]


def test_requests_that_have_no_room_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the page would take a request from, it says who has it; the last are there, and the page says
    that others are not."""
    path = save(tmp_path / "run.lctl.json", review())
    whole = unpacked(answers(open_log(path)))["events"]
    monkeypatch.setattr(packing, "_COPIES", len(str(whole["10"]["copy"])))
    page = unpacked(answers(open_log(path)))
    found = page["events"]
    assert found["10"] == whole["10"]
    for name in ("python", "curl"):
        assert "'lctl debug' shows it" in found["4"]["copy"][name] != whole["4"]["copy"][name]
    assert page["run"]["notes"] == [
        "1 early call without the request as Python and curl: 'lctl debug' shows all"
    ]


def test_what_a_call_had_on_the_wire_is_there_once(tmp_path: Path) -> None:
    """However many events are in the call: neither the page's size nor its making is their number squared."""
    sizes, costs = [], []
    for count in (50, 200):
        log = Writing()
        call = log.add("step_start", kind="llm", operation="chat.completions", model="m")
        log.add("exchange", "planner", call, method="POST", url="http://h/", status=200, body="x" * 20_000)
        for n in range(count):
            log.add("tool_call", "planner", call, name="t", arguments={"n": n})
        end = log.add("step_end", "planner", call, outcome="success")
        path = save(tmp_path / f"{count}.lctl.json", log.events)
        given, lines = lines_run(lambda path=path: answers(open_log(path)))  # type: ignore[misc]
        sizes.append(len(json.dumps(given["events"])) + len(json.dumps(given["exchanges"])))
        costs.append(lines / count)
        found, run = unpacked(given), Opened(path.name, path, Prices(), open_log(path))
        for seq in (call, call + 1, end):
            check_same(found["events"][str(seq)], event(run, EventAsked(seq=seq)))
    assert sizes[1] < 4 * sizes[0] < 4_000_000
    assert costs[1] < 1.2 * costs[0]


def test_calls_that_are_not_in_it_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "_CALLS", 1)
    page = unpacked(answers(open_log(save(tmp_path / "run.lctl.json", review()))))
    assert list(page["call"]) == ["4"]
    assert page["run"]["notes"] == [
        "this page holds what the first 1 of 2 calls read and answered: 'lctl debug' shows all"
    ]


def test_what_a_page_has_no_room_for_is_what_was_on_the_wire(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And of that the largest; what the program did is there to its end. The page says so."""
    log = Writing()
    for size in (9_000, 4_000):
        log.add("exchange", method="GET", url="http://h/", status=200, body="x" * size)
    log.add("error", category="execution_error", message="the end")
    path = save(tmp_path / "run.lctl.json", log.events)
    assert page_of(open_log(path))
    monkeypatch.setattr(exporting, "_BYTES", 6_000)
    page = unpacked(answers(open_log(path)))
    assert list(page["events"]) == ["2", "3"]
    assert page["run"]["notes"] == ["1 large event without what was said in them: 'lctl debug' shows all"]
    assert page["run"]["end_seq"] == page["run"]["last_seq"] == 3
    monkeypatch.setattr(exporting, "_ROWS", 2)
    page = unpacked(answers(open_log(path)))
    assert page["run"]["notes"][0] == "this page holds the first 2 of 3 events"
    assert page["run"]["end_seq"] == page["run"]["last_seq"] == page["rows"][-1]["seq"] == 2


def check_same(found: Any, given: Any) -> None:
    assert found == msgspec.to_builtins(given)


def test_a_graph_that_was_edited_often_costs_what_the_page_shows(tmp_path: Path) -> None:
    """Each message and each version of it is in the page once, and the path to any of them is whole."""
    costs = []
    for count in (20, 80):
        log = tmp_path / f"{count}.lctl.json"
        with lctl.LCTLSession(path=log) as session:
            history = lctl.MessageGraph(session, messages=[{"role": "user", "content": "q"}] * count)
            for n in range(count // 4):
                history[n * 7 % count]["content"] = f"e{n}"
        page, lines = lines_run(lambda log=log: answers(open_log(log)))  # type: ignore[misc]
        rows, forks = page["conversations"]["conversations"], page["talk"]["forks"]
        assert [row["branches"] for row in rows] == [1 + len(some) for some in forks]
        assert sum(row["branches"] for row in rows) == count // 4 + 1
        assert all(len(path_to(page, row["leaf"])) == count for row in rows)
        costs.append(lines / len(page["messages"]))
    assert costs[1] < 2 * costs[0]


def test_messages_for_which_there_is_no_room_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last are there, of however many conversations."""
    log = Writing()
    for n in range(1200):
        log.add("message", message_id=f"m{n}", parent_id=None, role="user", content="x" * 100)
    path = save(tmp_path / "run.lctl.json", log.events)
    page = unpacked(answers(open_log(path)))
    assert len(page["conversations"]["conversations"]) == len(page["talk"]["places"]) == 1200
    assert page["run"]["notes"] == [] and page["talk"]["said"][1199] == [1200]
    monkeypatch.setattr(pagetalk, "_BYTES", 20_000)
    monkeypatch.setattr(pagetalk, "_LISTED", 100)
    page = unpacked(answers(open_log(path)))
    held = len(page["talk"]["places"])
    assert 10 < held < 200 and path_to(page, "m1199") and page["talk"]["said"][99] == [1200]
    assert page["run"]["notes"] == [
        f"this page holds the last {held} of 1,200 messages",
        "this page lists the last 100 of 1,200 conversations: 'lctl debug' shows all",
    ]


def test_nothing_in_it_runs_but_the_page(tmp_path: Path) -> None:
    """Content that would end the element it stands in, or a line, is there and is no markup; the policy
    lets the page's own program run and nothing else, and reach nothing."""
    log = Writing()
    for text in XSS:
        log.add("fact_added", text, id=text, text=text, confidence=0.1)
        log.add("message", text, message_id=text, role="user", content=text)
    page = page_of(open_log(save(tmp_path / "run.lctl.json", log.events, id=XSS[1], name=XSS[2])))
    found = held(page)
    assert {fact["text"] for fact in found["states"][str(len(log.events))]["facts"]} == {*XSS}
    assert "<img src=x" not in page and "\u2028" not in page.split('id="lctl-data"')[1].split("</script>")[0]
    assert page.lower().count("</script") == 2 and "<!--" not in page.split("<body>")[1]
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    program = re.search(r'<script type="module">(.*)</script></body>', page, re.DOTALL)
    assert policy is not None and program is not None
    digest = base64.b64encode(hashlib.sha256(program[1].encode()).digest()).decode()
    assert f"script-src &#x27;sha256-{digest}&#x27;" in policy[1]
    assert "default-src &#x27;none&#x27;" in policy[1] and "connect-src" not in policy[1]
    assert 'src="' not in page.split("<body>")[0]


def test_a_picture_is_in_it_once_however_many_calls_have_read_it(tmp_path: Path) -> None:
    picture = base64.b64encode(b"\x89PNG" + random.Random(7).randbytes(30_000)).decode()
    url = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{picture}"}}
    log = Writing()
    log.add("message", message_id="m1", parent_id=None, role="user", content=[url])
    for n in range(1, 21):
        step = log.add("step_start", kind="llm", model="m", prompt=f"m{n}")
        said = {"message_id": f"m{n + 1}", "parent_id": f"m{n}", "role": "assistant", "content": f"{n}."}
        log.add("message", "planner", step, **said, sampled=True)
        log.add("step_end", "planner", step, outcome="success", message=f"m{n + 1}")
    found = held(page_of(open_log(save(tmp_path / "run.lctl.json", log.events))))
    assert len(found["call"]) == 20 and len(found["diffs"]) == 19
    assert list(found["images"].values()) == [url["image_url"]["url"]]  # type: ignore[index]
    shown = (found["call"], found["diffs"], path_to(found, "m21"))
    assert picture not in json.dumps(shown)
    (src,) = found["images"]
    assert json.dumps(shown).count(json.dumps(src)) > 20


def test_an_empty_log_and_one_without_a_file_are_pages_too(tmp_path: Path) -> None:
    assert held(page_of(open_log(save(tmp_path / "run.lctl.json", []))))["rows"] == []
    chain = Chain("x", review()[:3])
    assert len(answers(chain.log)["rows"]) == 3


def test_notebooks_show_the_page_apart_from_themselves(tmp_path: Path) -> None:
    """In a frame that may run scripts and nothing else: no cookies, no way to the notebook."""
    shown = Chain("x", review())._repr_html_()
    assert shown.startswith('<iframe sandbox="allow-scripts"')
    assert shown.count("<") == 2  # the frame and its end: all else is in the attribute
    with lctl.LCTLSession("s", path=tmp_path / "s.lctl.json") as session:
        session.add_fact("F1", "so far", confidence=0.0)
        assert session._repr_html_().startswith("<iframe")
