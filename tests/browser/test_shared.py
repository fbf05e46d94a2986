"""`lctl serve` on a store, in a browser: signing in, the moment a link names, signing out."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="needs playwright: pip install 'lctl[browser]'")
pytest.importorskip("itsdangerous", reason="needs itsdangerous: pip install 'lctl[serve]'")
from playwright.sync_api import Browser, Page, expect

from lctl.codec import open_log
from lctl.debugger.shared import accounts
from lctl.stores.opening import close_stores, open_store
from lctl.stores.outbox import push
from tests.browser.debugger import expect_chosen

pytestmark = pytest.mark.browser


@pytest.fixture
def served(demo_log: Path, tmp_path: Path) -> Iterator[str]:
    """The address of a server on a store that has the demo's run."""
    place = f"sqlite:///{tmp_path}/runs.db"
    push(open_log(demo_log), open_store(place, create=True))
    close_stores()
    accounts.add_user(tmp_path / "users", "ann", "correct horse")
    words = ["serve", place, "--users", str(tmp_path / "users"), "--port", "0"]
    with subprocess.Popen(
        [sys.executable, "-m", "lctl", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()
    assert process.returncode == 0


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    made = browser.new_page()
    yield made
    made.close()


def sign_in(page: Page, password: str) -> None:
    page.get_by_label("Name").fill("ann")
    page.get_by_label("Password or token").fill(password)
    page.get_by_role("button", name="Sign in").click()


def test_a_link_to_a_moment_leads_there_through_the_sign_in(served: str, demo_log: Path, page: Page) -> None:
    run = open_log(demo_log).id
    page.goto(f"{served}#run={run}&seq=20")
    sign_in(page, "wrong")
    expect(page.get_by_role("alert")).to_have_text("Name or password is wrong.")
    sign_in(page, "correct horse")
    expect_chosen(page, 20)
    assert page.url.startswith(f"{served}#run={run}&seq=20")
    page.goto(f"{served}logout")
    expect(page.get_by_text("Signed in as ann")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="lctl: sign in")).to_be_visible()
    page.goto(served)
    expect(page.get_by_role("heading", name="lctl: sign in")).to_be_visible()


def test_the_runs_of_the_store_are_listed(served: str, demo_log: Path, page: Page) -> None:
    page.goto(f"{served}#panel=runs")
    sign_in(page, "correct horse")
    expect(page.locator(".run-row:not(.heads)").first).to_contain_text("demo")
