"""Runs that cross processes and machines: a tree of chains, each linked to the event that started it.

    headers = lctl.distributed.inject({})                  # on the side that asks
    with lctl.distributed.continued(request.headers): ...  # on the side that is asked

Child processes of the same machine are linked without any of this (`lctl.session.concurrency.processes`).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lctl.distributed.carriers import Origin, extract, inject
    from lctl.distributed.hosts import propagate
    from lctl.distributed.joining import carried, continued
    from lctl.distributed.remotes import ray_remote
    from lctl.distributed.tasks import connect_celery
    from lctl.distributed.web import ASGIMiddleware, WSGIMiddleware

_HOMES = {
    "ASGIMiddleware": "web",
    "Origin": "carriers",
    "WSGIMiddleware": "web",
    "carried": "joining",
    "connect_celery": "tasks",
    "continued": "joining",
    "extract": "carriers",
    "inject": "carriers",
    "propagate": "hosts",
    "ray_remote": "remotes",
}

__all__ = [
    "ASGIMiddleware",
    "Origin",
    "WSGIMiddleware",
    "carried",
    "connect_celery",
    "continued",
    "extract",
    "inject",
    "propagate",
    "ray_remote",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'lctl.distributed' has no attribute {name!r}")
    return getattr(import_module(f"lctl.distributed.{home}"), name)
