"""Edits of a request as Google's generateContent takes it: contents of parts, declared functions.

Its SDKs write names in camel case, other clients as Python does; what is there is changed as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, unquote

from lctl.patch import Before, Edit, Unaddressed, change
from lctl.patch.edits import Segment
from lctl.rerun.edits.texts import change_in, change_text

Document = dict[str, Any]
#: Where a URL names the model: Google's, Bedrock's.
_MODEL = re.compile(r"(?<=odels/)([^/:?#]+)(?=:)|(?<=/model/)([^/?#]+)(?=/(?:converse|invoke))")
#: What a request says beside its generation config.
_BESIDE = (
    "contents",
    "tools",
    "toolConfig",
    "safetySettings",
    "systemInstruction",
    "cachedContent",
    "labels",
)
_LIMITS = ("max_tokens", "max_output_tokens", "max_completion_tokens")
_ROLES = {"assistant": "model"}


def edit_model(url: str, edit: Edit) -> str:
    """The URL with another model in it.

    Raises:
        Unaddressed: it names none.
    """
    found = _MODEL.search(url)
    if found is None or edit.operator == "del":
        raise Unaddressed("the URL of the request names no model that could be another")
    old = {"model": unquote(found[0])}
    new = str(change(old, ("model",), edit.operator, edit.value)["model"]).removeprefix("models/")
    return url[: found.start()] + quote(new, safe="") + url[found.end() :]


def edit_params(document: Document, edit: Edit) -> Document:
    name, *inside = edit.path
    if isinstance(name, str):
        name = "maxOutputTokens" if name in _LIMITS else _camel(name)
        if name in _BESIDE:
            return change_in(document, (_spelt(document, name), *inside), edit)
        config = _spelt(document, "generationConfig")
        settings = document.get(config)
        name = _spelt(settings if isinstance(settings, dict) else {}, name)
        return change_in(document, (config, name, *inside), edit)
    return change_in(document, edit.path, edit)


def edit_prompt(document: Document, edit: Edit) -> Document:
    key = _spelt(document, "systemInstruction")
    said = document.get(key)
    if edit.operator == "del":
        return change_in(document, (key,), edit)
    if isinstance(said, str):
        return change_text(document, (key,), edit)
    if not isinstance(said, dict) and edit.operator not in ("=", "+="):
        raise Unaddressed("there is no system prompt")
    return _change_parts({**document, key: said or {"parts": []}}, (key,), edit)


def edit_message(document: Document, edit: Edit) -> Document:
    contents = document.get("contents")
    if not isinstance(contents, list):
        raise Unaddressed("the request has no messages")
    which, *inside = edit.path
    at = _place(contents, which)
    if not inside and edit.operator != "del":
        if isinstance(at, Before) or not isinstance(edit.value, str):
            return change(document, ("contents", at), edit.operator, _content(edit.value))  # type: ignore[no-any-return]
        inside = ["content"]
    if inside == ["role"] and isinstance(edit.value, str):
        role = _ROLES.get(edit.value, edit.value)
        return change(document, ("contents", at, "role"), edit.operator, role)  # type: ignore[no-any-return]
    if inside[:1] == ["content"] and not isinstance(at, Before):
        if len(inside) == 1 and edit.operator != "del":
            return _change_parts(document, ("contents", at), edit)
        inside = ["parts", *inside[1:]]
    return change_in(document, ("contents", at, *inside), edit)


def edit_tools(document: Document, edit: Edit) -> Document:
    which, *inside = edit.path
    tools = document.get("tools")
    groups = tools if isinstance(tools, list) else []
    places = [
        (n, key, m)
        for n, group in enumerate(groups)
        if isinstance(group, dict)
        and isinstance(group.get(key := _spelt(group, "functionDeclarations")), list)
        for m in range(len(group[key]))
    ]
    if isinstance(which, Before):
        return _offered(document, groups, places, which, edit)
    if not places:
        raise Unaddressed("the request offers no tools")
    names = [str(groups[n][key][m].get("name")) for n, key, m in places]
    if isinstance(which, int) and -len(places) <= which < len(places):
        place = places[which]
    elif which in names:
        place = places[names.index(str(which))]
    else:
        raise Unaddressed(f"no tool {which} is offered; there are: {', '.join(names)}")
    n, key, m = place
    if not inside and edit.operator == "del" and len(places) == 1:
        left = {name: value for name, value in groups[n].items() if name != key}
        others = [*groups[:n], *([left] if left else []), *groups[n + 1 :]]
        gone = ("tools",) if others else ("tools", "toolConfig", "tool_config")
        kept = {name: value for name, value in document.items() if name not in gone}
        return {**kept, "tools": others} if others else kept
    if inside[:1] == ["parameters"] and "parameters" not in groups[n][key][m]:
        inside[0] = _spelt(groups[n][key][m], "parametersJsonSchema")
    return change_in(document, ("tools", n, key, m, *inside), edit)


def _offered(
    document: Document, groups: list[Any], places: list[tuple[int, str, int]], which: Before, edit: Edit
) -> Document:
    """With one tool more, among those that are declared."""
    value = edit.value
    if isinstance(value, dict) and isinstance(value.get("function"), dict):
        value = value["function"]  # as OpenAI writes it
    if not places:
        return {**document, "tools": [*groups, {"functionDeclarations": [value]}]}
    at = which.at if which.at is not None else len(places)
    n, key, m = places[min(at, len(places) - 1)]
    place = Before(m) if at < len(places) else Before()
    return change(document, ("tools", n, key, place), "=", value)  # type: ignore[no-any-return]


def _change_parts(document: Document, path: tuple[Segment, ...], edit: Edit) -> Document:
    """The texts of a content."""
    path = (*path, "parts")
    if edit.operator == "=":
        return change(document, path, "=", parts_of(edit.value))  # type: ignore[no-any-return]
    return change_text(document, path, edit, typed=False)


def parts_of(value: Any) -> Any:
    """A content in parts, as Google and Bedrock write it; a text is one."""
    return value if isinstance(value, list) else [{"text": "" if value is None else str(value)}]


def _content(value: Any) -> Any:
    """A message as Google writes it; a text is one of the user."""
    if isinstance(value, str):
        return {"role": "user", "parts": parts_of(value)}
    if not isinstance(value, dict):
        return value
    said = {name: one for name, one in value.items() if name != "content"}
    if "role" in said:
        said["role"] = _ROLES.get(said["role"], said["role"])
    return {**said, "parts": parts_of(value["content"])} if "content" in value else said


def _place(contents: list[Any], which: Segment) -> Segment:
    """See `amending`: the last message of a role, but one that only carries results of tools."""
    if not isinstance(which, str):
        return which
    role = _ROLES.get(which, which)
    found = [n for n, one in enumerate(contents) if isinstance(one, dict) and one.get("role") == role]
    found = [n for n in found if not _is_results(contents[n].get("parts"))]
    if not found:
        raise Unaddressed(f"there is no message of role {which}")
    return found[-1]


def _is_results(parts: Any) -> bool:
    listed = parts if isinstance(parts, list) else []
    return bool(listed) and all(
        isinstance(part, dict) and ("functionResponse" in part or "function_response" in part)
        for part in listed
    )


# -- names ---------------------------------------------------------------------------------------


def _camel(name: str) -> str:
    return re.sub(r"_([a-z])", lambda found: found[1].upper(), name)


def _spelt(document: Document, name: str) -> str:
    """`name` (in camel case) as this document writes it."""
    snake = re.sub(r"[A-Z]", lambda found: "_" + found[0].lower(), name)
    return snake if snake in document and name not in document else name


EDITORS: dict[str, Callable[[Document, Edit], Document]] = {
    "params": edit_params,
    "prompt": edit_prompt,
    "message": edit_message,
    "tools": edit_tools,
}
