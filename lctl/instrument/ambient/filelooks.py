"""A look at a file: what is recorded of it, and whether it is now as it was then."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, Final

from lctl.instrument.plain import blob_of
from lctl.instrument.recordings import recording_of
from lctl.session import border, jsonable
from lctl.session.border import digest_of
from lctl.session.redaction.redact import Redactor
from lctl.session.session import LCTLSession

#: Bytes of a file up to which its content is kept, of all that are in one process, and of a file up to which
#: its digest is.
MOST_KEPT, MOST_IN_ALL, MOST_HASHED = 256 << 10, 16 << 20, 4 << 20

#: Where secrets are kept, whatever they look like.
_SECRET = re.compile(
    r"(?:^|/)(?:\.env|\.netrc|\.npmrc|\.pypirc|\.pgpass|id_(?:rsa|dsa|ecdsa|ed25519)|credentials|secret|client_secret"
    r"|\.git-credentials|\.vault-token|(?:cookies|login data|logins|key4|signons|web data)(?=[.-]|$))"
    r"[^/]*$|\.(?:pem|key|p12|pfx|jks|kdbx|ppk|gpg|keychain(?:-db)?)$"
    r"|(?:^|/)(?:\.(?:ssh|aws|azure|gnupg|kube|docker)|gcloud|keychains|keyrings)/",
    re.IGNORECASE,
)
#: There is something at the path that is no file, or cannot be read.
OTHER: Final = "other"

#: How keys of what lies among temporary files begin.
TEMPORARY: Final = "tmp:"
#: Where temporary files are as the program begins.
_TEMPORARY = os.environ.get("TMPDIR")

_names = count()
_kept: set[str] = set()  # by their hashes
_size = 0  # of all that are kept


def recorded(path: Any, real: Callable[..., Any], session: LCTLSession | None) -> Any:
    """The value of a `file` read: `{size, blob}` of what is kept, `{size, hash}` of what is not, `{size}` of
    what holds a secret or is very large, None where nothing is, OTHER.

    Args:
        real: opens files.
    """
    content, size = read(path, real)
    if content is None:
        return size if size is None or size == OTHER else {"size": size}
    return value_of(path, content, session)


def value_of(path: Any, content: bytes, session: LCTLSession | None, most: int = MOST_KEPT) -> dict[str, Any]:
    """That of a file which is there. `most`: bytes of it that are kept."""
    size = len(content)
    if session is None:
        return {"size": size}
    hash = digest_of(content, "")
    if size > most or (hash not in _kept and _size + size > MOST_IN_ALL):
        return {"size": size, "hash": hash}
    if hash not in _kept:
        if session.redactor is not None and _holds_secret(path, content, session.redactor):
            return {"size": size}  # which secret it is could be tried out by a hash
        _keep(hash, size)
    return {"size": size, "blob": _store(hash, content, session)}


def read(path: Any, real: Callable[..., Any]) -> tuple[bytes | None, Any]:
    """The content of a file that is not too large, and its size; in the place of that None where nothing is,
    and OTHER."""
    try:
        found = os.stat(path)  # noqa: PTH116
        if not stat.S_ISREG(found.st_mode):
            return None, OTHER
        if found.st_size > MOST_HASHED:
            return None, found.st_size
        with real(path, "rb") as file:
            content = file.read()
        return content, len(content)
    except FileNotFoundError:
        return None, None
    except OSError:
        return None, OTHER


def _holds_secret(path: Any, content: bytes, redactor: Redactor) -> bool:
    """What is redacted would be no content to go by."""
    if _SECRET.search(os.fsdecode(path)):
        return True
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    return redactor.text(text) != text


def _keep(hash: str, size: int) -> None:
    global _size
    _kept.add(hash)
    _size += size


def _store(hash: str, content: bytes, session: LCTLSession) -> str:
    """Record it, once. (An event ends a batch of reads.)"""
    conversations = recording_of(session).conversations
    if conversations.has_blob(hash):
        return hash
    blob, frame = blob_of(content, None), session.frame()

    def build(_: int) -> list[Any]:
        return [("blob", frame.agent, blob, frame.step)] if conversations.note_blob(hash) else []

    session.emit_many(build)
    return hash


def is_as(value: Any, path: Any, real: Callable[..., Any]) -> bool:
    """Whether the file is now what it was when that value was recorded."""
    content, size = read(path, real)
    if not isinstance(value, dict) or size != value.get("size"):
        return size is None and value is None
    known = value.get("blob") or value.get("hash")
    return content is None or known is None or digest_of(content, "") == known


def stored_again(value: Any) -> Any:
    """That value of a recording, whose content comes into the log of its rerun, too."""
    from lctl.instrument.ambient import reads

    content, session = kept(value), reads.session_here()
    if content is not None and session is not None:
        _store(str(value["blob"]), content, session)
    return value


def kept(value: Any) -> bytes | None:
    """The content that a recording has, as a rerun asks for it."""
    player = border.player()
    if player is None or not isinstance(value, dict) or "blob" not in value:
        return None
    return player.kept(str(value["blob"]))


def nameless(content: bytes) -> Any:
    """A file of that content, to be read, which nobody else finds."""
    import io

    return opened(io.open, content, "", "rb", 0)


def opened(original: Callable[..., Any], content: bytes, name: Any, *how: Any) -> Any:
    """What `original`, which opens files, gives for one of that name and content."""
    import tempfile

    # Not by its own functions: the names it draws are the program's.
    path = os.path.join(tempfile.gettempdir(), f"lctl-{os.getpid()}-{next(_names)}")  # noqa: PTH118
    with original(path, "xb") as kept:
        kept.write(content)
    file = original(path, *how)
    if os.name == "posix":
        os.unlink(path)  # noqa: PTH108
    raw: Any = file
    for inner in ("buffer", "raw"):
        raw = getattr(raw, inner, raw)
    raw.name = name
    return file


def found(path: str) -> Any:
    """The value of a `there` read: `[size, ns]` of a file, and of when it was written; None; OTHER."""
    try:
        seen = os.stat(path)  # noqa: PTH116
    except FileNotFoundError:
        return None
    except OSError:
        return OTHER
    return [seen.st_size, seen.st_mtime_ns] if stat.S_ISREG(seen.st_mode) else OTHER


def is_found(value: Any) -> bool:
    """Whether that is what `found` gives for a file."""
    return isinstance(value, list) and len(value) == 2 and all(type(part) is int for part in value)


def stat_of(path: Any, real: Callable[..., os.stat_result], size: int, at: int) -> os.stat_result:
    """Of a file of that size, written then, and else what `real` says of it, if it is there."""
    try:
        told: tuple[Any, ...] = tuple(real(path))
    except OSError:
        told = (stat.S_IFREG | 0o644, 0, 0, 1, os.getuid() if hasattr(os, "getuid") else 0, 0)
    seconds = at // 10**9
    times = {f"st_{name}time": seconds + 1e-9 * (at % 10**9) for name in "amc"}
    exact = {f"st_{name}time_ns": at for name in "amc"}
    return os.stat_result((*told[:6], size, *[seconds] * 3), {**times, **exact})


def key_of(path: str) -> str:
    """A path as it is in every run: the program, and temporary files, may lie elsewhere in another."""
    path = jsonable.text(path)
    if not os.path.isabs(path):  # noqa: PTH117
        return path
    for prefix, folder in _folders():
        if path == folder:
            return f"{prefix}."
        if folder and path.startswith(folder + os.sep):
            return prefix + path[len(folder) + 1 :]
    return path


def _folders() -> Iterator[tuple[str, str]]:
    """Those that paths are told from."""
    try:
        yield "", os.getcwd()  # noqa: PTH109
    except OSError:  # it is gone
        pass
    program = getattr(sys.modules.get("__main__"), "__file__", None)
    if isinstance(program, str):
        yield "program:", os.path.dirname(program)  # noqa: PTH120
    for folder in temporary():
        yield TEMPORARY, folder


def temporary() -> Iterator[str]:
    """Where temporary files are. A rerun has a folder of its own for them; what lies where they are else is
    as it was."""
    drawn = getattr(sys.modules.get("tempfile"), "tempdir", None)
    for folder in (drawn, os.environ.get("TMPDIR"), _TEMPORARY, os.sep + "tmp"):
        if folder:
            yield str(folder)
