"""Steps, tool calls and errors: the handlers, and how tokens and time are counted.

**Tokens** are counted once. What a step reports is in the totals unless a step beneath it has reported
too: an agent's own sum over its model calls says nothing new. The inner report is the truth whenever it
comes; if the outer step ended first, what it had added is taken out again.

What a stream says of itself stands for the step it ended in, until a step there, above or beneath
reports: that report has counted the same tokens.

**Time** of an agent is the time in which it had an open step, so nested and parallel steps count once.
Exclusive time needs all intervals and is worked out at read time, in `times.py`.

**Which step** an event is in, its `step` says. A log that never says (the protocol's plain examples) is
read as it is meant: the newest open step of the same agent, which its step_end closes.
"""

from __future__ import annotations

from lctl.state import intake
from lctl.state.builder import Builder
from lctl.state.intake import ModelRef
from lctl.state.model import MODEL_KINDS, Tokens
from lctl.state.moments import elapsed_ms
from lctl.state.rows import StepRow, UsageRow


def step_start(state: Builder, event: intake.StepStart) -> None:
    seq, name, parent = event.seq, event.agent, event.step
    if state.disorder and state.has_step(seq):
        state.note(seq, "step_again", f"there is a step {seq} already; the first one stands")
        return
    data = event.data
    kind = data.kind or "agent"
    model = data.model
    if type(model) is not str and (model is not None or data.agent_profile is not None):
        model = _model(data)
    if parent is not None:
        state.structural = True
        children = state.children.get(parent)
        if children is not None:
            children.append(seq)
        elif parent in state.live or state.has_step(parent):
            state.children[parent] = [seq]
        else:
            state.note(seq, "step_unknown", f"step_start inside step {parent}, which this log does not have")
            parent = None
    row = StepRow(seq, name, kind, data.intent or "", parent, event.timestamp, model, data.tool)
    state.live[seq] = state.changed[seq] = row
    state.open_steps.opened[seq] = None
    if state.stacks is not None:
        state.stacks.setdefault(name, []).append(seq)
    state.step_count += 1
    if kind in MODEL_KINDS:
        state.llm_calls += 1
    agent = state.agents.fresh.get(name) or state.agents.row(name)
    agent.calls += 1
    agent.running = running = agent.running + 1
    if running == 1:
        agent.since = event.timestamp


def step_end(state: Builder, event: intake.StepEnd) -> None:
    seq = event.step
    row = None if seq is None else state.live.pop(seq, None)
    if row is None:
        row = _ending(state, event)
        if row is None:
            return
    else:
        state.structural = True
    data, seq = event.data, row.seq
    state.changed[seq] = row
    opens = state.open_steps
    if seq in opens.opened:
        del opens.opened[seq]
    else:
        opens.closed.add(seq)
    row.end = event.timestamp
    row.end_seq = event.seq
    row.outcome = data.outcome
    duration = data.duration_ms
    if duration is None:
        duration = elapsed_ms(row.start, event.timestamp)
    row.duration_ms = duration
    model = data.model
    if model is not None:
        row.model = model if type(model) is str else _name(model) or row.model
    agent = state.agents.fresh.get(row.agent) or state.agents.row(row.agent)
    tokens = data.tokens
    if tokens is not None:
        _report(state, row, agent, tokens)
    name = row.model
    if name is not None and (row.counted or row.kind in MODEL_KINDS):
        used = state.models.fresh.get(name) or state.models.row(name)
        used.calls += 1
        used.wall_ms += duration or 0.0
        if row.outcome == "error":
            used.errors += 1
        if row.counted:
            used.input += row.input
            used.output += row.output
            if row.cache_read or row.cache_write or row.reasoning or row.rare:
                used.add_parts(row)
    agent.running = running = agent.running - 1
    if running == 0:
        # A period of work is over. If this step began it, its own duration is the better measure.
        if row.start != agent.since:
            duration = elapsed_ms(agent.since, event.timestamp)
        agent.wall_ms += duration or 0.0
        agent.since = None


def _ending(state: Builder, event: intake.StepEnd) -> StepRow | None:
    """The step that ends."""
    seq = event.step
    if seq is None:
        seq = state.newest_open_step(event.agent)
        if seq is None:
            state.note(event.seq, "step_unknown", f"step_end, but agent {event.agent!r} has no open step")
            return None
    else:
        state.structural = True
    row = state.step(seq)
    if row is None:
        state.note(event.seq, "step_unknown", f"step_end of step {seq}, which this log does not have")
        return None
    if row.end_seq is not None:
        state.note(event.seq, "step_ended_twice", f"step {seq} ended at {row.end_seq}; that end stands")
        return None
    state.live.pop(row.seq, None)
    return row


