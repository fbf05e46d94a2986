"""`python -P trial_start.py PROGRAM FOLDER INTEGRATION`: the program as it is, then `lctl.testing.trial`.

What it prints goes to FOLDER/plain.txt. Nothing of lctl is there by then: this file is run by its path.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType


def run_plain(program: Path, told: Path) -> ModuleType:
    """Run it as a script, as the main module, which is returned; what it prints goes to the file `told`, also
    what others write to the same descriptor."""
    module = ModuleType("__main__")
    module.__file__ = str(program)
    sys.modules["__main__"], sys.argv = module, [str(program)]
    sys.path.insert(0, str(program.parent))  # as of any script
    kept = os.dup(1)
    with told.open("wb") as file:
        os.dup2(file.fileno(), 1)
    try:
        exec(compile(program.read_bytes(), str(program), "exec", dont_inherit=True), vars(module))
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
    return module


def main(program: str, folder: str, key: str) -> None:
    module = run_plain(Path(program), Path(folder, "plain.txt"))
    from lctl.testing.trial import run_trial

    run_trial(module, Path(folder), key)


if __name__ == "__main__":
    main(*sys.argv[1:])
