"""The file `name.lctl.json` while it is being written (ARCHITECTURE section 4).

    {"lctl":"4.0","chain":{"id":"..."},"events":[
    {"seq":1,...},
    {"seq":2,...}
    ],"state":{...},"summary":{...},"hash":{...}}

An append is one `write` to an O_APPEND descriptor, so it is in the kernel before `append` returns and
survives the death of the process. The comma goes in front of every line but the first.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import orjson

from lctl import elsewhere
from lctl.codec.journal import beside, scan_end
from lctl.errors import RecordingError, UsageError
from lctl.record.openjournal import OpenJournal

if TYPE_CHECKING:
    from lctl.record.flusher import Flusher

Durability = Literal["process", "buffered", "power"]

_DURABILITIES = ("process", "buffered", "power")
#: Buffered bytes that make an append write them itself, and those beyond which nothing more is taken
#: while the disk refuses.
_BUFFER = 1 << 17
_BUFFER_LIMIT = 1 << 22

_write = os.write


class JournalStore(OpenJournal):
    """Appends to one log file; `durability` says what `append` has done when it returns.

    "process": the event is in the kernel (survives a killed process). "buffered": it is in memory, and
    in the kernel at most 100 ms later. "power": it is on the disk.

    An existing log is gone on with: its tail is removed, a torn last line cut off.

    Attributes:
        astray: what became of the file while it was written, known once it is closed. It is not put back
            where it was: who removed it may have wanted that.
    """

    astray: Literal["", "removed", "moved"] = ""

    def __init__(
        self,
        path: str | Path,
        chain: dict[str, Any] | None = None,
        *,
        durability: Durability = "process",
        adopt: bool = False,
    ) -> None:
        """Open or create the log.

        Args:
            chain: the header's `chain`. An existing log keeps its own, which must have the same id ...
            adopt: ... unless this is True.

        Raises:
            LogLocked: another process is writing this log.
            NotALog: the file exists and is something else.
            UsageError: the file holds another chain than the one asked for.
            RecordingError: the file cannot be created or opened.
        """
        if durability not in _DURABILITIES:
            raise UsageError(f"durability={durability!r}: it is one of {', '.join(_DURABILITIES)}")
        self.path = Path(path)
        self.lock = threading.RLock()
        self.chain: dict[str, Any] = chain or {}
        self._place = os.path.abspath(path)  # noqa: PTH100  (the host may change directory)
        self._syncing = durability == "power"
        self._pending = bytearray()
        self._at = 0  # where in the file `_pending` begins
        self._glue = b"\n"
        self._begin = 0
        self._flusher: Flusher | None = None
        self._adopts = adopt
        self._fd: int | None = self._open()
        if durability == "buffered":
            self.append = self._append_buffered  # type: ignore[method-assign]
        elif durability == "power":
            self.append = self._append_synced  # type: ignore[method-assign]
        self._take_streams()

    @property
    def where(self) -> str:
        return str(self.path)

    @property
    def place(self) -> str:
        """The file, by its absolute path."""
        return self._place

    def _take_streams(self) -> None:
        """Take in what came of the streams that an earlier program left open when it died."""
        streams = beside(self._place)
        if elsewhere.revives is None or not os.path.exists(streams):  # noqa: PTH110
            return
        lines = elsewhere.revives(streams, self.last_seq, self.read, True)
        if lines:
            self.append(b",\n".join(lines), len(lines))
        try:
            os.unlink(streams)  # noqa: PTH108
        except OSError:
            pass

    # -- writing ---------------------------------------------------------------------------

    def append(self, block: bytes, count: int = 1) -> None:
        whole = self._glue + block
        try:
            done = _write(self._fd, whole)  # type: ignore[arg-type]  # closed: see _settle
            if done != len(whole):
                self._write_whole(self._fd, whole, done)  # type: ignore[arg-type]
            self._glue = b",\n"
        except BaseException as error:
            if self._is_open_again(error):
                return self.append(block, count)
            self._settle(error)

    def _append_synced(self, block: bytes, count: int = 1) -> None:
        """`append` for durability "power"."""
        whole = self._glue + block
        try:
            self._write_whole(self._fd, whole)  # type: ignore[arg-type]
            os.fdatasync(self._fd)  # type: ignore[arg-type]
            self._glue = b",\n"
        except BaseException as error:
            if self._is_open_again(error):
                return self._append_synced(block, count)
            self._settle(error)

    def _append_buffered(self, block: bytes, count: int = 1) -> None:
        """`append` for durability "buffered"."""
        pending = self._pending
        if not pending or len(pending) > _BUFFER:
            self._make_room()
        pending += self._glue
        pending += block
        self._glue = b",\n"

    def _make_room(self) -> None:
        """Before an append to a buffer that is empty or full."""
        if self._fd is None:
            raise RecordingError(f"{self.path}: the log is closed")
        if self._pending:
            try:
                self.flush()
            except RecordingError:
                if len(self._pending) > _BUFFER_LIMIT:
                    raise  # a full disk: until then the flusher tries again
                return
        self._at = self._length()
        if self._flusher is None:
            from lctl.record.flusher import Flusher

            self._flusher = Flusher(self)
        self._flusher.wake()

    def _settle(self, error: BaseException) -> NoReturn:
        """After a failed append: leave whole events only in the file (`last_seq` then says which).

        An exception of the host (KeyboardInterrupt) may arrive after the bytes did: then they stay.
        """
        if self._fd is None:
            raise RecordingError(f"{self.path}: the log is closed") from error
        os.ftruncate(self._fd, scan_end(self._fd, self._place).events_end)
        if isinstance(error, OSError):
            raise self._refused(error) from error
        raise error

    def flush(self) -> None:
        """Write what is buffered.

        Raises:
            RecordingError: the disk refused; the events are kept and tried again.
        """
        with self.lock:
            if self._fd is None or not self._pending:
                return
            # An interrupt may have come after an earlier write, before the buffer was emptied.
            done = self._length() - self._at
            try:
                self._write_whole(self._fd, self._pending, done)
            except OSError as error:
                os.ftruncate(self._fd, self._at)
                raise self._refused(error) from error
            self._pending.clear()

    # -- the end ---------------------------------------------------------------------------

    def close(self, tail: dict[str, Any] | None = None) -> None:
        """Write the tail, with the hash of the events, in one write; let the log go. Idempotent.

        Raises:
            RecordingError: the tail could not be written; the log stays open-ended and readable.
        """
        with self.lock:
            if self._fd is None:
                return
            try:
                self._length()
                self.flush()
                self._write_tail(self._fd, tail or {})
                self.astray = self._strayed(self._fd)
            finally:
                if self._flusher is not None:
                    self._flusher.stop()
                self.forget()

    def _write_tail(self, fd: int, tail: dict[str, Any]) -> None:
        rolled = self._rolled()
        digest = {"algorithm": "sha256", "events": rolled.hexdigest(), "count": rolled.count}
        body = orjson.dumps({**tail, "hash": digest}, option=orjson.OPT_NON_STR_KEYS)
        before = os.fstat(fd).st_size
        try:
            self._write_whole(fd, b"\n]," + body[1:] + b"\n")
            if self._syncing:
                os.fsync(fd)
        except OSError as error:
            os.ftruncate(fd, before)
            raise self._refused(error) from error

    def forget(self) -> None:
        """Let go of the file as it stands. In a forked child, which has made `lock` anew: what the parent
        buffered, it will write."""
        with self.lock:
            self._pending = bytearray()
            self._flusher = None
            self._writer.release()
            if self._fd is not None:
                try:
                    self.ending()
                finally:
                    fd, self._fd = self._fd, None
                    try:
                        os.close(fd)
                    except OSError:
                        pass  # the program did
