"""Who may come in: a file of names with hashed passwords and tokens, and a token of the environment.

A line is `name:scrypt:n:r:p:salt:hash` or `name:token:hash`. The file is read again whenever it changes, so
that who is taken out of it is out.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import threading
from pathlib import Path
from typing import NamedTuple

from lctl.errors import UsageError

TOKEN = "LCTL_SERVE_TOKEN"
#: Name of who has the token of the environment.
TOKEN_NAME = "token"
_N, _R, _P = 1 << 15, 8, 1  # 32 MB and some 60 ms
_MEMORY = 1 << 28
_SHORTEST = 12  # characters of a token of the environment


class Account(NamedTuple):
    """One who may come in. `kind`: scrypt or token; `secret`: what follows it in the line."""

    name: str
    kind: str
    secret: str

    @property
    def mark(self) -> str:
        """Changes with the password: a cookie of before is no longer good then."""
        return hashlib.sha256(f"{self.kind}:{self.secret}".encode()).hexdigest()[:16]

    def accepts(self, given: str) -> bool:
        if self.kind == "token":
            return hmac.compare_digest(_digest(given), self.secret)
        n, r, p, salt, known = self.secret.split(":")
        return hmac.compare_digest(_scrypt(given, bytes.fromhex(salt), int(n), int(r), int(p)).hex(), known)


class Accounts:
    """Those of a file and of the environment.

    Raises:
        UsageError: the file cannot be read, or a line of it is none.
    """

    def __init__(self, path: Path | None, token: str = "") -> None:
        if token and len(token) < _SHORTEST:
            raise UsageError(f"{TOKEN} is shorter than {_SHORTEST} characters: make one with --add-token")
        self._path = path
        self._fixed = [Account(TOKEN_NAME, "token", _digest(token))] if token else []
        self._lock = threading.Lock()
        self._stamp: tuple[int, int] | None = None
        self._known: dict[str, Account] = {}
        self._nobody = Account("", "scrypt", _of(secrets.token_bytes(16), secrets.token_bytes(32)))
        self._read()

    def __len__(self) -> int:
        return len(self._read())

    def named(self, name: str) -> Account | None:
        return self._read().get(name)

    def signed_in(self, name: str, password: str) -> Account | None:
        """Who that is. It takes as long for a name that is not known."""
        found = self.named(name)
        accepted = (found or self._nobody).accepts(password)
        return found if accepted else None

    def of_token(self, token: str) -> Account | None:
        """Who has this token."""
        found = None
        for account in self._read().values():
            if account.kind == "token" and account.accepts(token):
                found = account
        return found

    def _read(self) -> dict[str, Account]:
        with self._lock:
            stamp = self._stamped()
            if stamp != self._stamp or not self._known:
                known = {account.name: account for account in self._fixed}
                if self._path is not None and stamp is not None:
                    known.update((account.name, account) for account in read(self._path))
                self._known, self._stamp = known, stamp
            return self._known

    def _stamped(self) -> tuple[int, int] | None:
        if self._path is None:
            return None
        try:
            status = self._path.stat()
        except OSError as error:
            if self._stamp is None:
                what = (error.strerror or str(error)).lower()
                raise UsageError(
                    f"{self._path}: {what}; make it with: lctl serve --users {self._path} --add-user NAME"
                ) from None
            return (0, 0)  # it is gone: so is everybody in it
        return status.st_mtime_ns, status.st_size


def read(path: Path) -> list[Account]:
    """The accounts of a file.

    Raises:
        UsageError: a line is none.
    """
    found: list[Account] = []
    try:
        lines = path.read_text("utf-8").splitlines()
    except FileNotFoundError:
        return found
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {error}") from None
    for n, line in enumerate(lines, 1):
        if line.strip() and not line.startswith("#"):
            found.append(_account(line.strip(), f"{path}, line {n}"))
    return found


def _account(line: str, where: str) -> Account:
    name, _, rest = line.partition(":")
    kind, _, secret = rest.partition(":")
    parts = secret.split(":")
    numbers = kind == "scrypt" and len(parts) == 5 and all(part.isdigit() for part in parts[:3])
    hexes = parts[3:] if kind == "scrypt" else parts
    try:
        good = all(bytes.fromhex(part) for part in hexes) and bool(hexes)
    except ValueError:
        good = False
    if not name or not good or not (numbers or (kind == "token" and len(parts) == 1)):
        raise UsageError(f"{where}: not an account; 'lctl serve --users FILE --add-user NAME' writes them")
    return Account(name, kind, secret)


def add_user(path: Path, name: str, password: str) -> None:
    """Write a name and the hash of its password; in place of what the name had.

    Raises:
        UsageError: it cannot be a name, the password is empty, or the file cannot be written.
    """
    if not password:
        raise UsageError("a password has at least one character")
    _put(path, Account(_name(name), "scrypt", _made(password)))


def add_token(path: Path, name: str) -> str:
    """Make a token for a program and write its hash; the token, which is nowhere else.

    Raises:
        UsageError: as `add_user`.
    """
    token = secrets.token_urlsafe(32)
    _put(path, Account(_name(name), "token", _digest(token)))
    return token


def remove(path: Path, name: str) -> bool:
    """Take a name out; whether it was in."""
    kept = [one for one in read(path) if one.name != name]
    gone = len(kept) < len(read(path))
    if gone:
        _write(path, kept)
    return gone


def _put(path: Path, account: Account) -> None:
    _write(path, [*(one for one in read(path) if one.name != account.name), account])


def _write(path: Path, accounts: list[Account]) -> None:
    text = "".join(f"{one.name}:{one.kind}:{one.secret}\n" for one in accounts)
    made = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        fd = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        made.replace(path)
    except OSError as error:
        made.unlink(missing_ok=True)
        raise UsageError(f"{path}: {(error.strerror or str(error)).lower()}") from None


def _name(name: str) -> str:
    if not name or len(name) > 64 or not name.isprintable() or set(name) & set(":#") or name != name.strip():
        raise UsageError(f"{name!r}: a name has 1 to 64 characters, without ':' and '#'")
    return name


def _made(password: str) -> str:
    salt = secrets.token_bytes(16)
    return _of(salt, _scrypt(password, salt, _N, _R, _P))


def _of(salt: bytes, derived: bytes) -> str:
    return f"{_N}:{_R}:{_P}:{salt.hex()}:{derived.hex()}"


def _scrypt(password: str, salt: bytes, n: int, r: int, p: int) -> bytes:
    given = password.encode("utf-8", "replace")
    return hashlib.scrypt(given, salt=salt, n=n, r=r, p=p, maxmem=_MEMORY, dklen=32)


def _digest(token: str) -> str:
    """Of a long random token a plain hash tells nothing."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
