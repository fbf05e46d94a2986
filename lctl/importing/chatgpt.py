"""ChatGPT's data export: conversations with a `mapping` of nodes and the `current_node` that was shown.

A node is a message, or nothing (the first of a conversation): its children then begin the conversation. A
message an assistant sent to a tool (`recipient`) is a tool call; the export has no call ids, so the
message's id stands for one.
"""

from __future__ import annotations

from typing import Any

from lctl.errors import NotImportable
from lctl.importing.draft import Call, Draft
from lctl.importing.source import Row, Source
from lctl.importing.values import function_call, items, mapping, real, role_of, text, without

_FILE = "conversations.json"


def sees(source: Source) -> str:
    rows = _rows(source)
    if any(isinstance(row.value.get("mapping"), dict) for row in rows[:3]):
        return f"{_FILE} in a zip" if source.entries else "conversations with mapping and current_node"
    return ""


def read(source: Source, draft: Draft) -> None:
    draft.agent = "chatgpt"
    rows = [row for row in _rows(source) if isinstance(row.value.get("mapping"), dict)]
    if not rows:
        raise NotImportable(f"{source.name}: no conversations with a mapping, as ChatGPT exports them")
    for n, row in enumerate(rows, 1):
        name = text(row.value.get("conversation_id")) or text(row.value.get("id")) or f"c{n}"
        _conversation(draft, row, None if len(rows) == 1 else name)


def _rows(source: Source) -> list[Row]:
    """The conversations; of an export's zip those of its file (newer exports have several)."""
    if not source.entries:
        return source.rows
    rows: list[Row] = []
    for name in sorted(source.entries):
        base = name.rpartition("/")[2]
        if base == _FILE or (base.startswith("conversations-") and base.endswith(".json")):
            listed = source.entry(name)
            rows += [Row(f"{base}, item {n}", mapping(one)) for n, one in enumerate(items(listed), 1)]
    return rows


def _conversation(draft: Draft, row: Row, name: str | None) -> None:
    nodes = {str(id): mapping(node) for id, node in row.value["mapping"].items()}
    title = {"title": row.value.get("title"), "id": row.value.get("conversation_id") or row.value.get("id")}
    known = {key: value for key, value in title.items() if value}
    for id in _inserted(nodes):
        node = nodes[id]
        if not isinstance(node.get("message"), dict):
            continue
        parent = _message_above(draft, nodes, node, f"{row.where}, node {id}")
        _message(draft, id, node["message"], parent, nodes, name, row.where, {} if parent else known)
    shown = row.value.get("current_node")
    if isinstance(shown, str):
        empty: set[str] = set()  # a damaged mapping may go in a circle
        while shown in nodes and shown not in empty and not isinstance(nodes[shown].get("message"), dict):
            empty.add(shown)
            shown = text(nodes[shown].get("parent"))
        if shown in draft:
            draft.select(shown, "main" if name is None else name)
        elif shown:
            draft.lose("current_node that is not in the mapping", row.where)


def _inserted(nodes: dict[str, dict[str, Any]]) -> list[str]:
    """Nodes in the order of their time, as the mapping's own order is by no rule."""
    times = {id: mapping(node.get("message")).get("create_time") for id, node in nodes.items()}
    last = 0.0
    keys: dict[str, float] = {}
    for id, at in times.items():
        said = real(at)
        last = last if said is None else said
        keys[id] = last
    return sorted(nodes, key=lambda id: keys[id])


def _message_above(
    draft: Draft, nodes: dict[str, dict[str, Any]], node: dict[str, Any], where: str
) -> str | None:
    seen: set[str] = set()
    above = node.get("parent")
    while isinstance(above, str) and above not in seen:
        if above not in nodes:
            draft.lose("node whose parent is not in the mapping", where)
            return above
        if isinstance(nodes[above].get("message"), dict):
            return above
        seen.add(above)
        above = nodes[above].get("parent")
    return None


def _message(
    draft: Draft, id: str, own: dict[str, Any], parent: str | None, nodes: dict[str, dict[str, Any]],
    conversation: str | None, where: str, about: dict[str, Any],
) -> None:  # fmt: skip
    author = mapping(own.get("author"))
    role = role_of(author.get("role")) or text(author.get("role")) or "user"
    content = mapping(own.get("content"))
    metadata = mapping(own.get("metadata"))
    message: dict[str, Any] = {"role": role, "content": _content(content)}
    recipient = text(own.get("recipient")) or "all"
    if role == "assistant" and recipient != "all":
        message = {
            "role": role,
            "content": None,
            "tool_calls": [function_call(id, recipient, _words(content))],
        }
    elif role == "tool":
        message |= _answered(nodes, parent)
        message["name"] = text(author.get("name")) or "tool"
        if content.get("content_type") == "system_error":
            message["is_error"] = True
    kind = text(content.get("content_type")) or "?"
    if content and kind not in ("text", "code", "execution_output", "multimodal_text"):
        draft.lose(f"content of type {kind}: kept as it is", f"{where}, node {id}")
    if any(_points(mapping(part)) for part in items(content.get("parts"))):
        draft.lose("image or file that the export only points to", f"{where}, node {id}")
    model = text(metadata.get("model_slug"))
    ending = text(mapping(metadata.get("finish_details")).get("type"))
    call = None
    if role == "assistant" and model:
        call = Call(model=model, provider="openai", finish_reason=ending or None)
    details = without(own, "id", "author", "create_time", "content", "children")
    if message.get("tool_calls"):
        details["content"] = content
    if about:
        details["conversation"] = about
    draft.add(
        id, message, parent, at=own.get("create_time"), call=call, conversation=conversation,
        details=details, where=f"{where}, node {id}",
        **({"status": "aborted"} if ending == "interrupted" else {}),
    )  # fmt: skip


def _points(part: dict[str, Any]) -> bool:
    """Whether a part is only the address of an image, a file or, of what was spoken, a sound."""
    return bool(part.get("asset_pointer") or mapping(part.get("audio_asset_pointer")).get("asset_pointer"))


def _content(content: dict[str, Any]) -> Any:
    """Text where it is only text; else parts."""
    parts = items(content.get("parts"))
    if parts:
        if all(isinstance(part, str) for part in parts):
            return "".join(parts)
        return [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]
    words = content.get("text", content.get("result"))
    if isinstance(words, str):
        return words
    if "parts" in content:
        return ""
    thoughts = items(content.get("thoughts"))
    if thoughts:
        return [
            {"type": "reasoning", "text": text(one.get("content")), **without(one, "content")}
            for one in map(mapping, thoughts)
        ]
    return [content] if content else ""


def _words(content: dict[str, Any]) -> str:
    found = _content(content)
    return found if isinstance(found, str) else "".join(text(mapping(part).get("text")) for part in found)


def _answered(nodes: dict[str, dict[str, Any]], parent: str | None) -> dict[str, str]:
    """The id of the call a tool's message answers: the nearest message above that was sent to a tool. What a
    tool says after its first message has none: two results of one call would be alternatives."""
    at: Any = parent
    seen: set[str] = set()
    said = False
    while isinstance(at, str) and at in nodes and at not in seen:
        seen.add(at)
        own = mapping(nodes[at].get("message"))
        role = role_of(mapping(own.get("author")).get("role"))
        if role == "assistant":
            asked = text(own.get("recipient")) not in ("", "all")
            return {"tool_call_id": at} if asked and not said else {}
        said = said or role == "tool"
        at = nodes[at].get("parent")
    return {}
