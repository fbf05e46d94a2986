"""The standard library's values: bytes, times, numbers, paths, addresses."""

from __future__ import annotations

import sys
from base64 import b64decode
from collections.abc import Callable
from typing import Any

from lctl.session.faithful.coding import Decoder, Encoder
from lctl.session.faithful.tables import DECODERS, ENCODERS, LEAVES, SHAPES, Note, Unfaithful
from lctl.session.redaction.pieces import bytes_of, pieces_of


def fill() -> None:
    ENCODERS[bytes] = lambda _, value: {"$": "bytes", **_bytes(value)}
    ENCODERS[bytearray] = lambda _, value: {"$": "bytearray", **_bytes(bytes(value))}
    ENCODERS[complex] = lambda e, value: {"$": "complex", "v": [e.value(value.real), e.value(value.imag)]}
    ENCODERS[range] = lambda e, value: {"$": "range", "v": _all(e, value.start, value.stop, value.step)}
    ENCODERS[slice] = lambda e, value: {"$": "slice", "v": _all(e, value.start, value.stop, value.step)}
    ENCODERS[type(Ellipsis)] = lambda *_: {"$": "ellipsis"}
    ENCODERS[type(NotImplemented)] = lambda *_: {"$": "notimplemented"}
    DECODERS["bytes"] = lambda _, made, note: note(_of_bytes(made))
    DECODERS["bytearray"] = lambda _, made, note: note(bytearray(_of_bytes(made)))
    DECODERS["str"] = lambda _, made, note: "".join(map(chr, made["points"]))
    DECODERS["int"] = lambda _, made, note: int(made["hex"], 16)
    DECODERS["float"] = lambda _, made, note: float(made["v"])
    DECODERS["complex"] = lambda d, made, note: complex(*d.value(made["v"]))
    DECODERS["range"] = lambda d, made, note: range(*d.value(made["v"]))
    DECODERS["slice"] = lambda d, made, note: slice(*d.value(made["v"]))
    DECODERS["ellipsis"] = lambda *_: ...
    DECODERS["notimplemented"] = lambda *_: NotImplemented
    SHAPES.append((lambda kind: kind.__module__ in ("datetime", "zoneinfo"), _time, True))
    SHAPES.append((_text_kind, _texts, True))
    LEAVES.update({bytes, complex, range, slice, type(Ellipsis), type(NotImplemented)})
    for name in _TIMES:
        DECODERS[name] = _of_time
    DECODERS["text"] = _of_text


def _bytes(value: bytes) -> dict[str, Any]:
    """As text where they are one: redaction then sees what is in them."""
    try:
        return {"text": value.decode()}
    except UnicodeDecodeError:
        return {"pieces": pieces_of(value)}


def _of_bytes(made: dict[str, Any]) -> bytes:
    if "text" in made:
        text: str = made["text"]
        return text.encode()
    if "pieces" in made:
        return bytes_of(made["pieces"])
    return b64decode(made["base64"], validate=True)


def _all(encoder: Encoder, *values: Any) -> list[Any]:
    return [encoder.value(value) for value in values]


# -- times ---------------------------------------------------------------------------------

_TIMES = ("datetime", "date", "time", "timedelta", "timezone", "zone")


def _time(encoder: Encoder, value: Any) -> dict[str, Any]:
    import datetime

    kind = type(value)
    if kind is datetime.timedelta:
        return {"$": "timedelta", "v": [value.days, value.seconds, value.microseconds]}
    if kind is datetime.date:
        return {"$": "date", "v": value.isoformat()}
    if kind is datetime.timezone:
        offset = value.utcoffset(None)
        name = value.tzname(None)
        plain = datetime.timezone(offset).tzname(None)
        return {"$": "timezone", "v": encoder.value(offset)} | ({} if name == plain else {"name": name})
    if kind is datetime.datetime or kind is datetime.time:
        made: dict[str, Any] = {"$": kind.__name__, "v": value.replace(tzinfo=None).isoformat()}
        if value.tzinfo is not None:
            made["tz"] = encoder.value(value.tzinfo)
        if value.fold:
            made["fold"] = value.fold
        return made
    key = getattr(value, "key", None)
    if kind.__module__ == "zoneinfo" and kind.__name__ == "ZoneInfo" and isinstance(key, str):
        return {"$": "zone", "v": key}
    raise Unfaithful(f"a {kind.__module__}.{kind.__qualname__}")


def _of_time(decoder: Decoder, made: dict[str, Any], _: Note) -> Any:
    import datetime

    tag, value = made["$"], made["v"]
    if tag == "timedelta":
        return datetime.timedelta(*value)
    if tag == "date":
        return datetime.date.fromisoformat(value)
    if tag == "timezone":
        offset = decoder.value(value)
        return datetime.timezone(offset, made["name"]) if "name" in made else datetime.timezone(offset)
    if tag == "zone":
        from zoneinfo import ZoneInfo

        return ZoneInfo(value)
    kind = datetime.datetime if tag == "datetime" else datetime.time
    zone = decoder.value(made["tz"]) if "tz" in made else None
    return kind.fromisoformat(value).replace(tzinfo=zone, fold=made.get("fold", 0))


# -- values that their text is all of --------------------------------------------------------

#: Module and class, where `str()` of a value is all there is to it.
_TEXTS = {
    ("decimal", "Decimal"),
    ("fractions", "Fraction"),
    ("uuid", "UUID"),
    *((module, name) for module in ("ipaddress",) for name in ("IPv4Address", "IPv6Address")),
    *(("ipaddress", name) for name in ("IPv4Network", "IPv6Network", "IPv4Interface", "IPv6Interface")),
    *(
        ("pathlib", name)
        for name in ("PosixPath", "WindowsPath", "PurePosixPath", "PureWindowsPath", "Path", "PurePath")
    ),
    *(
        ("pydantic.networks", name)
        for name in (
            "AnyUrl",
            "AnyHttpUrl",
            "HttpUrl",
            "AnyWebsocketUrl",
            "WebsocketUrl",
            "FileUrl",
            "FtpUrl",
        )
    ),
    *(("pydantic_core._pydantic_core", name) for name in ("Url", "MultiHostUrl")),
}


def _home(kind: type) -> tuple[str, str]:
    module = kind.__module__
    if module.startswith("pathlib."):  # pathlib._local in 3.13
        module = "pathlib"
    return {"_decimal": "decimal", "_pydecimal": "decimal"}.get(module, module), kind.__name__


def _text_kind(kind: type) -> bool:
    return _home(kind) in _TEXTS


def _texts(_: Encoder, value: Any) -> dict[str, Any]:
    module, name = _home(type(value))
    return {"$": "text", "class": f"{module}:{name}", "v": str(value)}


def _of_text(_: Decoder, made: dict[str, Any], note: Note) -> Any:
    module, _colon, name = made["class"].partition(":")
    if (module, name) not in _TEXTS or type(made["v"]) is not str:
        raise Unfaithful(f"a {made['class']}")
    from importlib import import_module

    cls: Callable[[str], Any] = getattr(sys.modules.get(module) or import_module(module), name)
    return cls(made["v"])
