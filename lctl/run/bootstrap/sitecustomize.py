"""Loaded by every Python that starts with this folder on its PYTHONPATH, which `lctl run` sees to.

It takes its folder off `sys.path` again, loads the `sitecustomize` it stands in front of, if there is
one, and turns recording on. Whatever goes wrong here, the program starts.
"""

import sys


def _step_aside() -> None:
    """Leave `sys.path` as it was, and let the environment's own sitecustomize be the one imported."""
    import os

    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120  (pathlib costs 10 ms at each start)
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != here]  # noqa: PTH100
    sys.path_importer_cache.pop(here, None)
    mine = sys.modules.pop(__name__, None)
    try:
        import sitecustomize  # type: ignore[import-not-found]  # noqa: F401
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
    finally:
        if mine is not None:
            sys.modules.setdefault(__name__, mine)


def _record() -> None:
    try:
        from lctl.run.recording import begin
    except ImportError as error:
        if error.name != "lctl" and not (error.name or "").startswith("lctl."):
            raise
        sys.stderr.write(
            f"lctl: {sys.executable} has no lctl installed, so this program is not recorded; "
            f"install it with: {sys.executable} -m pip install lctl\n"
        )
        return
    begin()


try:
    _step_aside()
finally:
    try:
        _record()
    except Exception as error:
        sys.stderr.write(f"lctl: this program is not recorded ({type(error).__name__}: {error})\n")
