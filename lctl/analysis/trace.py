"""A log as columns of keys, to be compared with another one: 100,000 events are arrays of numbers.

An event's key is a hash of its type, agent and what it says without ids, times and positions; its owner
is the index of the step_start it happened in. `reading` fills the columns.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

from lctl.analysis.essence import CallNames
from lctl.analysis.log import Log

#: What an event is to the alignment. Events of the POOL stand where they were first needed, which with
#: concurrent agents is luck: prompt messages (their order is in the conversation) and blobs; or where they
#: came by luck, as a browser's requests for the files of its page. LOOSE ones, tool calls read off prompt
#: messages, mirror them. Of those that tell of ORDER only it is luck how many there are, too.
EVENT, STEP, POOL, LOOSE, ORDER = range(5)
#: Those that stand by luck.
POOLED = (POOL, ORDER)


def _numbers() -> array[int]:
    return array("q")


@dataclass(slots=True)
class Trace:
    """Columns by index of event. `owners` is -1 at the top."""

    log: Log
    seqs: array[int] = field(default_factory=_numbers)
    keys: array[int] = field(default_factory=_numbers)
    names: array[int] = field(default_factory=_numbers)  # equal for the same tool, fact, kind of step
    owners: array[int] = field(default_factory=_numbers)
    classes: bytearray = field(default_factory=bytearray)
    agents: list[str] = field(default_factory=list)
    types: list[str] = field(default_factory=list)
    starts: dict[int, int] = field(default_factory=dict)  # seq of a step_start -> index
    messages: dict[bytes, int] = field(default_factory=dict)
    #: The message an event names, by index: a message its parent (None: a root), a step its prompt or answer.
    named: dict[int, bytes | None] = field(default_factory=dict)
    calls: CallNames = field(default_factory=dict)
    unread: set[int] = field(default_factory=set)  # numbers of lines that are no events

    def __len__(self) -> int:
        return len(self.keys)
