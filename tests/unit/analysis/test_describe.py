"""One line about any event."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lctl.analysis.describe import describe
from lctl.analysis.wording import block, dollars, percent, plain, seconds
from lctl.events import Event, EventType


def _line(type: str, agent: str = "a", /, **data: Any) -> str:
    return describe(Event(seq=1, type=type, agent=agent, data=data))


@pytest.mark.parametrize(
    ("type", "data", "line"),
    [
        ("step_start", {"intent": "analyze"}, "step_start (analyze)"),
        (
            "step_start",
            {"kind": "llm", "intent": "messages", "model": "gpt-4o"},
            "step_start (messages) gpt-4o",
        ),
        (
            "error",
            {
                "category": "execution_error",
                "type": "KeyError",
                "message": "'x'",
                "context": {"traceback": ["/p/a.py:3 in <module>", "/p/tools.py:9 in look"]},
            },
            "error execution_error/KeyError: 'x' (tools.py:9)",
        ),
        ("error", {"message": "m", "context": {"traceback": 3}}, "error: m"),
        ("error", {"message": "m", "context": {"request": "GET /ask"}}, "error: m (GET /ask)"),
        ("error", {"message": "m", "context": "GET /ask"}, "error: m"),
        ("step_end", {"outcome": "success", "duration_ms": 30000}, "step_end (success, 30.0s)"),
        (
            "step_end",
            {"outcome": "success", "tokens": {"input": 500, "output": 200}},
            "step_end (success, 700 tokens)",
        ),
        ("fact_added", {"id": "F1", "confidence": 0.85}, "fact_added F1 (confidence: 0.85)"),
        ("fact_modified", {"id": "F1", "text": "x"}, "fact_modified F1"),
        ("ambient", {"source": "clock", "key": "time.time", "value": 1}, "ambient clock"),
        ("ambient", {"source": "stdin", "key": "input", "value": "Ada"}, 'ambient stdin "Ada"'),
        ("ambient", {"source": "stdin", "key": "input", "value": None}, "ambient stdin"),
        ("ambient", {"source": "prompt", "value": ["tea", "cake"]}, 'ambient prompt ["tea","cake"]'),
        (
            "ambient",
            {"source": "prompt", "value": {"$raised": {"$": "exception", "class": "builtins:EOFError"}}},
            "ambient prompt EOFError",
        ),
        (
            "ambient",
            {"source": "websocket", "key": "GET /ws", "value": {"kind": "text", "data": "hi"}},
            'ambient websocket GET /ws text "hi"',
        ),
        (
            "ambient",
            {"source": "websocket", "key": "GET /ws", "value": {"kind": "binary", "data": {"base64": "aa"}}},
            "ambient websocket GET /ws binary",
        ),
        ("tool_call", {"tool": "grep", "duration_ms": 50}, "tool_call grep (50ms)"),
        ("tool_call", {"tool": "grep", "error": "no such file"}, "tool_call grep (failed)"),
        (
            "error",
            {"category": "execution_error", "type": "timeout", "message": "30s"},
            "error execution_error/timeout: 30s",
        ),
        (
            "output",
            {"stream": "stdout", "text": "Hello,\nworld", "size": 12},
            'output stdout "Hello, world" (12 bytes)',
        ),
        ("output", {"stream": "stderr", "text": "\n", "size": 1}, "output stderr (1 byte)"),
        (
            "output",
            {"stream": "stderr", "by": "libraries", "text": "warn", "size": 4},
            'output stderr "warn" (libraries, 4 bytes)',
        ),
        ("output", {"stream": 3, "text": [1], "size": "x"}, "output"),
        ("message", {"message_id": "m3", "status": "complete"}, "message completes m3"),
        (
            "message",
            {"message_id": "m3", "content": "more", "status": "aborted"},
            'message of m3 "more" (aborted)',
        ),
        ("stream_end", {"total_chunks": 3, "total_tokens": 0}, "stream_end (3 chunks)"),
        ("checkpoint", {"state_hash": "abc123"}, "checkpoint (abc123)"),
        (
            "message",
            {"role": "model", "content": None, "parts": [{"text": "It is 21."}]},
            'message model "It is 21."',
        ),
        (
            "message",
            {
                "role": "assistant",
                "content": [{"citationsContent": {"content": [{"text": "It is 21."}]}}, {"text": "Warm."}],
            },
            'message assistant "It is 21. Warm."',
        ),
        ("message", {"role": "assistant", "content": None, "refusal": "No."}, 'message assistant "No."'),
        (
            "message",
            {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
            'message assistant "No."',
        ),
        (
            "message",
            {"role": "assistant", "content": None, "function_call": {"name": "look", "arguments": "{}"}},
            "message assistant -> look",
        ),
        ("message", {"role": "user", "copy_of": "m2"}, "message user as m2"),
        ("message", {"role": "assistant", "content": "x" * 80}, f'message assistant "{"x" * 59}…"'),
        (
            "message",
            {"role": "user", "content": [{"type": "text", "text": "hi"}, {"type": "image"}]},
            'message user "hi [image]"',
        ),
        (
            "message",
            {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "grep"}}]},
            "message assistant -> grep",
        ),
        (
            "message",
            {
                "role": "assistant",
                "content": [
                    {"type": "message", "content": [{"type": "output_text", "text": "At once"}]},
                    {"type": "function_call", "name": "grep"},
                ],
            },
            'message assistant "At once" -> grep',
        ),
        (
            "message",
            {"role": "assistant", "content": "par", "status": "aborted"},
            'message assistant "par" (aborted)',
        ),
        (
            "exchange",
            {"method": "POST", "url": "https://api.openai.com/v1/x?key=1", "status": 200},
            "exchange POST api.openai.com/v1/x 200",
        ),
        (
            "exchange",
            {"method": "POST", "url": "http://h/p", "attempt": 2, "error": {"type": "ReadTimeout"}},
            "exchange POST h/p ReadTimeout (attempt 2)",
        ),
        (
            "stream_end",
            {"total_chunks": 47, "total_tokens": 203, "duration_ms": 2340},
            "stream_end (47 chunks, 203 tokens, 2.3s)",
        ),
        ("handoff", {"from": "a", "to": "b"}, "handoff a -> b"),
        ("fact_read", {"facts": ["F1", "F2"]}, "fact_read F1, F2"),
        ("assessment", {"id": "F1", "confidence": 0.9}, "assessment F1 (confidence: 0.90)"),
        ("gate", {"id": "F1", "decision": "block"}, "gate F1 block"),
        (
            "model_routing",
            {"decision": "route_to_opus", "reason": "code"},
            "model_routing route_to_opus (code)",
        ),
        (
            "contract_validation",
            {"contract": "c", "direction": "output", "status": "passed"},
            "contract_validation c output (passed)",
        ),
        (
            "blob",
            {"hash": "sha256:00", "size": 1200, "media_type": "image/png"},
            "blob sha256:00 (image/png, 1,200 bytes)",
        ),
        ("brand_new", {"a": 1}, 'brand_new ({"a":1})'),
    ],
)
def test_each_type_says_what_matters(type: str, data: dict[str, Any], line: str) -> None:
    """As the protocol's replay prints it, and in its manner for the rest."""
    assert _line(type, "code-analyzer", **data) == f"code-analyzer: {line}"


