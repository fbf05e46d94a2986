"""JSON Schema in contracts, by the `jsonschema` package.

Nothing is fetched: a `$ref` is to a place in the same schema, or to a draft of JSON Schema itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from lctl.errors import MissingExtra

#: What was expected of a field that is not there.
ABSENT = "a value"


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
        _kind(schema).check_schema(schema)
    except library.SchemaError as error:
        where = "/".join(map(str, error.absolute_path))
        return f"not a JSON Schema: {where + ': ' if where else ''}{error.message}"
    return _lost_reference(schema)


def _lost_reference(schema: Mapping[str, Any]) -> str | None:
    """A `$ref` that leads nowhere, or round in a circle."""
    from jsonschema_specifications import REGISTRY
    from referencing import Resource
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    whole = Resource.from_contents(schema, default_specification=DRAFT202012)
    pending = [(whole, REGISTRY.resolver_with_root(whole))]
    while pending:
        part, resolver = pending.pop()
        if isinstance(part.contents, Mapping) and isinstance(named := part.contents.get("$ref"), str):
            try:
                resolver.lookup(named)
            except Unresolvable:
                return f"$ref {named!r} is not in the schema, and nothing is fetched"
        pending += [(inner, resolver.in_subresource(inner)) for inner in part.subresources()]
    try:
        _breaches(schema, None)
    except RecursionError:
        return "a $ref of it leads round in a circle"
    return None


def breaches(schema: Mapping[str, Any], value: Any) -> list[tuple[str, Any, str]]:
    """Where `value` is not as the schema says: (field, value there, what was expected)."""
    found: list[tuple[str, Any, str]] = []
    for error in sorted(_breaches(schema, value), key=lambda one: list(map(str, one.absolute_path))):
        path = list(map(str, error.absolute_path))
        if error.validator == "required" and isinstance(error.validator_value, list):
            absent = [".".join([*path, name]) for name in error.validator_value if name not in error.instance]
            # The library has an error for each of them, and does not say whose.
            found += [one for name in absent if (one := (name, None, ABSENT)) not in found]
        else:
            found.append((".".join(path), error.instance, _expected(error)))
    return found


def _breaches(schema: Mapping[str, Any], value: Any) -> list[Any]:
    from jsonschema_specifications import REGISTRY

    return list(_kind(schema)(schema, registry=REGISTRY).iter_errors(value))


def _kind(schema: Mapping[str, Any]) -> Any:
    library = _library()
    return library.validators.validator_for(schema, library.Draft202012Validator)


def _expected(error: Any) -> str:
    wanted = error.validator_value
    if error.validator == "enum":
        return "one of " + ", ".join(map(str, wanted))
    if error.validator == "type":
        return f"type {wanted if isinstance(wanted, str) else ' or '.join(wanted)}"
    plain = isinstance(wanted, int | float | str) and not isinstance(wanted, bool)
    return f"{error.validator} {wanted}" if plain else str(error.message)
