"""DSPy's cache on disk, which holds answers of earlier runs: what it gives is read from the surroundings, and
on the tape. In a rerun nothing on disk is opened: what was found there comes from the tape."""

from __future__ import annotations

import sys
from inspect import signature
from typing import Any

from lctl.errors import RerunStopped
from lctl.instrument.ambient import reads
from lctl.instrument.structure import guarded
from lctl.session import border
from lctl.session.faithful import Unfaithful, decode, encode

_CACHE = "DSPy's cache on disk"


def opened(wrapped: Any, cache: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Around `Cache.__init__`. In a rerun it has no files, and is asked all the same."""
    given = None if border.player() is None else _without_disk(wrapped, args, kwargs)
    if given is None:
        wrapped(*args, **kwargs)
        return
    wrapped(**given)
    cache.enable_disk_cache = True
    cache.disk_cache = _Shelf(cache)


@guarded(_CACHE)
def _without_disk(wrapped: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any] | None:
    """The arguments by name; None where no disk is asked for."""
    given = signature(wrapped).bind(*args, **kwargs).arguments
    return {**given, "enable_disk_cache": False} if given.get("enable_disk_cache") else None


def looked_up(wrapped: Any, cache: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Around `Cache.get`: the same, on a cache whose disk is told of."""
    seen = _seen(wrapped, cache)
    return wrapped(*args, **kwargs) if seen is None else seen(*args, **kwargs)


@guarded(_CACHE)
def _seen(wrapped: Any, cache: Any) -> Any:
    function = getattr(wrapped, "__func__", None)
    if function is None or not cache.enable_disk_cache:
        return None
    if border.player() is None and not reads.active():
        return None
    return lambda *args, **kwargs: function(_Seen(cache), *args, **kwargs)


class _Seen:
    """A cache as its own `get` sees it."""

    def __init__(self, cache: Any) -> None:
        self.__dict__.update(_cache=cache, disk_cache=_Shelf(cache))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)


class _Shelf:
    """What is on a cache's disk."""

    def __init__(self, cache: Any) -> None:
        self._cache = cache

    def get(self, key: str) -> Any:
        disk = self._cache.disk_cache
        is_kept = border.player() is None and not isinstance(disk, _Shelf)

        def find() -> Any:
            return disk.get(key) if is_kept else None

        return reads.read("cache", "dspy", sys._getframe(1), find, _written, _read)

    def set(self, key: str, value: Any) -> None:
        """A rerun leaves the disk as it is."""

    def delete(self, key: str) -> None:
        """As `set`."""

    def __contains__(self, key: str) -> bool:
        return False


def _written(value: Any) -> Any:
    if value is None:
        return None
    try:
        return {"found": encode(value)}
    except Unfaithful as reason:
        return {"lost": str(reason)}


def _read(made: Any) -> Any:
    if made is None:
        return None
    if "lost" in made:
        raise RerunStopped(f"an answer out of DSPy's cache on disk could not be kept: {made['lost']}")
    return decode(made["found"])
