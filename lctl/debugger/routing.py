"""Routes as HTTP: from a request to a question, from an answer or a failure to a response."""

from __future__ import annotations

import sys
import time
import traceback
from typing import Any, get_args, get_origin

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as Endpoint

from lctl.debugger.apart import WORKERS, Workers
from lctl.debugger.asking import Bytes, Route
from lctl.debugger.failing import STATUS, Refused, refusal
from lctl.debugger.serving import Server, give_back
from lctl.debugger.shapes.common import Failed, Failure
from lctl.debugger.threads import in_thread

_HEAVY = 0.5  # seconds after which an answer will have used memory
_LARGEST = 4 << 20  # bytes of a request's body


def endpoint(route: Route, server: Server, workers: Workers) -> Endpoint:
    """The route as Starlette takes it."""

    async def handle(request: Request) -> Response:
        try:
            if route.method == "POST":
                asked = _decoded(route, await _body(request))
                return await in_thread(_answer, route, server, asked)
            given = _given(route, request)
            key = await in_thread(_long, route, server, given) if route.path in WORKERS else None
            if key is None:
                return await in_thread(respond, route, server, given)
            status, body = await workers.ask(route.path, key, given)
            return Response(body, status, headers=_JSON if route.answer else _IMAGE)
        except Exception as error:
            return refused(error)

    return Endpoint(route.path, handle, methods=[route.method])


_JSON = {"content-type": "application/json", "cache-control": "no-store"}
_IMAGE = {"content-type": "application/octet-stream", "cache-control": "no-store"}


def _long(route: Route, server: Server, given: dict[str, Any]) -> str | None:
    """Key of the long run that a question goes through as a whole; None where it is answered here."""
    names = ("run",) if route.of == "run" else ("left", "right")
    keys = [given.get(name) for name in names]
    if route.of == "server" and None in keys:
        return None  # it will be told what is missing
    opened = [server.runs.open(key) for key in keys]
    return "+".join(one.key for one in opened) if any(one.is_long for one in opened) else None


def respond(route: Route, server: Server, given: dict[str, Any]) -> Response:
    """The answer to a question as it was given, or the refusal."""
    try:
        try:
            asked = msgspec.convert(given, route.asked, strict=False)
        except msgspec.ValidationError as error:
            raise Refused("bad_request", str(error)) from None
        return _answer(route, server, asked)
    except Exception as error:
        return refused(error)


def _answer(route: Route, server: Server, asked: Any) -> Response:
    subject = server.runs.open(asked.run) if route.of == "run" else server
    began = time.monotonic()
    given = route.view(subject, asked)
    if time.monotonic() - began > _HEAVY:
        give_back()
    if isinstance(given, Bytes):
        headers = {"cache-control": "no-store"}
        if given.attachment is not None:
            headers["content-disposition"] = f'attachment; filename="{given.attachment}"'
        if given.media_type.startswith("image/"):
            headers["content-security-policy"] = "default-src 'none'; sandbox"
        return Response(given.content, media_type=given.media_type, headers=headers)
    return json_response(given)


def json_response(value: Any, status: int = 200) -> Response:
    return Response(
        msgspec.json.encode(value, enc_hook=_plain),
        status,
        media_type="application/json",
        headers={"cache-control": "no-store"},
    )


def refused(error: Exception) -> Response:
    """The response that tells of an error; of one of ours the terminal hears, too."""
    said = refusal(error)
    if said.code == "internal":
        sys.stderr.write("".join(traceback.format_exception(error)))
    failure = Failure(code=said.code, message=said.message, position=said.position)
    return json_response(Failed(error=failure), STATUS[said.code])


def _decoded(route: Route, body: bytes) -> Any:
    try:
        return msgspec.json.decode(body, type=route.asked)
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        raise Refused("bad_request", str(error)) from None


def _given(route: Route, request: Request) -> dict[str, Any]:
    """What the query and the path say, of what the question has."""
    fields = msgspec.structs.fields(route.asked)
    lists = {field.encode_name for field in fields if _is_list(field.type)}
    names = {field.encode_name for field in fields}
    given: dict[str, Any] = {}
    for name, value in [*request.query_params.multi_items(), *request.path_params.items()]:
        if name in lists:
            given.setdefault(name, []).append(value)
        elif name in names:
            given[name] = value
    return given


def _is_list(type: Any) -> bool:
    return get_origin(type) is list or any(get_origin(one) is list for one in get_args(type))


async def _body(request: Request) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > _LARGEST:
            raise Refused("bad_request", f"a request of more than {_LARGEST >> 20} MB is not taken")
        parts.append(part)
    return b"".join(parts)


def _plain(value: Any) -> Any:
    """What a shape holds that is no JSON by itself."""
    if hasattr(value, "keys"):
        return dict(value)
    if hasattr(value, "__iter__"):
        return list(value)
    raise NotImplementedError(f"no JSON for {type(value).__name__}")
