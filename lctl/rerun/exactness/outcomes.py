"""What is said of a rerun at its end: whether its output is the recorded one, what of the tape is left."""

from __future__ import annotations

from typing import Any

from lctl.rerun.exactness.certificate import Difference
from lctl.rerun.exactness.echo import EchoStore
from lctl.rerun.order.moments import START, WAKES
from lctl.rerun.order.score import Violation
from lctl.rerun.tape.tape import Tape

#: How many unused crossings are named.
_NAMED = 20


def output_equal(tape: Tape, echo: EchoStore, found: Difference | None) -> bool | None:
    """None where no output was recorded. `found`: the first difference of the logs."""
    if not tape.outputs:
        return None
    if found is None:
        return True
    return [_output(tape, seq) for seq in tape.outputs] == _outputs_of(echo)


def reaches_nobody(one: Violation) -> bool:
    return one.key[1] in WAKES or one.key[3] == START


def named(unused: list[str]) -> list[str]:
    if len(unused) <= _NAMED:
        return unused
    return [*unused[:_NAMED], f"and {len(unused) - _NAMED} more"]


def _output(tape: Tape, seq: int) -> tuple[Any, Any]:
    data = tape.log.event(seq).data
    return data.get("stream"), data.get("hash")


def _outputs_of(echo: EchoStore) -> list[tuple[Any, Any]]:
    import orjson

    found = []
    for line in echo.read():
        if b'"type":"output"' in line[:64]:
            data = orjson.loads(line)["data"]
            if "by" not in data:
                found.append((data.get("stream"), data.get("hash")))
    return found
