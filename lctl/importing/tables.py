"""Rows of a Parquet file, as data sets come."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from typing import Any

from lctl.errors import MissingExtra, NotImportable

MAGIC = b"PAR1"


def rows_of(data: bytes, name: str) -> Iterator[dict[str, Any]]:
    """Each row; what is null in it is not there: a column has a value for each row, and a message each key
    that one of the messages has.

    Raises:
        MissingExtra: pyarrow is not installed.
        NotImportable: it cannot be read.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra(f"{name}: reading Parquet", "parquet") from None
    try:
        for batch in pq.ParquetFile(io.BytesIO(data)).iter_batches():
            yield from map(_told, batch.to_pylist())
    except (pa.ArrowException, OSError) as error:
        raise NotImportable(f"{name}: a Parquet file that cannot be read ({error})") from None


def _told(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _told(one) for key, one in value.items() if one is not None}
    if isinstance(value, list | tuple):
        return [_told(one) for one in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value if value is None or isinstance(value, str | int | float) else str(value)
