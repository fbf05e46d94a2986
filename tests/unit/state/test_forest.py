"""Messages: where they hang, and the way back to their root."""

from __future__ import annotations

from typing import Any

import pytest

from lctl import Chain
from lctl.errors import BrokenChain, UsageError
from lctl.state.forest import known_id
from lctl.state.model import State
from lctl.state.reducer import fold
from tests.unit.state.logs import events

ABSENT: Any = object()


def said(id: str, parent: Any = ABSENT, **more: Any) -> tuple[str, dict[str, Any]]:
    data = {"message_id": id, "role": "user", "content": id, **more}
    return ("message", data if parent is ABSENT else {**data, "parent_id": parent})


def path(state: State, id: str) -> list[str]:
    """The way from the root to a message; "!" before an id that breaks it."""
    found: dict[str, None] = {}
    at: str | None = known_id(state.aliases, id)
    while at is not None:
        node = state.messages.get(at)
        if node is None or at in found:
            return [f"!{at}", *reversed(found)]
        found[at] = None
        at = None if node.parent is None else known_id(state.aliases, node.parent)
    return list(reversed(found))


def codes(state: State) -> list[str]:
    return [note.code for note in state.diagnostics]


def test_null_begins_a_conversation_and_no_parent_goes_on_with_one() -> None:
    """Two conversations in one log stay apart."""
    state = fold(
        events(
            said("s", None),
            said("u"),
            said("x", None, conversation_id="side"),
            said("a"),
            said("y", conversation_id="side"),
        )
    )
    assert path(state, "a") == ["s", "u", "a"]
    assert path(state, "y") == ["x", "y"]
    assert codes(state) == []


def test_the_first_message_without_a_parent_is_a_root() -> None:
    """And one without an id is named by its seq."""
    state = fold(events(("message", {"role": "user"}), said("b")))
    assert path(state, "b") == ["#1", "b"]


def test_a_child_before_its_parent_is_parked_and_attached() -> None:
    """An orphan is no root, and is a child the moment its parent is there."""
    log = events(said("c", "b"), said("d", "b"), said("b", "a"), said("a", None))
    orphaned = fold(log[:2])
    assert path(orphaned, "c") == ["!b", "c"]
    assert orphaned.parked == {"b": 2}
    state = fold(log)
    assert path(state, "d") == ["a", "b", "d"]
    assert set(state.parked.values()) == {0}
    assert codes(state) == []


def test_a_hundred_thousand_messages_backwards_are_one_path() -> None:
    """No recursion, no quadratic work."""
    n = 100_000
    state = fold(events(*[said(f"m{i}", f"m{i - 1}" if i else None) for i in reversed(range(n))]))
    assert len(path(state, f"m{n - 1}")) == n


@pytest.mark.parametrize("ring", [["a"], ["a", "b"], ["a", "b", "c"]])
def test_a_ring_of_messages_is_noted_and_ends(ring: list[str]) -> None:
    """Self parent, and rings of two and three."""
    state = fold(events(*[said(id, ring[(n + 1) % len(ring)]) for n, id in enumerate(ring)]))
    assert codes(state) == ["msg_cycle"]
    assert path(state, "a")[0] == "!a"


def test_an_alias_stands_for_its_message_wherever_it_is_named() -> None:
    """Before or after the messages that use it; aliases of aliases too."""
    log = events(
        said("u", None),
        ("message_alias", {"alias": "out-1", "message_id": "u"}),
        ("message_alias", {"alias": "out-2", "message_id": "out-1"}),
        said("a", "out-2"),
        said("b", "late"),
        ("message_alias", {"alias": "late", "message_id": "a"}),
    )
    state = fold(log)
    assert state.messages["a"].parent == "u"
    assert path(state, "b") == ["u", "a", "b"]
    assert path(state, "out-2") == ["u"]
    assert codes(state) == []


def test_aliases_that_contradict_are_passed_over() -> None:
    """Taken twice, taken by a message, or in a ring."""
    state = fold(
        events(
            said("u", None),
            ("message_alias", {"alias": "x", "message_id": "u"}),
            ("message_alias", {"alias": "x", "message_id": "v"}),
            ("message_alias", {"alias": "u", "message_id": "x"}),
            ("message_alias", {"alias": "p", "message_id": "q"}),
            ("message_alias", {"alias": "q", "message_id": "p"}),
            ("message_alias", {"alias": "lonely"}),
        )
    )
    assert codes(state) == ["alias_conflict"] * 3 + ["missing_id"]


def test_a_message_delivered_again_is_one_message() -> None:
    """The same is no news; another with its id is a contradiction, and the first one stands."""
    state = fold(events(said("u", None), said("u", None), said("u", None, role="assistant")))
    assert state.totals.messages == 1
    assert state.messages["u"].role == "user"
    assert codes(state) == ["msg_conflict"]


def test_whose_a_message_is_may_be_said_later() -> None:
    """As a session does of an answer that the wire has recorded, be it complete or not."""
    claim = ("message", {"message_id": "a", "session_id": "s", "message_number": 2})
    for status in ("complete", "aborted"):
        state = fold(events(said("u", None), said("a", "u", role="assistant", status=status), claim))
        assert codes(state) == []
        assert (state.messages["a"].status, state.totals.messages) == (status, 2)


def test_a_transcript_is_what_the_provider_wrote() -> None:
    """From the root, without the log's own keys; a gap is an error that says what is missing."""
    chain = Chain(
        "c",
        events(
            said("u", None, name="ann"),
            said("a", "u", sampled=True, status="complete", tool_calls=[{"id": "t"}]),
            said("lost", "gone"),
        ),
    )
    assert chain.transcript("a") == [
        {"role": "user", "content": "u", "name": "ann"},
        {"role": "user", "content": "a", "tool_calls": [{"id": "t"}]},
    ]
    with pytest.raises(BrokenChain, match="hangs on gone, which is not in the log") as caught:
        chain.transcript("lost")
    assert (caught.value.missing, [message.id for message in caught.value.partial]) == ("gone", ["lost"])
    assert chain.transcript("lost", strict=False) == [{"role": "user", "content": "lost"}]
    with pytest.raises(UsageError, match="there is no message nobody"):
        chain.transcript("nobody")


def test_a_transcript_of_chunks_only() -> None:
    """A streamed message without its whole is its chunks, in order."""
    chain = Chain(
        "c",
        events(
            ("stream_start", {"message_id": "m1", "parent_id": None, "role": "assistant"}),
            ("stream_chunk", {"message_id": "m1", "content": "He"}),
            ("stream_chunk", {"message_id": "m1", "content": "llo"}),
            ("stream_end", {"message_id": "m1"}),
        ),
    )
    assert chain.transcript("m1") == [{"role": "assistant", "content": "Hello"}]
