"""Results of tools that a rerun can give back: `lctl.faithful.register(cls, encode, decode)`.

Known without it: what JSON holds, tuples, sets, bytes, times, numbers, paths, enums, named tuples,
dataclasses, attrs and pydantic models, numpy arrays, exceptions.
"""

from lctl.session.faithful import Unfaithful, decode, encode, register

__all__ = ["Unfaithful", "decode", "encode", "register"]
