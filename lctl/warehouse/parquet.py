"""Logs as Parquet: a file, or a dataset partitioned by day, on disk, on S3 or on Google Cloud Storage."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

import orjson

from lctl.codec.lines import encode_value
from lctl.errors import LctlError, LogError, MissingExtra
from lctl.events import VERSION, Event
from lctl.filenames import file_name
from lctl.warehouse.schema import COLUMNS, rows

if TYPE_CHECKING:
    import pyarrow as pa

#: Events of one row group.
_GROUP = 20_000
_SILENT = logging.NullHandler()
#: Stores of objects: they have no folders, and to "make" one may make a bucket of that name.
_OBJECTS = frozenset({"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "oss", "oci", "r2"})


class Log(Protocol):
    """An opened log."""

    @property
    def chain(self) -> Mapping[str, Any]: ...

    @property
    def id(self) -> str: ...

    def events(self, start: int = ..., stop: int | None = ...) -> Iterator[Event]: ...


def arrow() -> Any:
    """The module `pyarrow`.

    Raises:
        MissingExtra: it is not installed.
    """
    try:
        import pyarrow
    except ImportError:
        raise MissingExtra("Parquet", "parquet") from None
    return pyarrow


def arrow_schema() -> pa.Schema:
    """The columns as Arrow has them; each field says what it holds."""
    pa = arrow()
    types = {
        "text": pa.string(),
        "integer": pa.int64(),
        "number": pa.float64(),
        "time": pa.timestamp("us", tz="UTC"),
    }
    fields = [pa.field(one.name, types[one.type], metadata={"comment": one.about}) for one in COLUMNS]
    return pa.schema(fields, metadata={"lctl": VERSION})


def batches(log: Log, size: int = _GROUP) -> Iterator[pa.RecordBatch]:
    """The events of a log as Arrow, that many at a time."""
    pa = arrow()
    schema = arrow_schema()
    told = rows(log.events(), log.chain)
    while some := list(islice(told, size)):
        columns = [
            pa.array(values, field.type)
            for values, field in zip(zip(*some, strict=True), schema, strict=True)
        ]
        yield pa.record_batch(columns, schema=schema)


def write_file(logs: Iterable[Log], place: str) -> int:
    """Write logs into one Parquet file at a path or URL, which is replaced; how many events there were.

    Raises:
        MissingExtra: pyarrow, or the file system of the URL, is not installed.
        LogError: it cannot be written.
    """
    filesystem, path = filesystem_of(place)
    return _write(logs, filesystem, path, place)


def write_dataset(logs: Iterable[Log], root: str) -> int:
    """Write each log into a folder, as `date=2026-01-31/<chain id>.parquet`; how many events there were.

    The date is that of a run's first event (`unknown` without one). A run written again replaces itself.

    Raises:
        MissingExtra, LogError: as `write_file`.
    """
    filesystem, path = filesystem_of(root)
    count = 0
    for log in logs:
        first = next(iter(log.events()), None)
        day = first.timestamp[:10] if first is not None and first.timestamp else "unknown"
        place = f"{path.rstrip('/')}/date={day}/{file_name(log.id, empty='run')}.parquet"
        count += _write([log], filesystem, place, root)
    return count


def _write(logs: Iterable[Log], filesystem: Any, path: str, place: str) -> int:
    """Whole or not at all: an object is seen when it is complete, a file gets its name then."""
    with refusals(place, "written"):
        if _OBJECTS & _protocols(filesystem):
            file = filesystem.open(path, "wb", autocommit=False)
            try:
                count = _write_file(logs, file)
                file.close()
            except BaseException:
                file.discard()
                raise
            file.commit()
            return count
        folder, slash, name = path.rpartition("/")
        if slash:
            filesystem.makedirs(folder, exist_ok=True)
        part = f"{folder}{slash}.{name}.part"
        with filesystem.open(part, "wb") as file:
            count = _write_file(logs, file)
        filesystem.mv(part, path)
        return count


def _write_file(logs: Iterable[Log], file: Any) -> int:
    from pyarrow import parquet

    count = 0
    with parquet.ParquetWriter(file, arrow_schema(), compression="zstd") as writer:
        for log in logs:
            for batch in batches(log):
                writer.write_batch(batch)
                count += batch.num_rows
            header = encode_value(dict(log.chain), option=orjson.OPT_NON_STR_KEYS).decode()
            writer.add_key_value_metadata({f"chain:{log.id}": header})
    return count


@contextmanager
def refusals(place: str, done: str) -> Iterator[None]:
    """What a file system refuses, in our words. Those of clouds have errors of their own, which are any.

    Raises:
        LogError: it cannot be `done` (written, read).
    """
    try:
        yield
    except LctlError:
        raise
    except OSError as error:
        raise LogError(f"{place}: cannot be {done} ({(error.strerror or str(error)).lower()})") from None
    except Exception as error:
        if "://" not in place:
            raise
        said = " ".join((str(error) or type(error).__name__).split())
        raise LogError(f"{place}: cannot be {done} ({type(error).__name__}: {said[:300]})") from None


def _protocols(filesystem: Any) -> set[str]:
    named = filesystem.protocol
    return {named} if isinstance(named, str) else set(named)


def filesystem_of(place: str, own: bool = False) -> tuple[Any, str]:
    """The file system of a path or URL, and the path in it.

    Args:
        own: one that nobody else in the process has.
    """
    arrow()
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise MissingExtra("Parquet", "parquet") from None
    for package in ("s3fs", "gcsfs", "adlfs"):  # what they log is said by their errors
        logging.getLogger(package).addHandler(_SILENT)
    try:
        filesystem, path = url_to_fs(place, **({"skip_instance_cache": True} if own else {}))
    except ImportError as error:  # s3fs, gcsfs: each its own package
        raise LogError(f"{place}: {str(error).partition(chr(10))[0]}") from None
    except ValueError as error:
        raise LogError(f"{place}: {error}") from None
    return filesystem, str(path)
