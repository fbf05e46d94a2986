"""One frozen struct per event type: what its `data` holds.

    start = payload(event)      # StepStart(intent="analyze", ...) or None
    check(event)                # ["tokens: expected an object with input and output, got 350"]

Reading stays tolerant: an unknown type has no payload and no problems, unknown keys are fine, and a key
of the wrong type is left out of the payload rather than making all of it unusable.
"""

from __future__ import annotations

from lctl.events import Event
from lctl.payloads import conversation, coordination, core, streams, tape
from lctl.payloads.checking import check_envelope, convert, shown
from lctl.payloads.fields import Payload

#: The payload of each type.
PAYLOADS: dict[str, type[Payload]] = {
    "step_start": core.StepStart,
    "step_end": core.StepEnd,
    "fact_added": core.FactAdded,
    "fact_modified": core.FactModified,
    "tool_call": core.ToolCall,
    "error": core.Error,
    "checkpoint": core.Checkpoint,
    "stream_start": streams.StreamStart,
    "stream_chunk": streams.StreamChunk,
    "stream_end": streams.StreamEnd,
    "message": conversation.Message,
    "message_alias": conversation.MessageAlias,
    "session_start": conversation.SessionStart,
    "session_end": conversation.SessionEnd,
    "view_select": conversation.ViewSelect,
    "handoff": coordination.Handoff,
    "fact_read": coordination.FactRead,
    "model_routing": coordination.ModelRouting,
    "contract_validation": coordination.ContractValidation,
    "assessment": coordination.Assessment,
    "gate": coordination.Gate,
    "exchange": tape.Exchange,
    "ambient": tape.Ambient,
    "output": tape.Output,
    "blob": tape.Blob,
}


def payload(event: Event) -> Payload | None:
    """The typed view of an event's data, without the keys `check` complains of.

    None for a type that is not the protocol's, and where a required key is missing or unusable.
    """
    kind = PAYLOADS.get(event.type)
    return convert(event.data, kind)[0] if kind is not None else None


def check(event: Event) -> list[str]:
    """What in the event is not as the protocol says, one text for each key. Empty when all is well."""
    kind = PAYLOADS.get(event.type)
    problems = check_envelope(event)
    if kind is None or "data" in event.extra:
        return problems
    return problems + convert(event.data, kind)[1]


__all__ = ["PAYLOADS", "Payload", "check", "check_envelope", "payload", "shown"]
