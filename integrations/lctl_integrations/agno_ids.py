"""By which ids agno's tools are called: of the Responses API, by those of its items.

The API pairs a call with its result by another one (`call_id`), which is in the messages.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from lctl.instrument.structure import guarded

_KEPT = 10_000
#: The id of an item -> that of its call.
_paired: OrderedDict[str, str] = OrderedDict()


def called(wrapped: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`get_function_call_for_tool_call(tool_call, functions)`."""
    _learn(args[0] if args else kwargs.get("tool_call"))
    return wrapped(*args, **kwargs)


def of(id: str | None) -> str | None:
    """The call's id in the messages, of the one that agno has for it."""
    return None if id is None else _paired.get(id, id)


@guarded("an agno tool call's id")
def _learn(call: Any) -> None:
    item, paired = call.get("id"), call.get("call_id")
    if isinstance(item, str) and isinstance(paired, str) and item != paired:
        _paired[item] = paired
        while len(_paired) > _KEPT:
            _paired.popitem(last=False)
