"""A pause of the cyclic garbage collector while columns of numbers are built.

It would walk them again and again for cycles that cannot be there: a fifth of a comparison's time.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_frozen = False


@contextmanager
def paused(*, ageing: bool = False) -> Iterator[None]:
    """No automatic collection inside; afterwards as before.

    Args:
        ageing: what was made inside, and all else that is young, counts as old then. Without, the next
            collection, which comes at once, walks it after all. For who reads a log, once: in a program that
            works on, its garbage would wait for a full collection.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            if ageing and not _somebody_froze():
                gc.freeze()
                gc.unfreeze()
            gc.enable()


def _somebody_froze() -> bool:
    """Whether there are frozen objects, which have to stay so. Asked until the first time that there are: the
    answer takes as long as walking all of them."""
    global _frozen
    _frozen = _frozen or gc.get_freeze_count() > 0
    return _frozen
