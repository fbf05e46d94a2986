"""`lctl debug`: a run, or a folder of them, in the browser."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lctl.cli.options import target

if TYPE_CHECKING:
    from lctl.debugger.catalogue import Catalogue


@click.command()
@target()
@click.option("--store", metavar="STORE", help="The store TARGET is in (default: LCTL_STORE).")
@click.option("--at", type=int, metavar="N", help="Begin at event N.")
@click.option(
    "--port", type=click.IntRange(0, 65535), metavar="PORT", help="Listen there (default: 4285, or any)."
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="Listen there; any other than this machine's own is for networks you trust.",
)
@click.option("--no-browser", is_flag=True, help="Print the link and open nothing.")
@click.option("--allow-run", is_flag=True, help="Let the page run forks it has prepared.")
def debug(
    target: str,
    store: str | None,
    at: int | None,
    port: int | None,
    host: str,
    no_browser: bool,
    allow_run: bool,
) -> None:
    """Open TARGET in the browser: scrub, look, branch, compare.

    TARGET is a log, also one that is being recorded, or a folder of them; `last` is the newest recording or
    fork, and passes reruns over. Without any recorded run, the folder is watched until there is one. A run
    in a store is read there (with --allow-run, pulled to a file); RUN+ is a run with all that it started. The
    page is served to this machine alone, to who has the link; it asks nothing of the network. Ctrl-C ends it.
    """
    from lctl.debugger.catalogue import of_target
    from lctl.debugger.serving import Server, application, bind, link, serve

    stored = _stored(target, store, allow_run)
    path, folders = _place(target) if stored is None else (None, [])
    whole = target.endswith("+") and not Path(target).exists()
    server = Server(stored or of_target(path, folders, whole=whole), allow_run=allow_run)
    if path is not None and path.is_file() and not whole:
        server.runs.open(None).read_ahead()
    server.runs.prices.start()
    listening = bind(host, port)
    where = listening.getsockname()[1]
    app = application(server, where, host)
    url = link(app, host, where, server.runs.default, at)
    sys.stdout.write(f"{url}\n")
    sys.stdout.flush()
    if host not in ("127.0.0.1", "localhost", "::1"):
        sys.stderr.write(f"lctl: listening on {host}: whoever has the link can read the logs\n")
    sys.stderr.write("lctl: Ctrl-C ends the debugger\n")
    if not no_browser:
        _browse(link(app, host, where, server.runs.default, at, once=True))
    serve(app, listening)


def _stored(target: str, store: str | None, allow_run: bool) -> Catalogue | None:
    """The runs of the store that TARGET is in."""
    import os

    from lctl.cli.stored import target_in
    from lctl.elsewhere import is_elsewhere

    if store is None and not os.environ.get("LCTL_STORE") and not is_elsewhere(target):
        return None
    address = target_in(target, store)
    if address is None or address.scheme == "file" or (allow_run and store is None):
        return None
    from lctl.debugger.shared.storeruns import StoreRuns

    return StoreRuns(address, waiting=target == "last")


def _place(target: str) -> tuple[Path | None, list[Path]]:
    """The path a target names; of 'last', where there is no run yet, the folders runs will be in."""
    from lctl.cli.runs import folders
    from lctl.cli.target import resolve
    from lctl.errors import LogNotFound

    if target.endswith("+") and not Path(target).exists():
        target = target[:-1] or "last"
    try:
        return resolve(target, reruns=False), []
    except LogNotFound:
        if target != "last":
            raise
        return None, folders() or [Path(".lctl")]


def _browse(url: str) -> None:
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
