"""What an agent type takes and gives, as the protocol's `contracts:` block says it.

Contract("security-reviewer", outputs=[{"type": "fact", "required_fields": ["id", "severity"],
                                        "severity_values": ["low", "high"], "confidence_min": 0.5}])
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from lctl.errors import UsageError

#: What can be held against a shape, in which direction.
ITEMS = {
    "inputs": ("fact", "handoff", "message", "input"),
    "outputs": ("fact", "handoff", "message", "tool_call", "output"),
}
#: Endings of keys that bound a field.
_BOUNDS = ("_min", "_max", "_values")
_KEYS = ("type", "required_fields", "schema")

#: Where in a document, and what is wrong there.
Fault = tuple[tuple[str | int, ...], str]


class Shape(msgspec.Struct, frozen=True):
    """How one kind of item has to be.

    Attributes:
        type: fact, handoff, message, tool_call, or the step's `input` or `output`.
        minimums, maximums, values: bounds by field; they hold for fields that are there.
        schema: a JSON Schema of the whole item.
    """

    type: str = "fact"
    required_fields: tuple[str, ...] = ()
    minimums: Mapping[str, float] = {}
    maximums: Mapping[str, float] = {}
    values: Mapping[str, Sequence[Any]] = {}
    schema: Mapping[str, Any] | None = None

    def document(self) -> dict[str, Any]:
        """As the protocol writes it."""
        made: dict[str, Any] = {"type": self.type}
        if self.required_fields:
            made["required_fields"] = list(self.required_fields)
        made |= {f"{field}_min": bound for field, bound in self.minimums.items()}
        made |= {f"{field}_max": bound for field, bound in self.maximums.items()}
        made |= {f"{field}_values": list(bound) for field, bound in self.values.items()}
        return made if self.schema is None else {**made, "schema": dict(self.schema)}


class Contract:
    """What one agent type takes and gives.

    Args:
        name: of the agent, or of the type in its profile.
        inputs, outputs: shapes, or mappings as the protocol has them.
        agents: names of further agents it is for.

    Raises:
        UsageError: a mapping is no shape; the text says where.
    """

    def __init__(
        self,
        name: str,
        inputs: Iterable[Shape | Mapping[str, Any]] = (),
        outputs: Iterable[Shape | Mapping[str, Any]] = (),
        *,
        agents: Iterable[str] = (),
    ) -> None:
        self.name = name
        self.inputs = tuple(_shape(name, "inputs", n, one) for n, one in enumerate(inputs))
        self.outputs = tuple(_shape(name, "outputs", n, one) for n, one in enumerate(outputs))
        self.agents = tuple(agents)

    def shapes(self, direction: str) -> tuple[Shape, ...]:
        return self.inputs if direction == "inputs" else self.outputs

    def is_for(self, agent: str, profile: str | None) -> bool:
        return agent == self.name or agent in self.agents or (profile is not None and profile == self.name)

    def document(self) -> dict[str, Any]:
        """As the protocol writes it, below its name."""
        made: dict[str, Any] = {}
        for direction in ("inputs", "outputs"):
            if self.shapes(direction):
                made[direction] = [shape.document() for shape in self.shapes(direction)]
        return {**made, "agents": list(self.agents)} if self.agents else made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Contract) and (self.name, self.document()) == (other.name, other.document())

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"Contract({self.name!r}, {self.document()})"


def contracts_of(document: object) -> list[Contract]:
    """The contracts of a decoded document: `{"contracts": {name: ...}}`, or what is below that key.

    Raises:
        UsageError: it holds none, or one is wrong.
    """
    found = list(faults(document))
    if found:
        path, text = found[0]
        raise UsageError(f"{path_text(path)}: {text}" if path else text)
    assert isinstance(document, Mapping)
    named = document.get("contracts", document)
    return [
        Contract(name, body.get("inputs") or (), body.get("outputs") or (), agents=body.get("agents") or ())
        for name, body in named.items()
    ]


def faults(document: object) -> Iterator[Fault]:
    """Everything that is wrong in a document of contracts, in its order."""
    if not isinstance(document, Mapping) or not isinstance(document.get("contracts", document), Mapping):
        yield (), "expected contracts: and below it a name for each contract"
        return
    inside: tuple[str, ...] = ("contracts",) if "contracts" in document else ()
    named = document.get("contracts", document)
    if not named:
        yield inside, "there is no contract"
    for name, body in named.items():
        at = (*inside, name)
        if not isinstance(body, Mapping):
            yield at, "a contract has inputs and outputs"
            continue
        for key, value in body.items():
            if key in ("inputs", "outputs"):
                if not isinstance(value, list | tuple):
                    yield (*at, key), "expected a list"
                    continue
                for n, one in enumerate(value):
                    yield from _shape_faults((*at, key, n), key, one)
            elif key == "agents":
                if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
                    yield (*at, key), "expected a list of names"
            else:
                yield (*at, key), f"a contract has no {key!r}; it has inputs, outputs and agents"


def path_text(path: Sequence[str | int]) -> str:
    """`contracts.reviewer.outputs[0].type`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _shape_faults(at: tuple[str | int, ...], direction: str, given: object) -> Iterator[Fault]:
    if not isinstance(given, Mapping):
        yield at, "expected a type and its fields"
        return
    if "type" not in given:
        yield at, "type: missing"
    for key, value in given.items():
        text = _fault(direction, key, value)
        if text:
            yield (*at, key), text
    for field, bound in ((k[:-4], v) for k, v in given.items() if str(k).endswith("_min")):
        upper = given.get(f"{field}_max")
        if _number(bound) and _number(upper) and bound > upper:
            yield (*at, f"{field}_max"), f"{upper} is below {field}_min, {bound}"


def _fault(direction: str, key: object, value: Any) -> str | None:
    """What is wrong with one key of a shape."""
    if not isinstance(key, str):
        return f"{key!r} is no key"
    if key == "type":
        items = ITEMS[direction]
        return (
            None if value in items else f"no item {value!r} among {direction}; there are {', '.join(items)}"
        )
    if key == "required_fields":
        good = isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)
        return None if good else "expected a list of field names"
    if key == "schema":
        return _schema_fault(value)
    if key.endswith("_values"):
        return None if isinstance(value, list | tuple) and value else "expected a list of values"
    if key.endswith(("_min", "_max")):
        return None if _number(value) else f"expected a number, got {value!r}"
    from difflib import get_close_matches

    close = get_close_matches(key, [*_KEYS, "confidence_min"], n=1)
    hint = f"did you mean {close[0]!r}?" if close else "bounds end in _min, _max or _values"
    return f"no key {key!r}; {hint}"


def _schema_fault(value: Any) -> str | None:
    if not isinstance(value, Mapping):
        return "expected a JSON Schema"
    from lctl.trust.schemas import fault_of

    return fault_of(value)


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _shape(contract: str, direction: str, n: int, given: Shape | Mapping[str, Any]) -> Shape:
    if isinstance(given, Shape):
        return given
    found = list(_shape_faults((contract, direction, n), direction, given))
    if found:
        raise UsageError(f"{path_text(found[0][0])}: {found[0][1]}")
    bounds: dict[str, dict[str, Any]] = {ending: {} for ending in _BOUNDS}
    for key, value in given.items():
        for ending in _BOUNDS:
            if key not in _KEYS and key.endswith(ending):
                bounds[ending][key.removesuffix(ending)] = value
    return Shape(
        type=given["type"],
        required_fields=tuple(given.get("required_fields") or ()),
        minimums=bounds["_min"],
        maximums=bounds["_max"],
        values=bounds["_values"],
        schema=given.get("schema"),
    )
