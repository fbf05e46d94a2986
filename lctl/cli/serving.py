"""`lctl serve`: the debugger for a team."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import click

from lctl.errors import UsageError

if TYPE_CHECKING:
    from lctl.debugger.catalogue import Catalogue
    from lctl.debugger.shared.accounts import Accounts

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_FILE = click.Path(path_type=Path, dir_okay=False)


class Place(NamedTuple):
    """Where it is served, and under which addresses."""

    host: str
    port: int | None
    urls: tuple[str, ...]
    certificate: Path | None
    key: Path | None
    plain: bool


@click.command()
@click.argument("target", default="", required=False)
@click.option("--store", metavar="STORE", help="The store to show: sqlite:///FILE, postgresql://HOST/DB.")
@click.option("--users", type=_FILE, metavar="FILE", help="Who may come in.")
@click.option("--add-user", metavar="NAME", help="Put NAME into --users; asks for a password.")
@click.option("--add-token", metavar="NAME", help="Put a token for a program into --users, and print it.")
@click.option("--remove-user", metavar="NAME", help="Take NAME out of --users.")
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Listen there.")
@click.option("--port", type=click.IntRange(0, 65535), metavar="PORT", help="Listen there (default: 4285).")
@click.option("--url", "urls", multiple=True, metavar="URL", help="The address people use; again for others.")
@click.option("--cert", "certificate", type=_FILE, metavar="FILE", help="Serve TLS with this certificate.")
@click.option("--key", type=_FILE, metavar="FILE", help="Its key, where that is another file.")
@click.option("--allow-http", is_flag=True, help="Let passwords cross a network you trust without TLS.")
def serve(
    target: str,
    store: str | None,
    users: Path | None,
    add_user: str | None,
    add_token: str | None,
    remove_user: str | None,
    **place: Any,
) -> None:
    """Serve the debugger to a team, to be read: nothing can be run or changed from it.

    TARGET is a folder of logs, or a store (perhaps with #RUN); without it, LCTL_STORE or the folder runs are
    kept in. Who may come in is in the file --users, and who has the token in LCTL_SERVE_TOKEN. Without
    either it is served to this machine alone, to who has the link.
    """
    if add_user or add_token or remove_user:
        _keep_book(users, add_user, add_token, remove_user)
        return
    from lctl.debugger.serving import Server

    place["plain"] = place.pop("allow_http")
    known = Place(**place)
    runs = _runs(target, store)
    _serve(Server(runs, shared=True), users, known)


def _keep_book(users: Path | None, user: str | None, token: str | None, gone: str | None) -> None:
    from lctl.debugger.shared import accounts

    if users is None:
        raise UsageError("which file? give --users FILE")
    if user is not None:
        accounts.add_user(users, user, _password())
        sys.stderr.write(f"lctl: {user} may come in with that password ({users})\n")
    if token is not None:
        made = accounts.add_token(users, token)
        sys.stdout.write(f"{made}\n")
        sys.stderr.write(f"lctl: the token of {token}, shown this once: Authorization: Bearer ...\n")
    if gone is not None:
        if not accounts.remove(users, gone):
            raise UsageError(f"{users}: there is no {gone!r} in it")
        sys.stderr.write(f"lctl: {gone} may no longer come in\n")


def _password() -> str:
    """Asked for twice on a terminal; else the first line of the input."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    asked: str = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    return asked


def _runs(target: str, store: str | None) -> Catalogue:
    """What is served.

    Raises:
        UsageError: both a folder and a store are named.
    """
    import os

    from lctl.debugger.catalogue import of_target
    from lctl.debugger.shared.storeruns import StoreRuns
    from lctl.stores.address import is_address, parse

    if target and store:
        known = parse(store)
        if known.chain:
            raise UsageError(f"{known}: names a run already; give no TARGET")
        return StoreRuns(known.at(target))
    text = target or store or os.environ.get("LCTL_STORE", "").strip()
    if is_address(text):
        known = parse(text)
        return of_target(Path(known.place), []) if known.scheme == "file" else StoreRuns(known)
    if store:
        parse(store)  # says what stores are
    if text:
        if not Path(text).exists():
            raise UsageError(f"{text}: no such folder or log; a store is written sqlite:///FILE")
        return of_target(Path(text), [])
    from lctl.cli.runs import folders

    return of_target(None, folders() or [Path(".lctl")])


def _serve(server: Any, users: Path | None, place: Place) -> None:
    import os

    from lctl.debugger.serving import application, bind, link, rooms
    from lctl.debugger.serving import serve as run
    from lctl.debugger.shared.accounts import TOKEN, Accounts

    token = os.environ.get(TOKEN, "").strip()
    accounts = Accounts(users, token) if users is not None or token else None
    _check(place, accounts)
    listening = bind(place.host, place.port)
    port = listening.getsockname()[1]
    app: Any
    if accounts is None:
        app = application(server, port, place.host)
        shown = link(app, place.host, port, server.runs.default)
    else:
        from lctl.debugger.shared.door import Door

        origins = _origins(place, port)
        app = Door(rooms(server), accounts=accounts, origins=origins)
        shown = f"{origins[0]}/"
    sys.stdout.write(f"{shown}\n")
    sys.stdout.flush()
    sys.stderr.write("lctl: Ctrl-C ends the server\n")
    signal.signal(signal.SIGTERM, _end)
    files = [str(one) if one is not None else None for one in (place.certificate, place.key)]
    run(app, listening, certificate=files[0], key=files[1])


def _end(*_: object) -> None:
    """What a service manager asks for: the end, with what is temporary taken away. The server ends by itself,
    and then raises the signal again."""
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        raise SystemExit(0) from None


def _check(place: Place, accounts: Accounts | None) -> None:
    """Raises UsageError: it would be open to who should not read the logs, or not be reached."""
    local = place.host in _LOOPBACK
    if accounts is not None and not len(accounts):
        raise UsageError("nobody may come in: 'lctl serve --users FILE --add-user NAME' lets somebody")
    if accounts is None and (not local or place.urls):
        raise UsageError(
            f"beyond this machine ({place.urls[0] if place.urls else place.host}) the logs are for those who "
            "may read them: give --users FILE (made with --add-user NAME), or set LCTL_SERVE_TOKEN"
        )
    for file in (place.certificate, place.key):
        if file is not None and not file.is_file():
            raise UsageError(f"{file}: no such file")
    if place.certificate is None and place.key is not None:
        raise UsageError("--key goes with --cert FILE")
    for url in place.urls:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc or parts.path not in ("", "/"):
            raise UsageError(f"--url {url}: an address is https://NAME or https://NAME:PORT, without a path")
    if place.host in ("0.0.0.0", "::", "") and not place.urls:
        raise UsageError(
            f"--host {place.host or '::'}: by which address do people reach it? give --url https://NAME"
        )
    secure = place.certificate is not None or all(url.startswith("https:") for url in place.urls or ("",))
    if not secure and not (local and not place.urls) and not place.plain:
        raise UsageError(
            "passwords and logs would cross the network readable: give --cert FILE, or --url https://NAME of "
            "the proxy before it; on a network you trust, --allow-http"
        )


def _origins(place: Place, port: int) -> tuple[str, ...]:
    """The addresses it is reached by."""
    if place.urls:
        return tuple(url.rstrip("/").lower() for url in place.urls)
    scheme = "http" if place.certificate is None else "https"
    names = ["127.0.0.1", "localhost", "[::1]"] if place.host in _LOOPBACK else []
    name = f"[{place.host}]" if ":" in place.host else place.host
    return tuple(f"{scheme}://{one}:{port}" for one in dict.fromkeys([name, *names]))
