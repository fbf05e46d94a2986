"""What the fold reads of an event, and nothing else of it.

One small struct per event type. Decoding a line straight into it skips everything large (contents,
inputs, outputs, exchanges), so reading a log this way is faster than decoding it. A line that does not
fit is read again tolerantly (`tolerant.py`), which gives the same structs with defaults where values
could not be used, and says so.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, UnsetType

from lctl.events import KNOWN_TYPES
from lctl.state.model import Count, Tokens

#: A year has 3e10 of them; the bound only keeps infinity out.
Milliseconds = Annotated[float, msgspec.Meta(ge=0, le=1e15)]
#: What every JSON reader takes for a whole number; longer ones become floats in some.
Whole = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


class Part(msgspec.Struct, gc=False):
    """A part of an event's data. No cycles, so the garbage collector need not know it."""


class Unread(Part):
    """Data in which the fold reads nothing; it has to be an object all the same."""


class ModelRef(Part):
    id: str | None = None


class Profile(Part):
    model: str | ModelRef | None = None


class ErrorData(Part):
    type: Any = None


class StepStartData(Part):
    intent: str | None = None
    kind: str | None = None
    tool: str | None = None
    model: str | ModelRef | None = None
    agent_profile: Profile | None = None


class StepEndData(Part):
    outcome: str | None = None
    duration_ms: Milliseconds | None = None
    tokens: Tokens | None = None
    model: str | ModelRef | None = None


class FactData(Part):
    """Of fact_added and fact_modified."""

    id: str | Whole | None = None
    text: str | None = None
    confidence: float | None = None
    source: str | None = None
    reason: str | None = None


class ToolCallData(Part):
    tool: str | None = None
    duration_ms: Milliseconds | None = None
    error: object = None


class MessageData(Part):
    message_id: str | None = None
    parent_id: str | UnsetType | None = UNSET  # null begins a conversation, absent goes on with one
    role: str | None = None
    conversation_id: str | None = None
    sampled: bool | None = None
    status: str | None = None


class AliasData(Part):
    alias: str | None = None
    message_id: str | None = None


class StreamEndData(Part):
    message_id: str | None = None
    total_chunks: Whole | None = None
    total_tokens: Count | None = None
    tokens: Tokens | Count | None = None
    status: str | None = None


class StreamData(Part):
    """Of stream_start and stream_chunk."""

    message_id: str | None = None
    parent_id: str | UnsetType | None = UNSET
    role: str | None = None
    index: Whole | None = None
    tokens: Count | None = None


class Intake(msgspec.Struct, gc=False, kw_only=True, tag_field="type"):
    """An event as the fold sees it; one subclass per type, which names its `data`."""

    seq: Whole
    timestamp: str = ""
    agent: str = ""
    step: Whole | None = None


class StepStart(Intake, tag="step_start"):
    data: StepStartData


class StepEnd(Intake, tag="step_end"):
    data: StepEndData


class FactAdded(Intake, tag="fact_added"):
    data: FactData


class FactModified(Intake, tag="fact_modified"):
    data: FactData


class ToolCall(Intake, tag="tool_call"):
    data: ToolCallData


class Error(Intake, tag="error"):
    data: ErrorData


class Checkpoint(Intake, tag="checkpoint"):
    data: Unread


class Message(Intake, tag="message"):
    data: MessageData


class Alias(Intake, tag="message_alias"):
    data: AliasData


class StreamStart(Intake, tag="stream_start"):
    data: StreamData


class StreamChunk(Intake, tag="stream_chunk"):
    data: StreamData


class StreamEnd(Intake, tag="stream_end"):
    data: StreamEndData


class Handoff(Intake, tag="handoff"):
    data: Unread


class Passed(Intake, tag=False):
    """An event of a type the fold counts and passes over."""

    data: Unread


class SessionStart(Passed, tag="session_start"):
    pass


class SessionEnd(Passed, tag="session_end"):
    pass


class ViewSelect(Passed, tag="view_select"):
    pass


class FactRead(Passed, tag="fact_read"):
    pass


class ModelRouting(Passed, tag="model_routing"):
    pass


class ContractValidation(Passed, tag="contract_validation"):
    pass


class Assessment(Passed, tag="assessment"):
    pass


class Gate(Passed, tag="gate"):
    pass


class Exchange(Passed, tag="exchange"):
    pass


class Ambient(Passed, tag="ambient"):
    pass


class Output(Passed, tag="output"):
    pass


class Blob(Passed, tag="blob"):
    pass


Known = (
    StepStart
    | StepEnd
    | FactAdded
    | FactModified
    | ToolCall
    | Error
    | Checkpoint
    | Message
    | Alias
    | StreamStart
    | StreamChunk
    | StreamEnd
    | Handoff
    | SessionStart
    | SessionEnd
    | ViewSelect
    | FactRead
    | ModelRouting
    | ContractValidation
    | Assessment
    | Gate
    | Exchange
    | Ambient
    | Output
    | Blob
)


class Unknown(Intake, tag="?"):
    """An event of a type this version does not know: counted and passed over."""


#: event type -> its struct
BY_TYPE: dict[str, type[Intake]] = {str(cls.__struct_config__.tag): cls for cls in Known.__args__}
assert set(BY_TYPE) == KNOWN_TYPES

#: event type -> struct of its data
DATA: dict[str, type[Part]] = {
    tag: next(f.type for f in msgspec.structs.fields(cls) if f.name == "data") for tag, cls in BY_TYPE.items()
}
