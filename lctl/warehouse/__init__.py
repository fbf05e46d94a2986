"""Fleets of runs in a warehouse: logs as Parquet, one row an event, and SQL over many of them.

    from lctl.warehouse import query_logs, write_dataset
    query_logs([".lctl/*.json"], "SELECT model, sum(input_tokens) FROM steps GROUP BY model")

The columns are in `schema`, the tables made of them in `views`; both are plain SQL and Arrow, so that Spark,
Trino, ClickHouse or BigQuery see the same.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lctl.facts.sandbox import Answer
    from lctl.warehouse.parquet import write_dataset, write_file
    from lctl.warehouse.querying import query_logs

_HOMES = {
    "Answer": "lctl.facts.sandbox",
    "query_logs": "lctl.warehouse.querying",
    "write_dataset": "lctl.warehouse.parquet",
    "write_file": "lctl.warehouse.parquet",
}

__all__ = ["Answer", "query_logs", "write_dataset", "write_file"]


def __getattr__(name: str) -> "Any":
    from importlib import import_module

    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'lctl.warehouse' has no attribute {name!r}")
    return getattr(import_module(home), name)
