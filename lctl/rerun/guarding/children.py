"""Which child processes of a rerun are served like their parent: Pythons that our bootstrap reaches, and
forks of one.

They run on their own chains of the recording, under a guard of their own. Any other process would act on
the world unseen.
"""

from __future__ import annotations

from typing import Any

from lctl.rerun.callers import Caller
from lctl.rerun.settings import VARIABLE
from lctl.session.concurrency import processes, pythons


def is_followed(event: str, args: tuple[Any, ...], by: Caller) -> bool:
    """Whether this event starts a process that is part of the rerun."""
    if event == "os.posix_spawn" and by.passes("multiprocessing"):
        return True
    if event == "os.fork":
        return bool(processes.followers)
    if event not in ("subprocess.Popen", "os.posix_spawn"):
        return False
    executable, command, env = args[0], args[1], args[-1]  # Popen has the folder between them
    return pythons.is_followed(command, executable, env, VARIABLE)
