"""Classes a tool may give, findable by their names."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any, ClassVar, NamedTuple

import attrs
import pydantic


class Color(enum.Enum):
    RED = 1
    CYAN = "c"


class Mode(enum.Flag):
    READ = 1
    WRITE = 2
    RUN = 4


@dataclasses.dataclass
class Point:
    x: int
    y: Any = None

    def __post_init__(self) -> None:
        if self.x == 666:
            raise RuntimeError("__post_init__ ran")


@dataclasses.dataclass(frozen=True, slots=True)
class Fixed:
    name: str
    inner: Any = None


class Row(NamedTuple):
    key: str
    values: list[int]


@attrs.define
class Frozen:
    a: int
    b: list[int] = attrs.field(factory=list)


class Model(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")

    number: int
    point: Point | None = None
    _note: str = pydantic.PrivateAttr(default="none")


class Odd(Exception):
    def __init__(self, *, code: int, where: Any) -> None:
        super().__init__()
        self.code = code
        self.where = where

    def __str__(self) -> str:
        return f"odd {self.code}"


class Slotted(ValueError):
    __slots__ = ("extra",)
    extra: object


class Plain:
    """Not one of the kinds a log may name."""

    def __init__(self) -> None:
        self.x = 1


class Money:
    """Registered by a test."""

    def __init__(self, cents: int) -> None:
        self.cents = cents


class Armed:
    """Says so when anything of it runs."""

    fired: ClassVar[list[str]] = []

    def __new__(cls, *args: Any) -> Armed:
        cls.fired.append("new")
        return super().__new__(cls)

    def __setstate__(self, state: Any) -> None:
        self.fired.append("setstate")


def fire(*args: Any) -> None:
    Armed.fired.append("call")
