"""What events say of facts, whatever way they put it: ids, tags, texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Data = Mapping[str, Any]

#: Keys of a fact that the ledger reads; `lane` and `at` are the recorder's own.
_KNOWN = frozenset(
    {"id", "text", "confidence", "source", "reason", "tag", "tags", "consensus", "decay_rate", "lane", "at"}
)
_CARRIED = ("facts", "critical_facts", "context_facts")


def facts_read(data: Data) -> list[str]:
    """Ids in a `fact_read`, also as older writers put them."""
    return _ids(data.get("facts", data.get("ids", data.get("id"))))


def facts_carried(data: Data) -> list[str]:
    """Ids of the facts a `handoff` carries."""
    found = [id for key in _CARRIED for id in _ids(data.get(key))]
    return list(dict.fromkeys(found))


def tags_of(data: Data) -> tuple[str, ...]:
    """A fact's `tags`, or its one `tag`."""
    given = data.get("tags", data.get("tag"))
    if given is None:
        return ()
    return tuple(_ids(given))


def extra_of(data: Data) -> dict[str, Any] | None:
    if data.keys() <= _KNOWN:
        return None
    return {key: value for key, value in data.items() if key not in _KNOWN}


def _ids(given: object) -> list[str]:
    """Texts of a list, of one text, or of objects with an id."""
    if given is None or given == "":
        return []
    many = (
        given if isinstance(given, list | tuple) else list(given) if isinstance(given, Mapping) else [given]
    )
    found = [one.get("id") if isinstance(one, Mapping) else one for one in many]
    return [one if isinstance(one, str) else str(one) for one in found if one is not None and one != ""]


def text_of(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)
