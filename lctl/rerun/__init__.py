"""Running again, floor F7: the tape, what is served from it and in which order, and how exact that was.

    with lctl.rerun("run.lctl.json") as again:
        agent.main()
    assert again.certificate.ok

The package is called like the function of `lctl` that it is: calling the module makes the block above.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from lctl.rerun.block import rerun

        return rerun(*args, **kwargs)


rerun = sys.modules[__name__]
rerun.__class__ = _Callable
