"""Loaded by every Python that starts with this folder on its PYTHONPATH, which `lctl run` sees to.

It takes its folder off `sys.path` again, loads the `sitecustomize` it stands in front of, if there is
one, and turns recording on. Whatever goes wrong here, the program starts; but a rerun that cannot begin
ends at once, for without its tape the program would make its calls and changes in earnest.
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


def _record() -> str | None:
    """What kept it from beginning, if anything did."""
    try:
        from lctl.run.recording import begin

        begin()
    except Exception as error:
        name = getattr(error, "name", None) or ""
        if isinstance(error, ImportError) and (name == "lctl" or name.startswith("lctl.")):
            return (
                f"{sys.executable} has no lctl installed, or another version of it; "
                f"install it with: {sys.executable} -m pip install lctl"
            )
        return f"{type(error).__name__}: {error}"
    return None


try:
    _step_aside()
finally:
    import os

    rerunning = bool(os.environ.get("LCTL_RERUN"))
    what = _record()
    if what is not None and rerunning:
        sys.stderr.write(f"lctl: this program is not started, as its tape cannot be served ({what})\n")
        sys.stderr.flush()
        os._exit(3)
    if what is not None and "LCTL_RUN" in os.environ:
        sys.stderr.write(f"lctl: this program is not recorded ({what})\n")
