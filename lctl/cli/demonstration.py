"""`lctl demo`: something real to look at, within seconds and without a key."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lctl.analysis.wording import plain, seconds
from lctl.cli.options import log_option, screened
from lctl.cli.screen import Column, Piece, Screen, Style
from lctl.cli.text import plural, wrap

if TYPE_CHECKING:
    from lctl.demo import DemoResult


@click.command()
@click.option("--seed", type=int, default=7, show_default=True, help="Another seed, other findings.")
@log_option("Record into this file.")
@screened()
def demo(screen: Screen, seed: int, output: str | None) -> None:
    """Record a three-agent security review, and say what to look at.

    The agents use the real openai and anthropic SDKs over HTTP; the models are a scripted server on
    this machine. Needs no network and no key (pip install 'lctl[demo]').
    """
    from lctl.demo import run_demo
    from lctl.session import border

    if output is not None and Path(output).exists() and border.player() is None:  # a rerun writes elsewhere
        from lctl.errors import UsageError

        raise UsageError(f"{output}: exists already; choose another --output, or remove it first")
    result = run_demo(seed, output)
    if screen.json:
        screen.json_value(_document(result))
    else:
        _say(screen, result, output)


def _say(screen: Screen, result: DemoResult, output: str | None) -> None:
    from lctl.analysis.stats import stats
    from lctl.codec import open_log

    value = stats(open_log(result.path))
    retried = result.attempts - result.model_calls
    screen.line(("Three agents reviewed a small program.", "bold"), (f"  (seed {result.seed})", "dim"))
    screen.line()
    screen.table(
        [Column(), Column(), Column(right=True), Column(right=True)],
        [
            [
                (plain(row.name), "cyan"),
                plural(row.llm_calls, "model call"),
                plural(row.tool_calls, "tool call") if row.tool_calls else "",
                seconds(row.wall_ms),
            ]
            for row in value.agents
            if row.calls
        ],
        indent=2,
    )
    screen.line()
    screen.line(
        f"{plural(result.events, 'event')} in {seconds(value.duration_ms)}: "
        f"{plural(result.model_calls, 'model call')}, {plural(result.tool_calls, 'tool call')}, "
        f"{plural(result.tokens, 'token')}",
        (f", {plural(retried, 'failed request')} retried" if retried else "", "yellow"),
    )
    _facts(screen, result)
    _answer(screen, result)
    screen.line()
    screen.line(f"Recorded in {plain(str(result.path))}")
    _next(screen, result, "last" if output is None else output)


def _facts(screen: Screen, result: DemoResult) -> None:
    if not result.facts:
        return
    screen.line()
    screen.line(("What they found", "bold"))
    rows: list[list[Piece]] = []
    for id, (text, confidence) in result.facts.items():
        style: Style = "green" if (confidence or 0) >= 0.8 else "yellow"
        rows.append([("  - " if confidence is None else f"{confidence:.2f}", style), plain(id), plain(text)])
    screen.table([Column(), Column(), Column(flexible=True)], rows, indent=2)


def _answer(screen: Screen, result: DemoResult) -> None:
    screen.line()
    screen.line(("What the last one answered", "bold"))
    room = min(screen.columns, 90) - 2
    lines = wrap(plain(result.answer, 600), room)
    screen.lines("  " + line for line in lines[:6])


def _next(screen: Screen, result: DemoResult, target: str) -> None:
    target = plain(target)
    here = "" if target == "last" else f" {target}"
    other = f"lctl demo --seed {result.seed + 1} && lctl diff" if not here else f"lctl show {target} 12"
    last = "what another run did otherwise" if not here else "one event in full"
    screen.line()
    screen.line(("Try next", "bold"))
    screen.table(
        [Column(), Column()],
        [
            [f"lctl debug{here}", ("look at it in the browser", "dim")],
            [f"lctl replay{here}", ("step through it, forward and back", "dim")],
            [f"lctl stats{here}", ("tokens, cost and time by agent, model and tool", "dim")],
            [f"lctl bottleneck{here}", ("where the time went", "dim")],
            [f"lctl rerun{here}", ("run it again on its tape: offline, exact", "dim")],
            [other, (last, "dim")],
        ],
        indent=2,
    )


def _document(result: DemoResult) -> dict[str, object]:
    return {
        "path": str(result.path),
        "chain_id": result.chain_id,
        "seed": result.seed,
        "events": result.events,
        "agents": list(result.agents),
        "model_calls": result.model_calls,
        "attempts": result.attempts,
        "tool_calls": result.tool_calls,
        "errors": result.errors,
        "tokens": result.tokens,
        "facts": {id: {"text": text, "confidence": c} for id, (text, c) in result.facts.items()},
        "answer": result.answer,
    }
