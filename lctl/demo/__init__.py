"""`lctl demo`: three agents review a small program, over real SDKs and real HTTP, without network or keys.

    result = run_demo(seed=7)
    print(result.path)

The models are a `lctl.testing.ModelServer` on this machine. The same seed gives the same log but for
times and the chain's id; another seed gives other findings.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine
from contextvars import copy_context
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lctl.errors import MissingExtra

if TYPE_CHECKING:
    from lctl import LCTLSession
    from lctl.testing import ModelServer

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DemoResult:
    """What the demo recorded, read back from its log.

    Attributes:
        path: the log.
        agents: in order of appearance.
        model_calls: logical calls; `attempts` counts their HTTP requests.
        errors: failed attempts, each of which was retried.
        tokens: input and output together.
        facts: id -> (text, confidence) as they stand at the end.
        answer: what the last agent said.
    """

    path: Path
    chain_id: str
    seed: int
    events: int
    agents: tuple[str, ...]
    model_calls: int
    attempts: int
    tool_calls: int
    errors: int
    tokens: int
    facts: dict[str, tuple[str, float | None]]
    answer: str


def run_demo(seed: int = 7, path: str | Path | None = None) -> DemoResult:
    """Run and record the demo; under `.lctl/` when no path is given.

    Takes about a second. A loop that is running in this thread waits as long.

    Raises:
        MissingExtra: openai or anthropic is not installed.
    """
    if find_spec("openai") is None or find_spec("anthropic") is None:
        raise MissingExtra("lctl demo", "demo")
    from lctl import LCTLSession
    from lctl.clock import system_clock
    from lctl.demo import model
    from lctl.demo.turns import Turns
    from lctl.instrument import ensure_installed
    from lctl.session.naming import default_path
    from lctl.testing import ModelServer

    turns = Turns("code", "settings")
    id = f"demo-{seed}-{os.urandom(3).hex()}"
    ensure_installed(always=True)
    # A path that is named stays, also where a store gets the run.
    session = LCTLSession(id, path or default_path(id, system_clock))
    with ModelServer(seed, latency=(0.02, 0.08), chunk_delay=0.002) as server:
        model.teach(server, turns)
        with session:
            answer = _agents_at_work(server, session, turns)
    return _read_back(Path(session.path), seed, answer)


def _agents_at_work(server: ModelServer, session: LCTLSession, turns: Any) -> str:
    import anthropic
    import openai

    from lctl.demo import review

    async def analysis() -> dict[str, Any]:
        wire = openai.DefaultAsyncHttpxClient(event_hooks={"request": [turns.sending]})
        async with openai.AsyncOpenAI(base_url=server.openai_url, api_key="demo", http_client=wire) as client:
            return await review.analyze_all(client, session, turns)

    facts = _completed(analysis())
    if not facts:  # in a fork whose tools find nothing
        return "Nothing was found."
    with anthropic.Anthropic(base_url=server.anthropic_url, api_key="demo") as claude:
        facts = review.review(claude, session, facts)
    session.checkpoint()
    with openai.OpenAI(base_url=server.openai_url, api_key="demo") as client:
        return review.fix(client, session, facts)


def _completed(work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, also where a loop is running already (a notebook): then in a thread beside it."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as beside:
        return beside.submit(copy_context().run, asyncio.run, work).result()


def _read_back(path: Path, seed: int, answer: str) -> DemoResult:
    from lctl.codec import open_log
    from lctl.state.reducer import fold

    log = open_log(path)
    state = fold(log.events())
    return DemoResult(
        path=path,
        chain_id=str(log.chain.get("id")),
        seed=seed,
        events=len(log),
        agents=tuple(dict.fromkeys(e.agent for e in log.events() if e.type == "step_start")),
        model_calls=state.totals.llm_calls,
        attempts=sum(e.type == "exchange" for e in log.events()),
        tool_calls=state.totals.tool_calls,
        errors=state.totals.errors,
        tokens=state.totals.tokens.total,
        facts={fact.id: (fact.text, fact.confidence) for fact in state.facts.values()},
        answer=answer,
    )


__all__ = ["DemoResult", "run_demo"]
