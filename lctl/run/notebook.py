"""`python -m lctl.run.notebook [NOTEBOOK [ARGS]...]`: the cells of a notebook, one after the other.

In a rerun without a notebook: the cells that the recording says were run, whatever kernel or shell ran them.
As in a kernel they run while an event loop does, `await` is allowed in them, and there is `get_ipython()`.
"""

from __future__ import annotations

import asyncio
import getpass
import json
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lctl.errors import RerunError, RerunStopped, UsageError
from lctl.rerun.settings import DUMMY_KEY, Settings
from lctl.session import default, exits

if TYPE_CHECKING:
    from lctl.run.shell import NotebookShell

#: The tag of a cell that may fail.
_MAY_FAIL = "raises-exception"
#: Seconds between looks at what cells left running, and how many of these in which nothing comes of it.
_PAUSE, _PATIENCE = 0.01, 200


class Cell(NamedTuple):
    """What is to be run.

    Attributes:
        number: it is run by (None: the next).
        may_fail: the ones behind it run all the same.
        behind: this many events.
    """

    code: str
    number: int | None = None
    may_fail: bool = False
    behind: int = 0


def main(arguments: list[str]) -> int:
    """Run them; 1 if one failed that may not."""
    try:
        if arguments:
            path, settings = Path(arguments[0]), Settings.here()
            is_gone = settings is not None and not path.exists()
            cells = of_tape(of_notebook=True) if is_gone else of_notebook(path)
            sys.argv = arguments
            shell = _shell(nullcontext)
        else:
            cells, shell = of_tape(), _shell(_beside)
    except (UsageError, RerunError) as error:
        sys.stderr.write(f"lctl: {error}\n")
        return 2
    return asyncio.new_event_loop().run_until_complete(_run(shell, cells))


def of_notebook(path: Path) -> list[Cell]:
    """Its cells of code.

    Raises:
        UsageError: it is no notebook, or one for another language.
    """
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
        language = read["metadata"].get("kernelspec", {}).get("language", "python")
        cells = [cell for cell in read["cells"] if cell["cell_type"] == "code"]
        made = [Cell("".join(cell["source"]), None, _MAY_FAIL in _tags(cell)) for cell in cells]
    except OSError as error:
        raise UsageError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    except (ValueError, LookupError, TypeError, AttributeError):
        raise UsageError(f"{path}: it is no Jupyter notebook of version 4") from None
    if language != "python":
        raise UsageError(f"{path}: its cells are {language}, not Python")
    return [cell for cell in made if cell.code.strip()]


def _tags(cell: dict[str, Any]) -> Iterable[str]:
    tags: Iterable[str] = cell.get("metadata", {}).get("tags", ())
    return tags


def of_tape(of_notebook: bool = False) -> list[Cell]:
    """The cells of the recording that this process is to run again.

    Args:
        of_notebook: which this module had run: where a cell failed and ran no other behind it, it ended so.

    Raises:
        UsageError: it is no rerun.
    """
    from lctl.rerun.tape.tape import Tape

    settings = Settings.here()
    if settings is None:
        raise UsageError("which notebook? 'lctl run NOTEBOOK.ipynb'")
    tape = Tape.load(settings.log)
    if tape.full and not tape.outputs:
        from lctl.instrument.ambient import outputs

        outputs.leave()
    if settings.at is None:
        getpass.getpass = _no_secret
    last = len(tape.cells) - 1
    return [
        Cell(code, int(name.strip("In[]")), n < last or not of_notebook, 0 if settings.at else seq - 1)
        for n, (name, code, seq) in enumerate(tape.cells)
    ]


def _no_secret(prompt: str = "", stream: Any = None) -> str:
    """What is typed in as a password is not recorded; most often it is a key, and a rerun needs none."""
    return DUMMY_KEY


def _shell(showing: Callable[[], AbstractContextManager[None]]) -> NotebookShell:
    """See `shell.showing`.

    Raises:
        UsageError: IPython is not installed.
    """
    try:
        from lctl.run import shell
    except ImportError:
        raise UsageError(
            "notebooks are run by IPython, which is not installed; install it with: "
            f"{sys.executable} -m pip install ipython"
        ) from None
    os.environ.setdefault("MPLBACKEND", "agg")  # there is no window
    shell.showing = showing
    return shell.make()


@contextmanager
def _beside() -> Iterator[None]:
    """What a cell shows, or fails by: a kernel sends that to who asked, and it was no output."""
    from lctl.instrument import writing
    from lctl.instrument.ambient import outputs

    with writing.unwatched(), outputs.uncounted():
        yield


async def _run(shell: NotebookShell, cells: list[Cell]) -> int:
    for cell in cells:
        await _reach(cell.behind)
        if cell.number is not None:
            shell.execution_count = cell.number
        result = await _run_cell(shell, cell.code)
        error = result.error_before_exec or result.error_in_exec
        if isinstance(error, RerunStopped) or (error is not None and not cell.may_fail):
            exits.is_told = True  # as the cell's error
            return 1
        if shell.is_over:
            break
    return 0


async def _reach(behind: int) -> None:
    """Wait for what cells have left running, in tasks and threads: who sent the next one took his time."""
    await asyncio.sleep(0)
    session = default.running()
    seen, waited = -1, 0
    while session is not None and session.last_seq < behind and waited < _PATIENCE:
        if len(asyncio.all_tasks()) == 1 and threading.active_count() == 1:
            return
        seen, waited = session.last_seq, 0 if session.last_seq > seen else waited + 1
        await asyncio.sleep(_PAUSE)


async def _run_cell(shell: NotebookShell, code: str) -> Any:
    """As a kernel does: what needs no loop runs at once."""
    failure = None
    try:
        transformed = shell.transform_cell(code)
    except Exception:
        transformed, failure = code, sys.exc_info()
    if not shell.should_run_async(code, transformed_cell=transformed, preprocessing_exc_tuple=failure):
        return shell.run_cell(code, store_history=True)
    running = shell.run_cell_async(
        code, store_history=True, transformed_cell=transformed, preprocessing_exc_tuple=failure
    )
    result = None
    try:
        result = await asyncio.ensure_future(running)
    finally:
        shell.events.trigger("post_execute")
        shell.events.trigger("post_run_cell", result)
    return result


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