def test_what_would_drive_a_terminal_is_shown_and_not_sent() -> None:
    """A log holds what models and attackers wrote."""
    line = _line("message", "ev\x1b]0;il\x07", role="user", content="a\x1b[2Jb\r\nc\u202ed\u009be\ud800")
    assert line == 'ev\\x1b]0;il\\x07: message user "a\\x1b[2Jb c\\u202ed\\x9be\\ud800"'


_JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
_KEYS = st.sampled_from(
    [
        "role",
        "content",
        "tool_calls",
        "url",
        "status",
        "error",
        "tokens",
        "id",
        "confidence",
        "model",
        "tool",
        "duration_ms",
        "facts",
        "attempt",
        "index",
        "hash",
        "size",
        "message",
        "category",
        "intent",
    ]
)


@given(st.sampled_from([*EventType, "other"]), st.dictionaries(_KEYS, _JUNK, max_size=6), st.text(max_size=5))
def test_any_data_gives_one_printable_line(type: str, data: dict[str, Any], agent: str) -> None:
    """Whatever stands where it does not belong."""
    line = describe(Event(seq=1, type=str(type), agent=agent, data=data))
    assert line.translate({0x200C: None, 0x200D: None}).isprintable()
    assert len(line) < 400


def test_text_of_several_lines_keeps_them() -> None:
    """Line breaks and tabs are text; escapes are not."""
    assert block("a\tb\r\nc\x1b[0m") == "a\tb\nc\\x1b[0m"


@pytest.mark.parametrize(
    ("amount", "shown"),
    [
        (0, "$0.00"),
        (0.047, "$0.047"),
        (0.0012, "$0.0012"),
        (0.0000012, "$0.0000012"),
        (3.5, "$3.500"),
        (1234, "$1,234.00"),
    ],
)
def test_money_keeps_the_digits_that_say_something(amount: float, shown: str) -> None:
    """Thousandths, more for less."""
    assert dollars(amount) == shown


@pytest.mark.parametrize(
    ("ms", "shown"), [(0, "0ms"), (50, "50ms"), (45_200, "45.2s"), (725_000, "12m 5s"), (7_300_000, "2h 1m")]
)
def test_durations_read_at_a_glance(ms: float, shown: str) -> None:
    """One unit, two for long ones."""
    assert seconds(ms) == shown


def test_shares_and_cuts() -> None:
    """A share that is not nothing never shows as nothing; what is cut ends in an ellipsis."""
    assert (percent(0.5), percent(0.001), percent(0)) == ("50%", "<1%", "0%")
    assert plain("x" * 20, 5) == "xxxx…"
