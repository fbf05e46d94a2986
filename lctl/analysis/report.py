"""A report of a run to read, in Markdown.

Of a long run it has what a reader gets through: the first rows of each table, the newest conversations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lctl.analysis import bottleneck as bottlenecks
from lctl.analysis import stats as statistics
from lctl.analysis.failures import failures
from lctl.analysis.log import Log
from lctl.analysis.statstext import lines
from lctl.analysis.transcripts import transcripts
from lctl.analysis.wording import count, dollars, percent, plain, seconds

#: Rows of a table, and characters of conversations, that are shown.
_ROWS = 200
_TEXT = 1_000_000
_AGENT_COLUMNS = ("Agent", "Steps", "Model calls", "Tool calls", "Errors", "Time", "Tokens", "Cost")
_MODEL_COLUMNS = ("Model", "Calls", "Errors", "p50", "p95", "In", "Out", "Cost")


def markdown(log: Log) -> str:
    """A report to read: summary, agents, slowest steps, advice, failures, facts, conversations."""
    value = statistics.stats(log)
    slow = bottlenecks.bottleneck(log)
    parts = [
        f"# {_cell(value.chain_id or 'chain')}",
        "\n".join(f"- {_cell(line)}" for line in lines(value)[1:]),
    ]
    parts += [
        _section("Agents", _AGENT_COLUMNS, [_agent_row(row) for row in value.agents]),
        _section("Models", _MODEL_COLUMNS, [_model_row(row) for row in value.models]),
        _section("Tools", ("Tool", "Calls", "Errors", "p50", "p95"), [_tool_row(row) for row in value.tools]),
        _section("Slowest steps", ("Step", "Agent", "What", "Time", "Share"), _slow_rows(slow)),
    ]
    if slow.advice:
        parts.append("## Advice\n\n" + "\n".join(f"- {_cell(piece.text)}" for piece in slow.advice))
    parts += [
        _section(
            "Failures", ("Times", "Category", "Type", "Message", "Events"), _failure_rows(log), "lctl errors"
        ),
        _section("Facts", ("Fact", "Text", "Confidence"), _facts(log), "lctl confidence"),
        *_conversations(log),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _conversations(log: Log) -> list[str]:
    """The newest, in the order they end."""
    found: list[str] = []
    size = 0
    for leaf, said, missing in transcripts(log):
        broken = f"What came before is missing: there is no message {_cell(missing)}.\n\n" if missing else ""
        part = f"## Conversation to {_cell(leaf)}\n\n{broken}{_fenced(said)}"
        size += len(part)
        if size > _TEXT and found:
            found.append("Conversations that ended before these: `lctl branches`, `lctl transcript`.")
            break
        found.append(part)
    found.reverse()
    return found


def _agent_row(row: statistics.Row) -> tuple[Any, ...]:
    time, used = seconds(row.exclusive_ms), _tokens(row, row.tokens.total)
    return (row.name, row.calls, row.llm_calls, row.tool_calls, row.errors, time, used, _usd(row.cost))


def _model_row(row: statistics.Row) -> tuple[Any, ...]:
    used = (_tokens(row, row.tokens.input), _tokens(row, row.tokens.output))
    return (row.name, row.calls, row.errors, _ms(row.p50_ms), _ms(row.p95_ms), *used, _usd(row.cost))


def _tool_row(row: statistics.Row) -> tuple[Any, ...]:
    return (row.name, row.calls, row.errors, _ms(row.p50_ms), _ms(row.p95_ms))


def _slow_rows(slow: bottlenecks.Bottleneck) -> list[tuple[Any, ...]]:
    return [
        (step.seq, step.agent, step.intent or step.kind, seconds(step.exclusive_ms), percent(step.share))
        for step in slow.slowest[:10]
    ]


def _failure_rows(log: Log) -> list[tuple[Any, ...]]:
    return [
        (one.count, one.category, one.type, one.message, ", ".join(map(str, one.seqs[:8])))
        for one in failures(log)
    ]


def _facts(log: Log) -> list[tuple[str, str, str]]:
    facts: dict[str, tuple[str, float | None]] = {}
    for event in log.events():
        if event.type in ("fact_added", "fact_modified"):
            id = str(event.data.get("id"))
            text, confidence = facts.get(id, ("", None))
            given = event.data.get("confidence")
            facts[id] = (
                str(event.data.get("text") or text),
                float(given)
                if isinstance(given, int | float) and not isinstance(given, bool)
                else confidence,
            )
    return [(id, text, "-" if value is None else f"{value:.2f}") for id, (text, value) in facts.items()]


def _section(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], more: str = "") -> str:
    """`more`: the command that lists all of them."""
    if not rows:
        return ""
    head = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    body = [f"| {' | '.join(_cell(str(cell)) for cell in row)} |" for row in rows[:_ROWS]]
    rest = len(rows) - len(body)
    told = f"\n\n{count(rest)} more{f': `{more}`' if more else ''}." if rest else ""
    return f"## {title}\n\n" + "\n".join([*head, *body]) + told


def _cell(text: str) -> str:
    """Text that stays text in Markdown."""
    safe = plain(text, 300)
    for mark in ("\\", "|", "`", "*", "_", "<", "[", "#"):
        safe = safe.replace(mark, f"\\{mark}")
    return safe


def _fenced(text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}text\n{text.rstrip()}\n{fence}"


def _tokens(row: statistics.Row, number: int) -> str:
    return count(number) if row.tokens_known else "?"


def _usd(value: float | None) -> str:
    return "?" if value is None else dollars(value)


def _ms(value: float | None) -> str:
    return "-" if value is None else seconds(value)
