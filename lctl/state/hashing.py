"""A hash of what a state says: the same in every process, on every machine, for equal states."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import orjson

from lctl.codec.lines import encode_value
from lctl.state.model import State
from lctl.state.summary import state_to_dict

#: How the fold keeps its books, or tells of trouble in words that may change: not what the log says.
_LEFT_OUT = ("chain_id", "diagnostics", "interrupted", "structural")
_LEFT_OUT_OF_STEPS = ("counted", "covered")


def state_hash(state: State) -> str:
    """`sha256:<hex>` over the state in canonical JSON (keys sorted, UTF-8, no spaces).

    The chain's id is not part of it, so that a copy under another id has the same; neither are
    diagnostics. Costs what the whole state is long: 1 ms per 300 steps.
    """
    meaning: dict[str, Any] = state_to_dict(state)
    for key in _LEFT_OUT:
        del meaning[key]
    for step in meaning["steps"].values():
        for key in _LEFT_OUT_OF_STEPS:
            del step[key]
    meaning["parked"] = {id: waiting for id, waiting in meaning["parked"].items() if waiting}
    return "sha256:" + sha256(encode_value(meaning, option=orjson.OPT_SORT_KEYS)).hexdigest()
