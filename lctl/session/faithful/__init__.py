"""Values as they were: Python objects to JSON and back, for results that a rerun gives again.

What JSON holds stands for itself. Everything else is an object with a `$` key that names its kind. A log
may come from elsewhere, so reading one runs no code of its choosing: nothing is pickled, and the only
classes made are dataclasses, pydantic and attrs models, enums, named tuples, exceptions and those the
user registered, each by its plain module path and without calling it.
"""

from lctl.session.faithful.arguments import Given
from lctl.session.faithful.coding import Decoder, Encoder, decode, encode
from lctl.session.faithful.tables import Unfaithful, register

__all__ = ["Decoder", "Encoder", "Given", "Unfaithful", "decode", "encode", "register"]
