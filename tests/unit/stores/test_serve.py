"""`lctl serve` on stores: the runs as they are, fetched as they are looked at."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lctl.codec import open_log
from lctl.debugger.shared import accounts as book
from lctl.debugger.shared.storeruns import StoreRuns
from lctl.stores.address import parse
from lctl.stores.opening import open_store
from lctl.stores.outbox import push
from tests.unit.debugger.logs import review, save
from tests.unit.debugger.shared import Shared


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.database)])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A store with two runs, one of which started another."""
    if request.param == "sqlite":
        address = f"sqlite:///{tmp_path}/runs.db"
    else:
        address = str(request.getfixturevalue("postgres_url"))
    store = open_store(address, create=True)
    push(open_log(save(tmp_path / "review.lctl.json", review())), store)
    for id, parent in (("front", {}), ("back", {"parent": {"id": "front", "seq": 1}})):
        store.begin({"id": id, **parent})
        store.append(id, 1, [_step(1, id, "step_start"), _step(2, id, "step_end")])
        store.finish(id, {"summary": {"agents": [id], "events": 2}})
    return address


def _step(seq: int, agent: str, type: str) -> bytes:
    data = {"intent": "go"} if type == "step_start" else {"outcome": "success", "duration_ms": 5}
    event = {
        "seq": seq,
        "type": type,
        "timestamp": f"2026-01-01T00:00:0{seq % 10}.000000Z",
        "agent": agent,
        "data": data,
    }
    return json.dumps({**event, **({"step": 1} if seq > 1 else {})}, separators=(",", ":")).encode()


@pytest.fixture
def server(address: str, tmp_path: Path) -> Iterator[Shared]:
    made = Shared(StoreRuns(parse(address)), tmp_path / "users")
    yield made
    made.stop()


@pytest.fixture
def token(tmp_path: Path) -> str:
    return book.add_token(tmp_path / "users", "ci")


def test_a_store_is_read_where_it_is(token: str, server: Shared, tmp_path: Path) -> None:
    """Its runs with filters, the state at any event, search, the tree of processes; no file is written."""
    before = sorted(tmp_path.rglob("*.json"))
    listed = server.get("/api/runs", token)
    assert listed["total"] == 3 and "secret" not in json.dumps(listed)
    assert [run["id"] for run in server.get("/api/runs?q=back", token)["runs"]] == ["back"]
    review_id = next(run["id"] for run in listed["runs"] if run["id"] not in ("front", "back"))
    chain = open_log(tmp_path / "review.lctl.json")
    state = server.get(f"/api/state?run={review_id}&at=13", token)
    assert (state["seq"], state["totals"]["events"]) == (13, 13)
    assert server.get(f"/api/run?run={review_id}", token)["events"] == len(chain)
    assert server.get(f"/api/search?run={review_id}&q=type:error", token)["rows"]
    assert [one["depth"] for one in server.get("/api/lineage", token)["runs"]].count(1) == 1
    tree = server.get("/api/run?run=front%2B", token)
    assert (tree["events"], [agent["name"] for agent in tree["agents"]]) == (4, ["front", "back"])
    assert server.ask("/api/run?run=nothing", Authorization=f"Bearer {token}").status == 404
    assert sorted(tmp_path.rglob("*.json")) == before


@pytest.mark.slow
def test_a_long_run_is_read_through_a_file(
    token: str, server: Shared, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A temporary one, which follows the chain; questions on all of it are answered by a process beside."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    store, last = open_store(address), 200_100
    store.begin({"id": "long"})
    lines = [_step(1, "a", "step_start"), *(_step(seq, "a", "fact_read") for seq in range(2, last + 1))]
    for first in range(0, last, 20_000):
        store.append("long", first + 1, lines[first : first + 20_000])
    assert server.get("/api/run?run=long", token)["events"] == last
    assert server.get(f"/api/event/{last}?run=long", token)["row"]["seq"] == last
    assert server.get("/api/costs?run=long", token)["cost"] == 0
    (file,) = tmp_path.glob("lctl-serve-*/*.lctl.json")
    assert len(open_log(file)) == last
    store.append("long", last + 1, [_step(last + 1, "a", "fact_read")])
    time.sleep(0.1)
    assert server.get("/api/run?run=long", token)["events"] == last + 1


def test_a_run_in_a_store_is_followed(token: str, server: Shared, address: str) -> None:
    """What another machine appends is seen; its end, too."""
    store = open_store(address)
    store.begin({"id": "going"})
    store.append("going", 1, [_step(1, "a", "step_start")])
    assert server.get("/api/run?run=going", token)["events"] == 1
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    connection.request("GET", "/api/live?run=going", headers={"Authorization": f"Bearer {token}"})
    answer = connection.getresponse()
    store.append("going", 2, [_step(2, "a", "step_end")])
    store.finish("going", {"summary": {}})
    said = answer.read().decode()
    connection.close()
    assert '"from":2,"to":2' in said and '"what":"closed"' in said
    assert server.get("/api/run?run=going", token)["status"] == "ok"
    store.delete("going")
    assert server.get("/api/run?run=front", token)["events"] == 2
