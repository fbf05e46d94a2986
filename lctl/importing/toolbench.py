"""Search trees of ToolBench: thoughts, actions and their inputs, with a branch wherever the search forked.

A thought, the action after it and the action's input are one message of the model; what was observed is
the tool's. A thought that no action follows is a message of its own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from lctl.errors import NotImportable
from lctl.importing.draft import Call, Draft
from lctl.importing.source import Source
from lctl.importing.values import dicts, function_call, items, mapping, text, without

_COUNTED = ("node_type", "description", "observation", "children", "depth", "child_count")


class _Place(NamedTuple):
    """Where a walk of the tree is: the message above, and what the model has begun to say since."""

    parent: str | None
    thought: str
    action: str
    kept: tuple[dict[str, Any], ...]


def sees(source: Source) -> str:
    whole = mapping(source.document)
    inner = mapping(mapping(whole.get("tree")).get("tree"))
    return "a tree of thoughts and actions" if "node_type" in inner else ""


def read(source: Source, draft: Draft) -> None:
    whole = mapping(source.document)
    root = mapping(mapping(whole.get("tree")).get("tree"))
    if "node_type" not in root:
        raise NotImportable(f"{source.name}: no tree of nodes with a node_type, as ToolBench writes it")
    draft.agent = "toolbench"
    answer = mapping(whole.get("answer_generation"))
    draft.about["run"] = {"win": whole.get("win"), **mapping(whole.get("forward_args"))}
    parent = _prompt(draft, answer)
    waiting = [(root, _Place(parent, "", "", ()))]
    while waiting:
        node, place = waiting.pop()
        place = _node(draft, node, place)
        children = dicts(node.get("children"))
        if not children and (place.thought or place.action):
            _said(draft, place, None)
        waiting += [(child, place) for child in reversed(children)]
    draft.lose("time and tokens of each call: the tree has none")
    for key in ("compare_candidates", "trys"):
        if whole.get(key):
            draft.lose(f"{key}: how the search chose", count=len(items(whole[key])))


def _prompt(draft: Draft, answer: dict[str, Any]) -> str | None:
    """The messages before the search, as the training messages of the source begin."""
    listed = items(answer.get("train_messages"))
    first = dicts(listed[0]) if listed and isinstance(listed[0], list) else []
    parent: str | None = None
    for own in first:
        if own.get("role") not in ("system", "user"):
            break
        id = f"p{len(draft) + 1}"
        details = {"functions": answer["function"]} if parent is None and answer.get("function") else {}
        draft.add(id, {"role": own["role"], "content": own.get("content")}, parent, details=details)
        parent = id
    if parent is None:
        query = text(answer.get("query"))
        if query:
            parent = "p1"
            draft.add(parent, {"role": "user", "content": query}, None)
        else:
            draft.lose("the question: the tree does not hold it")
    return parent


def _node(draft: Draft, node: dict[str, Any], place: _Place) -> _Place:
    kind, words = text(node.get("node_type")), text(node.get("description"))
    kept = (*place.kept, without(node, *_COUNTED)) if kind else place.kept
    if kind == "Thought":
        if place.thought or place.action:
            place = _said(draft, place, None)
            kept = (without(node, *_COUNTED),)
        return place._replace(thought=words, kept=kept)
    if kind == "Action":
        return place._replace(action=words, kept=kept)
    if kind == "Action Input" and (place.action or words):
        return _said(draft, place._replace(kept=kept), node)
    return place


def _said(draft: Draft, place: _Place, node: dict[str, Any] | None) -> _Place:
    """The model's message, and the tool's if there is one."""
    id = f"m{len(draft) + 1}"
    message: dict[str, Any] = {"role": "assistant", "content": place.thought or None}
    details: dict[str, Any] = {"nodes": list(place.kept)}
    if place.action:
        arguments = text(node.get("description")) if node is not None else ""
        message["tool_calls"] = [function_call(f"{id}:call", place.action, arguments)]
    draft.add(id, message, place.parent, call=Call(), details=details)
    if node is None or "observation" not in node:
        return _Place(id, "", "", ())
    result = {"role": "tool", "tool_call_id": f"{id}:call", "content": node["observation"]}
    draft.add(f"{id}:result", result, id, details={"code": node.get("observation_code")})
    return _Place(f"{id}:result", "", "", ())
