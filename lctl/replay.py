"""`ReplayEngine`: a chain played to any event, compared, and asked where its time went.

The module is called like the function of `lctl` that runs a session's agent again: calling the module
does that.

    lctl.replay(session.fork(at=4), agent, tools="dry-run").diff().show()
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from lctl.chain import Chain
from lctl.errors import UsageError
from lctl.events import Event
from lctl.state.model import State

if TYPE_CHECKING:
    from lctl.analysis.bottleneck import SlowStep
    from lctl.analysis.diff import Diff


class ReplayEngine:
    """Plays one chain.

    engine = ReplayEngine(Chain.load("run.lctl.json"))
    engine.replay_to(10).facts

    Raises:
        UsageError: it is no chain.
    """

    def __init__(self, chain: Chain) -> None:
        if not hasattr(chain, "log"):
            raise UsageError(f"ReplayEngine({chain!r:.80}): it takes a chain, such as Chain.load(PATH)")
        self.chain = chain

    def replay_to(self, seq: int) -> State:
        """The state after event `seq`. Any order; later ones do not forget earlier ones."""
        return self.chain.at(seq)

    def replay_all(self) -> State:
        """The state at the end."""
        return self.chain.state

    def get_trace(self) -> list[Event]:
        """The beginnings and ends of steps, in order."""
        return [event for event in self.chain.log.events() if event.type in ("step_start", "step_end")]

    def get_metrics(self) -> dict[str, Any]:
        """`total_duration` (ms, earliest timestamp to latest), `total_tokens` and `error_count`; nested
        steps are not counted twice."""
        state = self.chain.state
        return {
            "total_duration": state.totals.duration_ms,
            "total_tokens": state.totals.tokens.total,
            "error_count": state.totals.errors,
        }

    def get_confidence_timeline(self) -> dict[str, list[dict[str, Any]]]:
        """Of each fact, {seq, confidence, reason} of every event that stated it, oldest first."""
        return {
            id: [
                {"seq": seq, "confidence": confidence, "reason": reason}
                for seq, confidence, reason in fact.history
            ]
            for id, fact in self.chain.state.facts.items()
        }

    def diff(self, other: ReplayEngine | Chain) -> Diff:
        """What differs between this chain and another, aligned by what happened.

        Raises:
            UsageError: the other is none.
        """
        from lctl.analysis.diff import diff  # here: replaying needs neither prices nor alignment

        chain = other.chain if isinstance(other, ReplayEngine) else other
        if not hasattr(chain, "log"):
            raise UsageError(f"diff({other!r}): it takes another chain, such as Chain.load(PATH)")
        return diff(self.chain.log, chain.log)

    def find_bottlenecks(self, top: int = 5) -> list[SlowStep]:
        """The steps with the most time of their own, most first."""
        from lctl.analysis.bottleneck import bottleneck

        return list(bottleneck(self.chain.log).slowest[:top])


class _Callable(ModuleType):
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from lctl.rerun.replaying import replay

        return replay(*args, **kwargs)


replay = sys.modules[__name__]
replay.__class__ = _Callable
