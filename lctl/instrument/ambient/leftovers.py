"""Temporary files that the recorded program left behind, where a rerun makes its own of the same name.

They are moved aside while the rerun goes on and put back at its end, when the rerun's own are removed:
after it, the disk is as the recording left it.
"""

from __future__ import annotations

import atexit
import os
import shutil

_ASIDE = ".lctl-recorded"
_moved: list[str] = []
_pid = 0


def make_way(path: str) -> None:
    """Move what is at `path` aside; nothing where it is taken for another reason."""
    global _pid
    if not os.path.lexists(path) or os.path.lexists(path + _ASIDE):
        return
    try:
        if os.lstat(path).st_uid != os.getuid():
            return
        os.rename(path, path + _ASIDE)  # noqa: PTH104
    except (OSError, AttributeError):
        return  # not ours to move: the next name is tried
    if not _moved:
        _pid = os.getpid()
        atexit.register(put_back)
    _moved.append(path)


def put_back() -> None:
    """Remove the rerun's files of those names and put the recorded ones in their place."""
    if os.getpid() != _pid:
        return  # a forked child's exit is not the rerun's end
    while _moved:
        path = _moved.pop()
        try:
            if os.path.isdir(path) and not os.path.islink(path):  # noqa: PTH112, PTH114
                shutil.rmtree(path)
            elif os.path.lexists(path):
                os.remove(path)  # noqa: PTH107
            os.rename(path + _ASIDE, path)  # noqa: PTH104
        except OSError:
            pass  # the recorded one stays under its other name
