"""Steps of a streamed interaction, put together from their deltas: no event repeats them."""

from __future__ import annotations

from typing import Any

from lctl.instrument.codecs.bodies import loads_or_none, objects


class StreamedSteps:
    """Reads the events once; `steps()` in the order of the provider's index."""

    def __init__(self, events: list[dict[str, Any]]) -> None:
        self._steps: dict[int, dict[str, Any]] = {}
        self._arguments: dict[int, list[str]] = {}
        self._parts: dict[tuple[int, str], list[dict[str, Any]]] = {}  # of a field of a step
        self._texts: dict[tuple[int, str, int], list[str]] = {}  # what is added to a part
        for event in events:
            index = event.get("index")
            if not isinstance(index, int):
                continue
            kind = event.get("event_type")
            if kind == "step.start" and isinstance(event.get("step"), dict):
                self._steps[index] = dict(event["step"])
            elif kind == "step.delta" and isinstance(event.get("delta"), dict):
                self._read(index, event["delta"])

    def steps(self) -> list[dict[str, Any]]:
        for (index, field, at), pieces in self._texts.items():
            part = self._parts[index, field][at]
            part["text"] = "".join([str(part.get("text") or ""), *pieces])
        for index, pieces in self._arguments.items():
            text = "".join(pieces)
            value = loads_or_none(text.encode("utf-8", "replace")) if text else {}
            self._steps[index]["arguments"] = text if value is None else value  # cut: as far as it came
        return [self._steps[index] for index in sorted(self._steps)]

    def _read(self, index: int, delta: dict[str, Any]) -> None:
        kind = str(delta.get("type"))
        step = self._steps.setdefault(index, {"type": _implied(kind)})
        if kind == "arguments_delta":
            self._arguments.setdefault(index, []).append(str(delta.get("arguments") or ""))
        elif kind == "thought_signature":
            step["signature"] = delta.get("signature")
        elif kind == "thought_summary":
            if isinstance(delta.get("content"), dict):
                self._add(index, "summary", delta["content"])
        elif kind == "text_annotation_delta":
            parts = self._parts_of(index, "content") or self._add(index, "content", {"type": "text"})
            known = objects(parts[-1].get("annotations"))
            parts[-1]["annotations"] = [*known, *objects(delta.get("annotations"))]
        elif kind.endswith(("_call", "_result")):
            step.update({key: value for key, value in delta.items() if key != "type" and value is not None})
        else:
            self._add(index, "content", delta)

    def _parts_of(self, index: int, field: str) -> list[dict[str, Any]]:
        parts = self._parts.get((index, field))
        if parts is None:
            parts = [dict(part) for part in objects(self._steps[index].get(field))]
            self._parts[index, field] = self._steps[index][field] = parts
        return parts

    def _add(self, index: int, field: str, piece: dict[str, Any]) -> list[dict[str, Any]]:
        """One more part; a text goes on where a text is the last."""
        parts = self._parts_of(index, field)
        if parts and piece.get("type") == parts[-1].get("type") == "text":
            added = self._texts.setdefault((index, field, len(parts) - 1), [])
            added.append(str(piece.get("text") or ""))
        else:
            parts.append(dict(piece))
        return parts


def _implied(kind: str) -> str:
    """The type of a step whose start was lost, by a delta of it."""
    if kind == "arguments_delta":
        return "function_call"
    if kind.startswith("thought_"):
        return "thought"
    return kind if kind.endswith(("_call", "_result")) else "model_output"
