"""An event to take away: the lctl command that shows it, the model call behind it as Python and as curl."""

from __future__ import annotations

import json
import shlex
from typing import Any

from lctl.conversation.node import stored_of
from lctl.debugger.opened import Opened
from lctl.debugger.shapes.events import Copy
from lctl.debugger.views.calls import params_of, prompt_of, tools_of

#: Messages of a prompt up to which it is written out.
_MOST = 2000
#: Operation of a call -> (path of its URL, the client's method, the key that has the prompt).
_OPERATIONS = {
    "chat.completions": ("/v1/chat/completions", "chat.completions.create", "messages"),
    "messages": ("/v1/messages", "messages.create", "messages"),
    "responses": ("/v1/responses", "responses.create", "input"),
}


def copies(run: Opened, seq: int, call: int | None, instead: str | None = None) -> Copy:
    """`call`: the step of the model call the event belongs to. `instead`: stands for a request, which is
    then not put together."""
    path = shlex.quote(run.place)
    show = f"lctl show {path} {seq}"
    if call is None:
        return Copy(lctl=show, python=_python(run.place, seq), curl=None)
    if instead is not None and run.kept(("copied", call), lambda: _is_known(run, call), passing=True):
        return Copy(lctl=show, python=instead, curl=instead)
    made = run.kept(("copies", call), lambda: _of_call(run, call), passing=True)
    if made is None:
        return Copy(lctl=show, python=_python(run.place, seq), curl=None)
    return Copy(lctl=show, python=made[0], curl=made[1], body=made[2])


def _of_call(run: Opened, call: int) -> tuple[str, str, str] | None:
    """As Python, as curl, and what curl sends; None of one that cannot be put together."""
    start = run.event(call).data
    body = _body(run, call, start)
    if body is None:
        return None
    url = _url(run, call, start)
    sent = json.dumps(body, ensure_ascii=False)
    return _call_python(start, body, url), _curl(start, sent, url), sent


def _python(place: str, seq: int) -> str:
    opened = f"import lctl\n\nchain = lctl.load({place!r})\n"
    return f"{opened}event = chain.log.event({seq})\nstate = chain.at({seq})\n"


def _is_known(run: Opened, call: int) -> bool:
    """Its request can be put together."""
    start = run.event(call).data
    if str(start.get("operation")) not in _OPERATIONS:
        return False
    tree, leaf = run.chain.tree.at(call), start.get("prompt")
    if not isinstance(leaf, str) or leaf not in tree:
        return True
    return len(tree.way(tree[leaf].number, strict=False)) <= _MOST


def _body(run: Opened, call: int, start: dict[str, Any]) -> dict[str, Any] | None:
    """The request, from what was recorded of it."""
    known = _OPERATIONS.get(str(start.get("operation")))
    if known is None:
        return None
    nodes = prompt_of(run, call, start)
    if len(nodes) > _MOST:
        return None
    messages = [stored_of(node.tree, node.number) for node in nodes]
    model = start.get("model")
    body: dict[str, Any] = {"model": model.get("id") if isinstance(model, dict) else model}
    if known[2] == "messages" and known[0] == "/v1/messages":
        system = [one for one in messages if one.get("role") == "system"]
        messages = [one for one in messages if one.get("role") != "system"]
        if system:
            body["system"] = system[0].get("content")
    body[known[2]] = messages
    tools = [tool.definition for tool in tools_of(run, start)]
    if tools:
        body["tools"] = tools
    return {**body, **params_of(start)}


def _url(run: Opened, call: int, start: dict[str, Any]) -> str:
    for event in run.log.events(call, call + 200):
        url = event.data.get("url")
        if event.type == "exchange" and event.step == call and isinstance(url, str):
            return url
    host = "https://api.anthropic.com" if start.get("provider") == "anthropic" else "https://api.openai.com"
    return host + _OPERATIONS[str(start.get("operation"))][0]


def _curl(start: dict[str, Any], body: str, url: str) -> str:
    if start.get("provider") == "anthropic":
        headers = ["x-api-key: $ANTHROPIC_API_KEY", "anthropic-version: 2023-06-01"]
    else:
        headers = ["authorization: Bearer $OPENAI_API_KEY"]
    said = "".join(f' \\\n  -H "{header}"' for header in headers)
    return (
        f"curl -sS {shlex.quote(url)}{said} \\\n  -H 'content-type: application/json' \\\n"
        f"  -d {shlex.quote(body)}"
    )


def _call_python(start: dict[str, Any], body: dict[str, Any], url: str) -> str:
    path, method, _ = _OPERATIONS[str(start.get("operation"))]
    anthropic = start.get("provider") == "anthropic"
    maker, package = ("Anthropic", "anthropic") if anthropic else ("OpenAI", "openai")
    base = url.split(path.removeprefix("/v1"))[0] if not anthropic else url.split("/v1/")[0]
    usual = base in ("https://api.openai.com/v1", "https://api.anthropic.com")
    given = "" if usual else f"base_url={base!r}"
    arguments = "".join(f"    {name}={value!r},\n" for name, value in body.items() if name.isidentifier())
    return (
        f"from {package} import {maker}\n\nclient = {maker}({given})\n"
        f"answer = client.{method}(\n{arguments})\nprint(answer)\n"
    )