def _report(state: Builder, row: StepRow, agent: UsageRow, tokens: Tokens) -> None:
    """Tokens of a step that ends: in the sums of all and of its agent, if they are news."""
    if state.has_streams and not row.covered:
        _take_back_streams(state, row)
    row.reported = True
    row.input = read = tokens.input
    row.output = written = tokens.output
    rare = tokens.rare
    parts = tokens.cache_read or tokens.cache_write or tokens.reasoning or rare
    if parts:
        row.cache_read = tokens.cache_read
        row.cache_write = tokens.cache_write
        row.reasoning = tokens.reasoning
        row.rare = rare
    if not row.covered:
        row.counted = True
        sums = state.tokens
        sums.input += read
        sums.output += written
        agent.input += read
        agent.output += written
        if parts:
            sums.add_parts(tokens)
            agent.add_parts(tokens)
    if row.parent is not None:
        above = state.live.get(row.parent)
        if above is None or not above.covered:
            _cover(state, row.parent)


def _cover(state: Builder, parent: int) -> None:
    """Tell the steps above that tokens were reported beneath them."""
    at: int | None = parent
    while at is not None:
        above = state.live.get(at) or state.step(at)
        if above is None or above.covered:
            return  # then so are all above it
        above.covered = True
        state.changed[at] = above
        if above.streamed:
            _take_back(state, above, ended=above.end_seq is not None)
        elif above.counted:
            above.counted = False
            tokens = above.tokens()
            state.tokens.take_out(tokens)
            state.agents.row(above.agent).take_out(tokens)
            if above.model is not None:
                state.models.row(above.model).take_out(tokens)
        at = above.parent


def streamed(state: Builder, event: intake.StreamEnd, tokens: Tokens) -> None:
    """Tokens of a stream that ended: in the sums unless a step around it, or beneath that, has reported."""
    seq = event.step
    if seq is None and not state.structural:
        seq = state.newest_open_step(event.agent)
    row = None if seq is None else state.step(seq)
    if row is None:
        state.tokens.add(tokens)
        state.agents.row(event.agent).add(tokens)
        return
    if row.covered or _is_reported(state, row):
        return
    row.streamed = row.counted = True
    row.add_tokens(tokens)
    state.tokens.add(tokens)
    state.agents.row(row.agent).add(tokens)
    if row.model is not None and row.end_seq is not None:
        state.models.row(row.model).add(tokens)


def _is_reported(state: Builder, row: StepRow) -> bool:
    """The step, or one around it, has reported tokens. (Reading a row marks it as changed, no more.)"""
    while not row.reported:
        above = None if row.parent is None else state.step(row.parent)
        if above is None:
            return False
        row = above
    return True


def _take_back_streams(state: Builder, row: StepRow) -> None:
    """The tokens of streams in this step and beneath it: the report that came has them too."""
    waiting = [row.seq]
    while waiting:
        seq = waiting.pop()
        inner = state.step(seq)
        if inner is not None and inner.streamed:
            _take_back(state, inner, ended=inner is not row and inner.end_seq is not None)
        waiting += state.children_of(seq)


def _take_back(state: Builder, row: StepRow, *, ended: bool) -> None:
    """`ended`: its model has been given them, too."""
    tokens = row.tokens()
    state.tokens.take_out(tokens)
    state.agents.row(row.agent).take_out(tokens)
    if row.model is not None and ended:
        state.models.row(row.model).take_out(tokens)
    row.streamed = row.counted = False
    row.input = row.output = row.cache_read = row.cache_write = row.reasoning = 0
    row.rare = None


def tool_call(state: Builder, event: intake.ToolCall) -> None:
    data = event.data
    state.tool_calls.append(event.seq)
    if event.agent not in state.met:
        state.agents.meet(event.agent)
    name = data.tool or "?"
    tool = state.tools.fresh.get(name) or state.tools.row(name)
    tool.calls += 1
    tool.wall_ms += data.duration_ms or 0.0
    if data.error is not None and data.error is not False:
        tool.errors += 1
    row = _around(state, event)
    if row is not None:
        row.tool_calls += 1


def error(state: Builder, event: intake.Error) -> None:
    state.errors.append(event.seq)
    if event.data.type == "KeyboardInterrupt":
        state.interrupted = event.seq
    state.agents.row(event.agent).errors += 1
    row = _around(state, event)
    if row is not None:
        row.errors += 1


def _around(state: Builder, event: intake.Intake) -> StepRow | None:
    """The step an event is in."""
    seq = event.step
    if seq is None:
        seq = None if state.structural else state.newest_open_step(event.agent)
        return None if seq is None else state.step(seq)
    state.structural = True
    row = state.live.get(seq)
    if row is not None:
        state.changed[seq] = row
        return row
    row = state.step(seq)
    if row is None:
        state.note(event.seq, "step_unknown", f"in step {seq}, which this log does not have")
    return row


def _model(data: intake.StepStartData) -> str | None:
    """The model a step names, or else its agent's."""
    return _name(data.model) or (None if data.agent_profile is None else _name(data.agent_profile.model))


def _name(model: str | ModelRef | None) -> str | None:
    return model.id if type(model) is ModelRef else model  # type: ignore[return-value]
