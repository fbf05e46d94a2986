"""What stands on a terminal in the end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lctl.instrument.ambient.standing import Standing

E = "\x1b["


def left(*written: str, columns: int = 20, lines: int = 6) -> str:
    screen = Standing(columns, lines)
    gone = [screen.add(piece.encode()) for piece in written]
    return b"".join([*gone, screen.end()]).decode()


@pytest.mark.parametrize(
    ("written", "stands"),
    [
        ("a\nb", "a\nb"),
        ("a\n\nb\n", "a\n\nb\n"),
        (" 9%\r 10%\r100%\n", "100%\n"),
        ("waiting\rdone\n", "doneing\n"),
        ("waiting\r" + E + "2Kdone\n", "done\n"),
        ("abc\b\bX", "aXc"),
        (E + "31mred" + E + "0m " + E + "?25lb" + E + "?25h", "red b"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\ \x1b]0;title\x07t", "link t"),
        ("one\ntwo\n" + E + "2A" + E + "J" + "three", "three"),
        ("one\ntwo\n" + E + "1A" + E + "2KTWO\n", "one\nTWO\n"),
        ("one\ntwo" + E + "F1", "1ne\ntwo"),
        ("a" + E + "3Cb" + E + "2Gc", "ac  b"),
        ("abcdef" + E + "3G" + E + "K", "ab"),
        ("abcdef" + E + "3G" + E + "1K", "   def"),
        ("old\nold" + E + "2J" + E + "Hnew", "new"),
        ("before\n" + E + "?1049hmenu\nmenu" + E + "?1049lafter", "before\nafter"),
        ("x\x1b7yz\x1b8!", "x!z"),
        ("a\tb", "a       b"),
        ("a" * 25 + "\nb", "a" * 25 + "\nb"),  # no line of the program's ends where the terminal's does
        ("a" * 20 + "\nb", "a" * 20 + "\nb"),
        ("a" * 25 + "\r" + E + "A" + E + "J" + "b", "b"),
        ("語" * 11 + "\r" + E + "A" + E + "J!", "!"),
        (E + "99Ax", "x"),
    ],
)
def test_what_is_drawn_over_is_gone(written: str, stands: str) -> None:
    assert left(written) == stands


@given(st.text(st.sampled_from("abé語\n"), max_size=300), st.integers(1, 30), st.integers(1, 8))
def test_text_alone_stays_as_it_is(text: str, columns: int, lines: int) -> None:
    assert left(text, columns=columns, lines=lines) == text


SEQUENCES = st.sampled_from(
    [E + "A", E + "2K", E + "J", "\r", E + "1;31m", "\x1b]0;t\x07", "\x1b7", "\x1b8", E + "?25l"]
)


@given(st.lists(st.one_of(st.text(st.sampled_from("ab\n"), max_size=8), SEQUENCES), max_size=20))
def test_however_it_is_cut_into_pieces(parts: list[str]) -> None:
    whole = "".join(parts)
    assert left(*whole) == left(whole)


def test_a_spinner_leaves_the_same_however_often_it_turned() -> None:
    def waited(turns: int) -> str:
        frames = "".join(f"\r{E}2K{E}32m{'|/-'[n % 3]}{E}0m Thinking" for n in range(turns))
        return left("asked\n", E + "?25l", frames, f"\r{E}2K{E}?25h", "answered\n")

    assert waited(1) == waited(2) == waited(50) == "asked\nanswered\n"


def test_what_is_beyond_the_upper_edge_is_told_at_once() -> None:
    screen = Standing(10, 3)
    assert screen.add(b"1\n2\n3\n4\n") == b"1\n2\n"
    assert screen.add(f"{E}9A5".encode()) == b""
    assert screen.end() == b"5\n4"


def test_bytes_that_are_no_text_are_kept() -> None:
    screen = Standing(10, 3)
    assert screen.add(b"\xff\xfea\n") + screen.end() == b"\xff\xfea\n"


def test_a_sequence_that_never_ends_is_not_kept_for_ever() -> None:
    screen = Standing(0, 3)
    screen.add(b"\x1b]" + b"x" * 10_000)
    assert b"x" in screen.add(b"y\n" * 10)
