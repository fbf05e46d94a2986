"""Model calls: a list of them, and one as it was: what the model read, what it answered."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from lctl.analysis.describe import summary
from lctl.analysis.log import model_of, number, text, tokens_of
from lctl.conversation.node import Node
from lctl.conversation.tree import Tree
from lctl.debugger.asking import OfRun
from lctl.debugger.columns import MODEL
from lctl.debugger.failing import Refused
from lctl.debugger.moments import state_at
from lctl.debugger.opened import Opened
from lctl.debugger.shapes.conversation import Call, Calls, CallView, Failure, Message, MessageCall, Tool
from lctl.debugger.views.messages import message
from lctl.debugger.views.rows import FAILURES, cost
from lctl.events import Event
from lctl.state.model import MODEL_KINDS, State, Tokens

#: Events of a call that are looked at for its attempts.
_NEAR = 2000
#: Events of a log up to which its conversations are read for a number in passing.
_SMALL = 50_000


class CallsAsked(OfRun, kw_only=True):
    at: int | None = None
    offset: int = 0
    limit: int = 200
    agent: str | None = None


def calls(run: Opened, asked: CallsAsked) -> Calls:
    """Model calls in the order they began."""
    seqs = call_seqs(run)
    at = run.seq(asked.at)
    seqs = [seq for seq in seqs if seq <= at]
    if asked.agent is not None:
        seqs = [seq for seq in seqs if run.event(seq).agent == asked.agent]
    numbers = {seq: n for n, seq in enumerate(call_seqs(run), 1)}
    offset = max(0, asked.offset)
    shown = seqs[offset : offset + max(1, min(asked.limit, 1000))]
    state, _ = state_at(run, at)
    found = [call_of(run, state, seq, numbers[seq]) for seq in shown]
    after = offset + len(shown)
    return Calls(
        calls=[one for one in found if one is not None],
        total=len(seqs),
        next=after if after < len(seqs) else None,
    )


def call_seqs(run: Opened) -> list[int]:
    """Seqs of the steps that are model calls."""

    def find() -> list[int]:
        columns = run.columns_now(patience=30.0)
        codes = {*columns.codes_of("step_start", flavour=MODEL)}
        return [columns.seq(row) for row, code in enumerate(columns.codes) if code in codes]

    return run.kept("calls", find)


def call_of(run: Opened, state: State, seq: int, n: int | None = None) -> Call | None:
    """The call that a step is, as it stands in a state; None for a step that is none."""
    step = state.steps.get(seq)
    if step is None or step.kind not in MODEL_KINDS:
        return None
    return call_between(run, seq, step.end_seq, n, step.tokens)


def call_between(
    run: Opened, seq: int, end_seq: int | None, n: int | None = None, streamed: Tokens | None = None
) -> Call | None:
    """The call that begins and ends with these events. `streamed`: its tokens, where its end says none."""
    begun = next(iter(run.log.events(seq, seq + 1)), None)
    if begun is None or begun.type != "step_start" or text(begun.data.get("kind")) not in MODEL_KINDS:
        return None
    start = begun.data
    ended = next(iter(run.log.events(end_seq, end_seq + 1)), None) if end_seq is not None else None
    end: dict[str, Any] = ended.data if ended is not None else {}
    tokens = tokens_of(end) or streamed
    prompt = text(start.get("prompt")) or None
    model = model_of(end) or model_of(start)
    ms = run.ms(begun.timestamp)
    duration = number(end.get("duration_ms"))
    if (
        duration is None
        and ended is not None
        and ms is not None
        and (last := run.ms(ended.timestamp)) is not None
    ):
        duration = last - ms
    return Call(
        step=seq,
        end_seq=end_seq,
        agent=begun.agent,
        model=model,
        provider=text(start.get("provider")) or None,
        ms=ms,
        duration_ms=duration,
        first_chunk_ms=number(end.get("first_chunk_ms")),
        prompt=prompt,
        answer=text(end.get("message")) or None,
        messages=_length(run, prompt, seq),
        tokens=tokens,
        cost=cost(run, model, tokens, begun.timestamp),
        finish_reason=text(end.get("finish_reason")) or None,
        attempts=_attempts(run, seq, end_seq),
        error=text(end.get("outcome")) in FAILURES,
        outcome=text(end.get("outcome")) or None,
        number=n,
    )


def end_of(run: Opened, step: int) -> int | None:
    """Seq of the event that ends a step; of a very long log, of those near it."""
    if not run.is_long:
        found = run.timeline.at(run.log.last_seq).steps.get(step)
        return found.end_seq if found is not None else None
    for event in run.log.events(step + 1, step + _NEAR):
        if event.type == "step_end" and event.step == step:
            return event.seq
    return None


def _attempts(run: Opened, seq: int, end: int | None) -> int:
    return sum(event.type == "exchange" for event in _events_of(run, seq, end))


def _failures(run: Opened, seq: int, end: int | None) -> list[Failure]:
    return [
        Failure(seq=event.seq, text=summary(event))
        for event in _events_of(run, seq, end)
        if event.type == "error"
    ]


def _events_of(run: Opened, seq: int, end: int | None) -> Iterator[Event]:
    """Those of one call, as far as they are near to its beginning."""
    stop = min(seq + _NEAR, (end or run.log.last_seq) + 1)
    return (event for event in run.log.events(seq, stop) if event.step == seq)


def _length(run: Opened, prompt: str | None, seq: int) -> int | None:
    """Messages of a prompt; None where finding that out would cost a reading of the log."""
    if prompt is None or len(run.log) > _SMALL:
        return None
    tree = run.chain.tree.at(seq)
    return len(tree.way(tree[prompt].number, strict=False)) if prompt in tree else None


# -- one call ------------------------------------------------------------------------------


class CallAsked(OfRun, kw_only=True):
    step: int


def call(run: Opened, asked: CallAsked) -> CallView:
    """A model call to the letter."""
    return call_view(run, asked.step)


class Heard(NamedTuple):
    """A message as a model read it."""

    node: Node
    message: Message


class Read(NamedTuple):
    """A call, how it began, and what the model read: for its view, and for its differences from others."""

    call: Call
    start: dict[str, Any]
    prompt: list[Heard]


def read_of(run: Opened, step: int) -> Read:
    """Raises Refused: that is no model call."""
    found = call_at(run, step)
    start = run.event(step).data
    nodes = prompt_of(run, step, start)
    return Read(found, start, [Heard(node, message(run, node, None)) for node in nodes])


def call_view(run: Opened, step: int) -> CallView:
    """Raises Refused: that is no model call."""
    return view_of(run, read_of(run, step))


def view_of(run: Opened, read: Read) -> CallView:
    found, start = read.call, read.start
    return CallView(
        call=found,
        prompt=[one.message for one in read.prompt],
        answers=[message(run, node, _own(found)) for node in _answers(run, found)],
        tools=tools_of(run, start),
        params=params_of(start),
        previous=_previous(run, call_seqs(run), found.step, found.agent),
        failures=_failures(run, found.step, found.end_seq),
    )


def call_at(run: Opened, step: int) -> Call:
    """Raises Refused: that is no model call."""
    found = call_between(run, step, end_of(run, step), bisect_left(call_seqs(run), step) + 1)
    if found is None:
        raise Refused("not_found", f"event {step} begins no model call; /api/calls lists them")
    return found


def prompt_of(run: Opened, step: int, start: dict[str, Any]) -> list[Node]:
    """The messages the model read, as they stood when it was asked."""
    tree = run.chain.tree.at(step)
    leaf = start.get("prompt")
    return tree.path(leaf, strict=False) if isinstance(leaf, str) and leaf in tree else []


def _answers(run: Opened, found: Call) -> list[Node]:
    if found.end_seq is None:
        return []
    tree = run.chain.tree.at(found.end_seq)
    end = run.event(found.end_seq).data
    several = end.get("messages")
    ids = several if isinstance(several, list) else [end.get("message")]
    return [tree[id] for id in ids if isinstance(id, str) and id in tree]


def _own(found: Call) -> MessageCall:
    return MessageCall(
        step=found.step,
        model=found.model,
        tokens=found.tokens,
        cost=found.cost,
        duration_ms=found.duration_ms,
        finish_reason=found.finish_reason,
        attempts=found.attempts,
    )


def _previous(run: Opened, seqs: list[int], step: int, agent: str) -> int | None:
    """The call before it of the same agent, of the last few hundred."""
    place = bisect_left(seqs, step)
    for seq in reversed(seqs[max(0, place - 300) : place]):
        if run.event(seq).agent == agent:
            return seq
    return None


def tools_of(run: Opened, start: dict[str, Any]) -> list[Tool]:
    """The tools the model was offered."""
    given = start.get("tool_definitions")
    if not isinstance(given, list):
        name = start.get("tools")
        given = run.chain.tree.forest.calls.definitions.get(name) if isinstance(name, str) else name
    found = []
    for one in given if isinstance(given, list) else ():
        inner = (
            one.get("function") if isinstance(one, dict) and isinstance(one.get("function"), dict) else one
        )
        said = inner if isinstance(inner, dict) else {}
        name = text(said.get("name")) or text(said.get("type")) or "?"
        found.append(Tool(name=name, description=text(said.get("description")), definition=one))
    return found


def params_of(start: dict[str, Any]) -> dict[str, Any]:
    params = start.get("params")
    return dict(params) if isinstance(params, dict) else {}


def message_calls(run: Opened, tree: Tree, nodes: Iterable[Node]) -> dict[int, MessageCall]:
    """Number of a message -> the call it came from."""
    found: dict[int, MessageCall] = {}
    for node in nodes:
        step, end, _ = tree.forest.calls.events(node.number)
        if not step:
            continue
        made = call_between(run, step, end if 0 < end <= tree.seq else None)
        if made is not None:
            found[node.number] = _own(made)
    return found


def messages_of(run: Opened, tree: Tree, nodes: list[Node]) -> list[Message]:
    """Messages with the calls they came from."""
    made = message_calls(run, tree, nodes)
    return [message(run, node, made.get(node.number)) for node in nodes]


def step_of(event: Event) -> int | None:
    """The step an event begins or is in."""
    return event.seq if event.type == "step_start" else event.step
