"""Which threads a rerun waits for."""

from __future__ import annotations

import subprocess
import sys

import pytest

_FORKS = """
import os, threading
from lctl.rerun.quiescence import Threads
if not os.fork():
    print(Threads().some({threading.get_native_id()}), flush=True)
    os._exit(0)
os.wait()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="threads are known by their processor time on Linux")
def test_the_main_thread_of_a_forked_process_is_no_other() -> None:
    """Python goes on giving it the number it had in the process that forked: it was taken for a thread that
    is not Python's, and not waited for once it had been still for a while."""
    done = subprocess.run([sys.executable, "-c", _FORKS], capture_output=True, text=True, timeout=60)
    assert done.stdout == "False\n", done.stderr
