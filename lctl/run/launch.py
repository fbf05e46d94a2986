"""Starting the program: by replacing this process, so that nothing of ours is left in between."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

from lctl.errors import UsageError


def launch(argv: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
    """Become the program. Does not return; the exit code is the program's.

    Raises:
        UsageError: the program cannot be started.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        if os.name == "nt":
            sys.exit(_wait(argv, environment))
        os.execvpe(argv[0], list(argv), dict(environment))
    except OSError as error:
        raise UsageError(f"{argv[0]}: cannot be started ({(error.strerror or str(error)).lower()})") from None


def _wait(argv: Sequence[str], environment: Mapping[str, str]) -> int:
    """Windows has no exec that a shell would wait for: stay, let Ctrl-C reach the program alone."""
    with subprocess.Popen(list(argv), env=dict(environment)) as process:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                continue
