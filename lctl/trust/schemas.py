"""JSON Schema in contracts, by the `jsonschema` package."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from lctl.errors import MissingExtra


@cache
def _library() -> Any:
    try:
        import jsonschema
    except ImportError:
        raise MissingExtra("a JSON Schema in a contract", "contracts") from None
    return jsonschema


def fault_of(schema: Mapping[str, Any]) -> str | None:
    """What is wrong with a schema itself.

    Raises:
        MissingExtra: `jsonschema` is not installed.
    """
    library = _library()
    try:
        library.validators.validator_for(schema, library.Draft202012Validator).check_schema(schema)
    except library.SchemaError as error:
        where = "/".join(map(str, error.absolute_path))
        return f"not a JSON Schema: {where + ': ' if where else ''}{error.message}"
    return None


def breaches(schema: Mapping[str, Any], value: Any) -> list[tuple[str, Any, str]]:
    """Where `value` is not as the schema says: (field, value there, what was expected)."""
    library = _library()
    kind = library.validators.validator_for(schema, library.Draft202012Validator)
    found = []
    for error in sorted(kind(schema).iter_errors(value), key=lambda one: list(map(str, one.absolute_path))):
        place = ".".join(map(str, error.absolute_path))
        found.append((place, error.instance, _expected(error)))
    return found


def _expected(error: Any) -> str:
    wanted = error.validator_value
    if error.validator == "enum":
        return "one of " + ", ".join(map(str, wanted))
    if error.validator == "type":
        return f"type {wanted if isinstance(wanted, str) else ' or '.join(wanted)}"
    if error.validator == "required":
        return str(error.message)
    return f"{error.validator} {wanted}" if isinstance(wanted, int | float | str) else str(error.message)
