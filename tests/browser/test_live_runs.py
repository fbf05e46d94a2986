"""A program that runs, followed while it does; and a fork that the page runs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

pytest.importorskip("playwright", reason="needs playwright: pip install 'lctl[browser]'")
from playwright.sync_api import Browser, expect

from tests.browser.debugger import Watched, chosen, debugger, expect_chosen

pytestmark = pytest.mark.browser

PROGRAM = """
import sys, time
import lctl
from lctl import LCTLSession

with LCTLSession("live", path=sys.argv[1]) as session:
    session.step_start("worker", "count")
    for n in range(int(sys.argv[2])):
        session.add_fact(f"F{n}", f"counted to {n}", confidence=0.5)
        if n % 20 == 19:
            print(n, flush=True)
            sys.stdin.readline()
    session.step_end()
"""


@contextmanager
def running_program(text: str, *arguments: str) -> Iterator[tuple[IO[str], subprocess.Popen[str]]]:
    """What it reads, and itself; it has begun."""
    command = [sys.executable, "-c", text, *arguments]
    program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert program.stdin is not None and program.stdout is not None
    try:
        program.stdout.readline()
        yield program.stdin, program
    finally:
        program.kill()
        program.wait()
        program.stdin.close()
        program.stdout.close()


def go_on(program: IO[str]) -> None:
    program.write("\n")
    program.flush()


def test_a_running_program_is_followed_to_its_end(browser: Browser, tmp_path: Path) -> None:
    log = tmp_path / "live.lctl.json"
    with running_program(PROGRAM, str(log), "60") as (told, program), debugger(log) as running:
        seen = Watched(browser, running.place)
        page = seen.page
        page.goto(running.link)
        running.show(page, panel="state")
        expect(page.locator(".tag.live")).to_be_visible()
        expect_chosen(page, 21)
        go_on(told)
        expect_chosen(page, 41)
        expect(page.locator(".event", has_text="F39")).to_be_visible()
        expect(page.locator(".fact").first).to_contain_text("counted to 39")

        page.keyboard.press("ArrowLeft")
        assert chosen(page) == 40
        go_on(told)
        expect(page.get_by_role("slider", name="Chosen event")).to_have_attribute("aria-valuemax", "61")
        assert chosen(page) == 40
        page.keyboard.press("l")
        expect_chosen(page, 61)

        go_on(told)
        told.close()
        program.wait(30)
        expect(page.locator(".tag.live")).to_have_count(0)
        expect(page.locator(".topbar .tag.good")).to_have_text("ended well")
        expect_chosen(page, 62)
        seen.close()


TALK = """
import sys
from lctl import LCTLSession

with LCTLSession("talk", path=sys.argv[1]) as session:
    for n in range(1, 61):
        parent = f"m{n - 1}" if n > 1 else None
        session.message("user", f"Number {n}. " * 40, message_id=f"m{n}", parent_id=parent)
        if n % 20 == 0:
            print(n, flush=True)
            sys.stdin.readline()
"""


def test_the_newest_message_is_in_sight_unless_one_reads_another(browser: Browser, tmp_path: Path) -> None:
    log = tmp_path / "talk.lctl.json"
    with running_program(TALK, str(log)) as (told, _), debugger(log) as running:
        seen = Watched(browser, running.place)
        page = seen.page
        page.goto(running.link)
        running.show(page, panel="conversation")
        expect(page.locator("#m-20")).to_be_in_viewport(ratio=0.99)
        go_on(told)
        expect(page.locator("#m-40")).to_be_in_viewport(ratio=0.99)
        page.get_by_role("region", name="Conversation").evaluate("view => { view.scrollTop = 300 }")
        expect(page.locator("#m-40")).not_to_be_in_viewport()
        go_on(told)
        expect(page.locator("#m-60")).to_be_attached()
        expect(page.locator("#m-60")).not_to_be_in_viewport()
        page.keyboard.press("l")
        page.keyboard.press("ArrowLeft")
        expect(page.locator("#m-59")).to_be_in_viewport(ratio=0.99)
        seen.close()


def test_a_fork_is_confirmed_run_and_compared(browser: Browser, folder: Path, demo_log: Path) -> None:
    at = next(
        e["seq"] for e in json.loads(demo_log.read_text())["events"] if e["agent"] == "security-reviewer"
    )
    with debugger(demo_log, "--allow-run") as running:
        seen = Watched(browser, running.place)
        page = seen.page
        page.goto(running.link)
        running.show(page, panel="fork", seq=at)
        page.get_by_label("What to change in the fork").fill("prompt.system+=Be strict.")
        expect(page.get_by_role("region", name="The command of this fork")).to_contain_text("Be strict.")
        page.get_by_role("button", name="Run from here").click()
        page.get_by_role("button", name="Yes, run it").click()
        expect(page.get_by_role("tab", name="Compare")).to_have_attribute(
            "aria-selected", "true", timeout=120_000
        )
        expect(page.locator(".difference")).to_contain_text("Be strict.")
        expect(page.locator(".compare-bar")).to_contain_text("difference")
        running.show(page, panel="compare")
        tree = page.locator(".lineage .item")
        expect(tree.filter(has_text="fork")).to_contain_text("prompt.system+=Be strict.")
        seen.close()
    for made in folder.glob("*fork*"):
        made.unlink()


FAILING = """
import lctl

@lctl.tool
def look(n: int) -> int:
    return n

with lctl.LCTLSession(path={path!r}):
    for n in range(3):
        look(n)
    print("the end " * 40)
    raise SystemExit("failed: " + "why " * 200)
"""


def test_a_fork_that_fails_is_compared_all_the_same(browser: Browser, tmp_path: Path) -> None:
    """Its output is in sight, and no wider than its place."""
    program, log = tmp_path / "failing.py", tmp_path / "failing.lctl.json"
    program.write_text(FAILING.format(path=str(log)))
    subprocess.run([sys.executable, str(program)], cwd=tmp_path, capture_output=True)
    with debugger(log, "--allow-run") as running:
        seen = Watched(browser, running.place)
        page = seen.page
        page.goto(running.link)
        running.show(page, panel="fork", seq=2)
        page.get_by_role("button", name="Run from here").click()
        page.get_by_role("button", name="Yes, run it").click()
        expect(page.locator(".running .tag.error")).to_have_text("ended with 1", timeout=120_000)
        expect(page.get_by_role("log")).to_be_in_viewport()
        expect(page.locator(".running").get_by_role("button", name="Compare")).to_be_in_viewport(ratio=1)
        seen.close()
