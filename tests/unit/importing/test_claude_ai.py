"""The data export of Claude.ai."""

from __future__ import annotations

from typing import Any

from tests.unit.importing.sources import imported, lost, said, tree

TOP = "00000000-0000-4000-8000-000000000000"


def claude_ai(
    id: str, sender: str, above: str | None, *content: dict[str, Any], **more: Any
) -> dict[str, Any]:
    words = "".join(part.get("text", "") for part in content)
    return {
        "uuid": id,
        "text": words,
        "content": list(content),
        "sender": sender,
        "created_at": "2026-01-01T00:00:00.000000Z",
        "attachments": [],
        "files": [],
        **({} if above is None else {"parent_message_uuid": above}),
        **more,
    }


def words(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said, "citations": [], "start_timestamp": None}


def test_claude_ai_tools_versions_and_attachments() -> None:
    """Two searches at once without ids; an answer given anew; a file with its text, one without."""
    search = [{"type": "tool_use", "id": None, "name": "web_search", "input": {"q": q}} for q in "xy"]
    found = [
        {
            "type": "tool_result",
            "name": "web_search",
            "content": [{"type": "text", "text": q}],
            "is_error": q == "Y",
        }
        for q in "XY"
    ]
    given = {
        "attachments": [{"file_name": "a.txt", "extracted_content": "of a"}],
        "files": [{"file_name": "p.png"}],
    }
    chat = {
        "uuid": "chat-1",
        "name": "Title",
        "chat_messages": [
            claude_ai("m1", "human", TOP, words("q"), **given),
            claude_ai("m2", "assistant", "m1", words("Let me look."), *search, *found, words("It is so.")),
            claude_ai("m3", "assistant", "m1", words("other")),
            claude_ai("m4", "human", "m2", words("thanks")),
        ],
    }
    made = imported([chat])
    assert made.form == "claude-ai"
    told = tree(made)
    assert said(told, "m4") == [
        ("user", "q\n\nof a"),
        ("assistant", "Let me look."),
        ("tool", "X"),
        ("tool", "Y"),
        ("assistant", "It is so."),
        ("user", "thanks"),
    ]
    assert said(told, "m3") == [("user", "q\n\nof a"), ("assistant", "other")]
    calls = [event.data for event in made.log.events() if event.type == "tool_call"]
    assert [(one["input"], one.get("output"), "error" in one) for one in calls] == [
        ({"q": "x"}, "X", False),
        ({"q": "y"}, None, True),
    ]
    assert lost(made) == {"file that the export only names": 1}


def test_claude_ai_older_exports() -> None:
    """Messages of text alone that follow each other; chats without any; a sender that is not known."""
    chats = [
        {
            "uuid": "c1",
            "chat_messages": [{"text": "ü", "sender": "human"}, {"text": "yes", "sender": "assistant"}],
        },
        {"uuid": "c2", "chat_messages": []},
        {"uuid": "c3", "chat_messages": [{"uuid": "z", "text": "?", "sender": None}]},
    ]
    made = imported(chats)
    told = tree(made)
    assert [said(told, leaf.id) for leaf in told.leaves] == [
        [("user", "ü"), ("assistant", "yes")],
        [("user", "?")],
    ]
    assert lost(made) == {"sender that is no known one; taken as a user": 1}
