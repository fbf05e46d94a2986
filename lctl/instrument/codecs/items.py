"""Output items of a Responses stream, put together from their deltas: what there is of an answer that
was cut before its last event repeated it whole."""

from __future__ import annotations

from typing import Any, TypeGuard

# event -> (field of the item that the piece belongs to, key of the piece)
_ITEM_TEXTS = {
    "response.function_call_arguments.delta": ("arguments", "delta"),
    "response.custom_tool_call_input.delta": ("input", "delta"),
    "response.mcp_call_arguments.delta": ("arguments", "delta"),
    "response.code_interpreter_call_code.delta": ("code", "delta"),
}
# event -> (list of the item, index key, part type, field of the part)
_PART_TEXTS = {
    "response.output_text.delta": ("content", "content_index", "output_text", "text"),
    "response.refusal.delta": ("content", "content_index", "refusal", "refusal"),
    "response.reasoning_text.delta": ("content", "content_index", "reasoning_text", "text"),
    "response.reasoning_summary_text.delta": ("summary", "summary_index", "summary_text", "text"),
}
# item types that a delta implies when the item's own start is missing
_IMPLIED = {
    "response.function_call_arguments.delta": "function_call",
    "response.custom_tool_call_input.delta": "custom_tool_call",
    "response.mcp_call_arguments.delta": "mcp_call",
    "response.code_interpreter_call_code.delta": "code_interpreter_call",
    "response.reasoning_text.delta": "reasoning",
    "response.reasoning_summary_text.delta": "reasoning",
    "response.shell_call_command.delta": "shell_call",
    "response.shell_call_output_content.delta": "shell_call_output",
}
#: A list is not made longer than this for a place that an event names.
_PLACES = 10_000


class StreamedItems:
    """Reads the events once; `items()` in the order of the provider's output index."""

    def __init__(self, events: list[dict[str, Any]]) -> None:
        self._items: dict[int, dict[str, Any]] = {}
        self._pieces: dict[tuple[int, str, int, str], list[str]] = {}
        self._whole: set[int] = set()
        self._notes: dict[tuple[int, int], list[Any]] = {}  # annotations of a part
        for event in events:
            self._read(event)

    def items(self) -> list[dict[str, Any]]:
        for (index, field, at, key), pieces in self._pieces.items():
            if index in self._whole:
                continue
            item = self._items[index]
            text = "".join(pieces)
            if at < 0:
                item[field] = text
                continue
            if field == "commands":
                _set_command(item, at, text)
                continue
            parts = _padded(item.get(field), at)
            if field == "output":
                parts[at] = {**parts[at], key: text}
                item[field] = parts
                continue
            kind = next(v[2] for v in _PART_TEXTS.values() if v[0] == field and v[3] == key)
            if item.get("type") == "reasoning" and field == "content":
                kind = "reasoning_text"
            parts[at] = {"type": kind, **parts[at], key: text}
            item[field] = parts
        for (index, at), notes in self._notes.items():
            if index not in self._whole:
                parts = _padded(self._items[index].get("content"), at)
                parts[at] = {**parts[at], "annotations": notes}
                self._items[index]["content"] = parts
        return [self._items[index] for index in sorted(self._items)]

    def _read(self, event: dict[str, Any]) -> None:
        kind = event.get("type")
        index = event.get("output_index")
        if not isinstance(kind, str) or not isinstance(index, int):
            return
        if kind in ("response.output_item.added", "response.output_item.done"):
            item = event.get("item")
            if isinstance(item, dict):
                self._items[index] = dict(item)
                if kind.endswith("done"):
                    self._whole.add(index)
        elif kind in _ITEM_TEXTS:
            field, key = _ITEM_TEXTS[kind]
            self._add(event, index, (index, field, -1, field), event.get(key))
        elif kind in _PART_TEXTS:
            field, place, _, key = _PART_TEXTS[kind]
            at = event.get(place)
            if _is_place(at):
                self._add(event, index, (index, field, at, key), event.get("delta"))
        elif kind == "response.output_text.annotation.added":
            at = event.get("content_index")
            if _is_place(at) and index in self._items:
                self._notes.setdefault((index, at), []).append(event.get("annotation"))
        elif kind in ("response.shell_call_command.delta", "response.shell_call_output_content.delta"):
            self._read_shell(event, index)

    def _read_shell(self, event: dict[str, Any], index: int) -> None:
        at, delta = event.get("command_index"), event.get("delta")
        if not _is_place(at):
            return
        if isinstance(delta, dict):
            for stream in ("stdout", "stderr"):
                self._add(event, index, (index, "output", at, stream), delta.get(stream))
        else:
            self._add(event, index, (index, "commands", at, ""), delta)

    def _add(self, event: dict[str, Any], index: int, place: tuple[int, str, int, str], piece: Any) -> None:
        if index not in self._items:
            kind = _IMPLIED.get(event["type"], "message")
            self._items[index] = {"type": kind, "id": event.get("item_id")}
            if kind == "message":
                self._items[index]["role"] = "assistant"
        if isinstance(piece, str):
            self._pieces.setdefault(place, []).append(piece)


def _is_place(at: Any) -> TypeGuard[int]:
    return isinstance(at, int) and 0 <= at < _PLACES


def _padded(parts: Any, at: int) -> list[dict[str, Any]]:
    """Copies of the parts, as many as it takes to have one at `at`."""
    copies = [dict(part) for part in parts or [] if isinstance(part, dict)]
    return copies + [{} for _ in range(at + 1 - len(copies))]


def _set_command(item: dict[str, Any], at: int, text: str) -> None:
    action = item.get("action")
    action = dict(action) if isinstance(action, dict) else {}
    commands = list(action.get("commands") or [])
    commands += [""] * (at + 1 - len(commands))
    commands[at] = text
    item["action"] = {**action, "commands": commands}
