"""Where a recording comes from: command, folder, interpreter, code and package versions, for its header.

A rerun starts the program again by this and says what differs. Nothing here may cost much: a log is
opened in the middle of the program's first call.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lctl.instrument import settings
from lctl.session import default, naming, ownpackages
from lctl.session.concurrency import lanes

if TYPE_CHECKING:
    from collections.abc import Callable

    from lctl.session.redaction.redact import Redactor

#: `<commit>` or `<commit>+` of the program's folder, found out once by `lctl run`.
_GIT = "LCTL_RUN_GIT"
_RUN = "LCTL_RUN"
#: Where the header says how the recording began: by a `call`, when the program had been at work. Else absent.
BEGUN = "begun"
#: What it says in a rerun: what the recording's does.
begun: object = ""
#: Variables that change what libraries send; kept if set, whoever reads them.
_SENT = re.compile(
    r"\A(?:OPENAI_|ANTHROPIC_|AZURE_|AWS_(?:DEFAULT_)?REGION|AWS_ENDPOINT_URL|OLLAMA_"
    r"|.*_(?:BASE_URL|API_BASE|API_URL|ENDPOINT|API_VERSION|HOST)\Z)"
)
#: Those that change how output looks.
_LOOKS = re.compile(
    r"\A(?:TZ\Z|LANG\Z|LC_|LANGUAGE\Z|COLUMNS\Z|LINES\Z|TERM\Z|COLORTERM\Z|NO_COLOR\Z|FORCE_COLOR\Z"
    r"|CLICOLOR(?:_FORCE)?\Z|PY_COLORS\Z|TTY_(?:COMPATIBLE|INTERACTIVE)\Z"
    r"|PYTHON(?:UTF8|IOENCODING|UNBUFFERED|DEVMODE|WARNINGS|OPTIMIZE)\Z)"
)
#: Of the machine and the shell, not of the program.
_NOT_KEPT = """
PATH PYTHONPATH HOME USER LOGNAME SHELL PWD OLDPWD SHLVL _ TMPDIR TEMP TMP PYTHONHASHSEED DISPLAY
SSH_AUTH_SOCK SSH_CLIENT SSH_CONNECTION SSH_TTY VIRTUAL_ENV PS1 XDG_RUNTIME_DIR XDG_SESSION_ID
PYTEST_CURRENT_TEST
"""
#: Leads PYTHONPATH in what `lctl run` starts.
_BOOTSTRAP = str(Path(__file__).parents[1] / "run" / "bootstrap")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def program(redactor: Redactor | None, *, full: bool) -> dict[str, Any]:
    """`chain.program`.

    Args:
        full: with `git`, `packages` and the whole of `env`, which a recording for reruns has; else `env` has
            what decides what libraries send.
    """
    words = list(sys.orig_argv)
    found: dict[str, Any] = {
        "argv": words if redactor is None else without_secrets(words, redactor),
        "cwd": _cwd(),
        "python": ".".join(map(str, sys.version_info[:3])),
        "executable": sys.executable,
        "keys": secret_names(),
        "pythonpath": _search_path(),
    }
    if lanes.are_cells():
        found["cells"] = True
    seed = "random" if sys.flags.ignore_environment else os.environ.get("PYTHONHASHSEED", "random")
    late = _RUN not in os.environ and (full or default.is_late())
    found["own"] = sorted(ownpackages.own()) or None
    found[BEGUN] = ("call" if late else None) if begun == "" else begun
    if full or _RUN in os.environ:
        found["hashseed"] = seed
        found["git"] = git(os.environ.get(_GIT))
        found["packages"] = packages()
        from lctl.instrument.ambient import inputs, terminals

        found["stdin"] = inputs.kind()
        found["terminal"] = terminals.told() if full else None
        wrapped = sys.modules.get("lctl.instrument.wrapat")
        if wrapped is not None and wrapped.named:
            found["tools"] = list(wrapped.named)
        found["timers"] = (full and not late) or None
        found["files"] = (full and settings.files) or None
        found["commands"] = (full and settings.commands) or None
        found["acting"] = full or None
        found["handed"] = full or None
        found["env"] = _environment(redactor, _reread)
    else:
        found["hashseed"] = seed if seed.isdigit() else None  # which one Python drew, nobody can tell
        found["env"] = _environment(redactor, steers_libraries)
    return {name: _as_text(value) for name, value in found.items() if value is not None}


def _search_path() -> list[str] | None:
    """What PYTHONPATH names, but for what `lctl run` puts there."""
    folders = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return [folder for folder in folders if folder and folder != _BOOTSTRAP] or None


def _as_text(value: Any) -> Any:
    """`value`, whose strings are words of the system's: bytes that Python's locale could not read, as it does
    not the names of other letters where it is C, are UTF-8, or else spelled out (`\\xff`)."""
    if isinstance(value, str):
        try:
            return value.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        except UnicodeEncodeError:  # names of Windows; who writes the header spells them out
            return value
    if isinstance(value, list):
        return [_as_text(item) for item in value]
    if isinstance(value, dict):
        return {_as_text(name): _as_text(item) for name, item in value.items()}
    return value


def without_secrets(words: list[str], redactor: Redactor) -> list[str]:
    """Command line words, with secrets in them and after options that name one (`--token ...`) replaced."""
    made, option = [], None
    for word in words:
        given = redactor.value(word, option)
        made.append(str(given))
        option = word.lstrip("-") if word.startswith("-") and "=" not in word else None
    return made


def secret_names() -> list[str]:
    """Names of the environment variables that hold a secret and are set."""
    from lctl.session.redaction.names import ENVIRONMENT, ENVIRONMENT_PLACE

    secret, place = re.compile(ENVIRONMENT), re.compile(ENVIRONMENT_PLACE)
    return sorted(
        name
        for name, value in list(os.environ.items())
        if value and secret.search(name) and not place.search(name) and not name.startswith("LCTL_")
    )


def git(told: str | None = None, start: Path | None = None) -> dict[str, Any] | None:
    """`{"commit", "dirty"}` of the working tree around the current folder; None where there is none.

    Args:
        told: what `lctl run` has found out. Without it `dirty` is absent: knowing costs a process.
    """
    if told:
        return {"commit": told.removesuffix("+"), "dirty": told.endswith("+")}
    folder = start or Path.cwd()
    for place in (folder, *folder.parents):
        if (place / ".git").exists():
            commit = _head(place / ".git")
            return {"commit": commit} if commit else None
    return None


def _head(git: Path) -> str | None:
    try:
        if git.is_file():  # a worktree or submodule: `gitdir: <folder>`
            git = (git.parent / git.read_text().partition(":")[2].strip()).resolve()
        head = (git / "HEAD").read_text().strip()
        if not head.startswith("ref:"):
            return head if _COMMIT.fullmatch(head) else None
        name = head[4:].strip()
        common = git / "commondir"
        folders = [git, (git / common.read_text().strip()).resolve()] if common.exists() else [git]
        for folder in folders:
            if (folder / name).exists():
                return (folder / name).read_text().strip()
            packed = folder / "packed-refs"
            if packed.exists():
                for line in packed.read_text().splitlines():
                    if line.endswith(" " + name):
                        return line.partition(" ")[0]
    except (OSError, ValueError):
        pass
    return None


def packages() -> dict[str, str]:
    """Versions of the installed packages that are loaded, or that lctl records, by their import name.

    From the names of the `*.dist-info` folders: reading the metadata of all would take 100 ms.
    """
    from lctl.instrument.registry import OURS, TRANSPORTS

    wanted = {name.partition(".")[0].lower() for name in list(sys.modules)} | set(OURS) | set(TRANSPORTS)
    found: dict[str, str] = {}
    for folder in sys.path:
        if "-packages" not in folder:
            continue
        try:
            names = os.listdir(folder)  # noqa: PTH208  (names are all that is wanted)
        except OSError:
            continue
        for name in names:
            stem, _, kind = name.rpartition(".")
            package, _, version = stem.partition("-")
            if kind == "dist-info" and version and package.replace("-", "_").lower() in wanted:
                found.setdefault(package, version)
    return dict(sorted(found.items()))


def steers_libraries(name: str) -> bool:
    """Whether what libraries send, and where, hangs on this environment variable."""
    return _SENT.match(name) is not None


def changes_looks(name: str) -> bool:
    """Whether it hangs on this environment variable how output looks."""
    return _LOOKS.match(name) is not None


def _reread(name: str) -> bool:
    from lctl.instrument.ambient import environment

    return steers_libraries(name) or changes_looks(name) or name in environment.seen


def _environment(redactor: Redactor | None, kept: Callable[[str], object]) -> dict[str, str | None]:
    """Of what is set and not named as a secret: the variables that libraries' behaviour is known to hang on;
    None for a value with a secret in it (the password of a URL)."""
    secret, left_out = set(secret_names()), set(_NOT_KEPT.split())
    found: dict[str, str | None] = {
        name: value
        for name, value in list(os.environ.items())
        if kept(name) and name not in secret and not name.startswith("LCTL_") and name not in left_out
    }
    if redactor is None:
        return found
    cleaned = {name: str(redactor.value(value, name)) for name, value in found.items()}
    return {name: None if "[redacted:" in value else value for name, value in cleaned.items()}


def _cwd() -> str | None:
    """Where the program was started, as far as is known: it may go elsewhere before its first event."""
    where = naming.asked_in.get() or naming.here()
    return None if where is None else str(where)
