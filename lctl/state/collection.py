"""A pause of the cyclic garbage collector while columns of numbers are built.

It would walk them again and again for cycles that cannot be there: a fifth of a comparison's time.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


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
            if ageing and gc.get_freeze_count() == 0:  # else somebody has frozen what has to stay so
                gc.freeze()
                gc.unfreeze()
            gc.enable()
