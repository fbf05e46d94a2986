"""Ray: each call of a remote function records a chain of its own, linked to the event it was made after."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from lctl.distributed.carriers import extract, inject
from lctl.distributed.joining import joined
from lctl.errors import MissingExtra


class RayFunction:
    """What `ray.remote` makes of a function, whose calls carry where they come from."""

    def __init__(self, function: Callable[..., Any], remote: Any) -> None:
        update_wrapper(self, function)
        self._function = function
        self._remote = remote

    def remote(self, *args: Any, **kwargs: Any) -> Any:
        """As Ray's: the reference of a result."""
        return self._remote.remote(dict(inject({})), *args, **kwargs)

    def options(self, **options: Any) -> RayFunction:
        """As Ray's: the same function with other options."""
        return RayFunction(self._function, self._remote.options(**options))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._remote(*args, **kwargs)  # refuses, and says how it is called


def ray_remote(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """`ray.remote` for functions: `@ray_remote`, `@ray_remote(num_cpus=2)` or `ray_remote(work)`.

    A worker records into what LCTL_STORE says there (`runtime_env={"env_vars": {...}}`).

    Raises:
        MissingExtra: Ray is not installed.
    """
    try:
        import ray  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise MissingExtra("linking Ray's tasks", "ray") from None
    if function is None:
        return lambda one: ray_remote(one, **options)
    called = function  # for the closure: Ray takes functions only, and pickles them by value

    def carried_call(carrier: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        origin = extract(carrier)
        if not origin.chain_id:
            return called(*args, **kwargs)
        with joined(origin):
            return called(*args, **kwargs)

    carried_call.__name__ = getattr(function, "__name__", "task")
    carried_call.__qualname__ = getattr(function, "__qualname__", "task")
    made: Any = ray
    return RayFunction(function, (made.remote(**options) if options else made.remote)(carried_call))
