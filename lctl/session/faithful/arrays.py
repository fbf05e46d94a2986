"""numpy arrays and scalars, where the program has loaded numpy."""

from __future__ import annotations

import sys
from base64 import b64decode, b64encode
from typing import Any

from lctl.session.faithful.coding import Decoder, Encoder
from lctl.session.faithful.tables import DECODERS, SHAPES, Note, Unfaithful


def fill() -> None:
    SHAPES.append((_is_array, _array, False))
    SHAPES.append((_is_scalar, _scalar, True))
    DECODERS["ndarray"] = _of_array
    DECODERS["npscalar"] = _of_scalar


def _is_array(kind: type) -> bool:
    return kind is getattr(sys.modules.get("numpy"), "ndarray", Any)


def _is_scalar(kind: type) -> bool:
    generic = getattr(sys.modules.get("numpy"), "generic", None)
    return isinstance(generic, type) and issubclass(kind, generic) and kind.__module__ == "numpy"


def _array(_: Encoder, value: Any) -> dict[str, Any]:
    made = _raw(value)
    if value.ndim > 1 and value.flags.f_contiguous and not value.flags.c_contiguous:
        made["order"] = "F"
    return {"$": "ndarray", **made, "shape": list(value.shape)}


def _scalar(_: Encoder, value: Any) -> dict[str, Any]:
    return {"$": "npscalar", **_raw(value)}


def _raw(value: Any) -> dict[str, Any]:
    if value.dtype.hasobject or value.dtype.names is not None:
        raise Unfaithful(f"a numpy value of {value.dtype}")
    order = "F" if getattr(value, "ndim", 0) > 1 and value.flags.f_contiguous else "C"
    return {"dtype": value.dtype.str, "base64": b64encode(value.tobytes(order)).decode()}


def _of_array(_: Decoder, made: dict[str, Any], note: Note) -> Any:
    shape, order = made["shape"], made.get("order", "C")
    return note(_flat(made).reshape(shape, order=order).copy(order=order))


def _of_scalar(_: Decoder, made: dict[str, Any], note: Note) -> Any:
    return _flat(made)[0]


def _flat(made: dict[str, Any]) -> Any:
    import numpy  # type: ignore[import-not-found,unused-ignore]

    kind = numpy.dtype(str(made["dtype"]))
    if kind.hasobject:
        raise Unfaithful("a numpy value of objects")
    return numpy.frombuffer(b64decode(made["base64"], validate=True), dtype=kind)
