"""Long runs of a store, each in a temporary file while it is looked at: to go through a million events takes
seconds there, and minutes by a connection.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
import threading
from hashlib import sha256
from pathlib import Path

from lctl.errors import UsageError
from lctl.stores.contract import ChainStore, Entry
from lctl.stores.fetching import fetch


class Spool:
    """Args:
    folder: of another process, which fills it; None: one of its own, gone with this process.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._own = folder is None
        self._lock = threading.Lock()

    @property
    def folder(self) -> Path:
        with self._lock:
            if self._folder is None:
                self._folder = Path(tempfile.mkdtemp(prefix="lctl-serve-"))
                atexit.register(shutil.rmtree, self._folder, ignore_errors=True)
            return self._folder

    def bring(self, store: ChainStore, entry: Entry) -> Path:
        """The file of a chain, with all that the chain holds now."""
        path = self._path(entry.id)
        if self._own:
            with self._lock:  # one at a time: each takes the store's connection for seconds
                try:
                    fetch(store, entry, path)
                except UsageError:  # another chain is there by this id now
                    path.unlink(missing_ok=True)
                    fetch(store, entry, path)
        return path

    def drop(self, chain_id: str) -> None:
        """It is not looked at any more."""
        if self._own and self._folder is not None:
            try:
                self._path(chain_id).unlink(missing_ok=True)
            except OSError:
                pass  # a system that removes no open file: it goes with the folder

    def _path(self, chain_id: str) -> Path:
        return self.folder / f"{sha256(chain_id.encode()).hexdigest()[:24]}.lctl.json"
