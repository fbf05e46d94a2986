"""Log records of OpenTelemetry that tell what a call read and gave: some instrumentors write messages as
events beside their span and not into it (OpenTelemetry's own of OpenAI, for one)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lctl.importing.draft import Draft
from lctl.importing.spans import attributes_of, time_of, value_in
from lctl.importing.values import dicts, mapping, text
from lctl.spans import conventions as names
from lctl.spans.span import Mark, Span

_MESSAGES = frozenset(
    {"gen_ai.choice", *(f"gen_ai.{role}.message" for role in ("system", "user", "assistant", "tool"))}
)


class LogRecords:
    """Those of one import, by the span they belong to."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._held: dict[tuple[str, str], list[tuple[Mark, str]]] = {}

    def take(self, value: dict[str, Any], where: str) -> None:
        """Keep the records of an export request that tell of a call; count the others."""
        for record in records_in(value):
            name = name_of(record)
            if name in _MESSAGES or name == names.DETAILS_EVENT:
                body = value_in(record.get("body"))
                said = {**attributes_of(record.get("attributes")), **mapping(body)}
                at = time_of(record.get("timeUnixNano")) or time_of(record.get("observedTimeUnixNano"))
                key = (text(record.get("traceId")), text(record.get("spanId")))
                self._held.setdefault(key, []).append((Mark(name, at, said), where))
            elif name != names.EXCEPTION_EVENT:  # which its span tells, too
                self._draft.lose("log record of OpenTelemetry", where)

    def tell(self, spans: list[Span]) -> None:
        """Give each span what its records say."""
        for span in spans:
            for mark, _ in self._held.pop((span.trace_id, span.span_id), ()) if self._held else ():
                if mark.name == names.DETAILS_EVENT:
                    span.attributes = {**mark.attributes, **span.attributes}
                else:
                    span.marks.append(mark)
        for left in self._held.values():
            for _, where in left:
                self._draft.lose("log record of OpenTelemetry whose span is not there", where)


def records_in(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for resource in dicts(value.get("resourceLogs")):
        for scope in dicts(resource.get("scopeLogs")):
            yield from dicts(scope.get("logRecords"))


def name_of(record: dict[str, Any]) -> str:
    """The event that a record is; before the protocol had a place for it, an attribute said it."""
    return text(record.get("eventName")) or text(attributes_of(record.get("attributes")).get("event.name"))
