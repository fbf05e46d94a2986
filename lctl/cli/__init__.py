"""The command line, floor F8: parse, call what reads or runs, render.

`main` turns everything that can go wrong into one line on stderr and a documented exit code. Each
command is a module of its own, loaded when it is used.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import sys
from collections.abc import Sequence

from lctl.errors import LctlError

OK, DIFFERENCE, USAGE, UNREADABLE, BUG, INTERRUPTED = 0, 1, 2, 3, 70, 130


#: Of a write whose file is not named: standard output's.
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
#: For output that cannot show them.
_STAND_INS = dict(zip("✓✗●○◌★└•→←≥", "+x*o~*`-><>", strict=True))


class ReaderGone(Exception):
    """What we print to was closed (`lctl replay | head`)."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit code."""
    _survive_any_encoding()
    try:
        code = _run(sys.argv[1:] if arguments is None else list(arguments))
        sys.stdout.flush()
        return code
    except (ReaderGone, BrokenPipeError):
        _forget_stdout()
        return OK
    except KeyboardInterrupt:
        return INTERRUPTED
    except LctlError as error:
        text = str(error).partition("\n")[0] if error.detail else str(error)
        return _failed(text, error.exit_code, error.detail)
    except OSError as error:
        return _failed(_os_error(error), UNREADABLE)
    except MemoryError:
        return _failed("not enough memory for this log; try a part of it: lctl show TARGET SEQ", UNREADABLE)
    except Exception as error:
        text = f"unexpected {type(error).__name__}: {error}".rstrip(": ")
        return _failed(f"{text}. This is a bug in lctl; LCTL_DEBUG=1 shows where. Please report it.", BUG)


def _run(arguments: list[str]) -> int:
    import click

    from lctl.cli.application import lctl

    try:
        result = lctl.main(arguments, prog_name="lctl", standalone_mode=False)
        return result if isinstance(result, int) else OK
    except click.exceptions.Exit as exit:
        return exit.exit_code
    except click.exceptions.Abort:
        return INTERRUPTED
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "lctl"
        return _failed(f"{_sentence(error.format_message())} (see '{command} --help')", USAGE)
    except click.ClickException as error:
        return _failed(_sentence(error.format_message()), USAGE)


def _failed(text: str, code: int, detail: Sequence[str] = ()) -> int:
    """One line on stderr, and what belongs beneath it. LCTL_DEBUG=1 adds the traceback of the exception
    being handled."""
    from lctl.analysis.wording import block, plain

    try:
        sys.stdout.flush()
    except OSError:
        _forget_stdout()
    try:
        if os.environ.get("LCTL_DEBUG") == "1":
            import traceback

            traceback.print_exc()
        sys.stderr.write("\n".join([f"lctl: {plain(text)}", *(f"  {block(line)}" for line in detail)]) + "\n")
    except OSError:
        pass  # no stderr to write to; the exit code still says it
    return code


def _sentence(text: str) -> str:
    return text[:1].lower() + text[1:].rstrip(".") if text else "wrong usage"


def _os_error(error: OSError) -> str:
    what = (error.strerror or str(error) or type(error).__name__).lower()
    if isinstance(error.filename, (str, bytes)):
        return f"{os.fsdecode(error.filename)}: {what}"
    return f"the output cannot be written ({what})" if error.errno in _FULL else what


def _survive_any_encoding() -> None:
    """A terminal or pipe that cannot show a character gets another or a `?` for it, never a crash. Neither
    does a caller that closed our streams (`>&-`), for which Python has None."""
    codecs.register_error("lctl.marks", _stand_in)
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: SIM115, PTH123
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="lctl.marks")


def _stand_in(error: UnicodeError) -> tuple[str, int]:
    """As `replace` does, but a mark that says something still says it."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    return "".join(_STAND_INS.get(char, "?") for char in missing), error.end


def _forget_stdout() -> None:
    """The reader of our output is gone: nothing more to say, not at the interpreter's exit either."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(devnull, sys.stdout.fileno())
    except (OSError, ValueError):
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123  (kept open until exit)
    finally:
        os.close(devnull)
