"""Sixteen programs write into one store while others read it; the database is lost and comes back."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from lctl.chain import Chain
from lctl.errors import LctlError
from lctl.session import LCTLSession
from lctl.stores import outbox
from lctl.stores.contract import ChainStore
from lctl.stores.opening import close_stores, open_store
from tests import postgres

PROGRAM = Path(__file__).with_name("writing.py")
WRITERS, EVENTS = 16, 400


@pytest.fixture
def own_server() -> Iterator[postgres.Server]:
    """A server that may be killed."""
    pytest.importorskip("psycopg", reason="pip install 'lctl[postgres]'")
    bin = postgres.programs()
    if bin is None:
        pytest.skip(postgres.MISSING)
    server = postgres.Server(bin)
    try:
        server.start()
        yield server
    finally:
        close_stores()
        server.remove()


@pytest.fixture(autouse=True)
def no_stores() -> Iterator[None]:
    yield
    close_stores()


def start(store: str, folder: Path) -> subprocess.Popen[str]:
    """A writer on a machine of its own: it has the store in common with the others, no folder."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("LCTL_")}
    env |= {"LCTL_DIR": str(folder), "LCTL_QUIET": "1"}
    arguments = [sys.executable, str(PROGRAM), store, str(EVENTS), "0.01"]
    return subprocess.Popen(arguments, env=env, stdout=subprocess.PIPE, text=True)


class Readers:
    """Threads that open random chains and look at them at random seqs."""

    def __init__(self, store: str, count: int = 2) -> None:
        self._store = store
        self._stopping = threading.Event()
        self.wrong: list[str] = []
        self.looks = 0
        self._threads = [threading.Thread(target=self._run, args=(n,)) for n in range(count)]

    def __enter__(self) -> Readers:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    def _run(self, seed: int) -> None:
        chance = random.Random(seed)
        while not self._stopping.is_set():
            try:
                self._look(chance)
            except LctlError:
                time.sleep(0.1)  # away, or nothing there yet

    def _look(self, chance: random.Random) -> None:
        store = open_store(self._store)
        entries = [one for one in store.entries() if one.last_seq]
        if not entries:
            time.sleep(0.05)
            return
        entry = chance.choice(entries)
        chain = Chain.load(f"{self._store}#{entry.id}")
        seq = chance.randint(1, len(chain))
        facts = chain.at(seq).facts
        self.looks += 1
        wanted = {f"F{n}": f"fact {n} of {entry.id}" for n in range(1, seq + 1)}
        if {id: fact.text for id, fact in facts.items()} != wanted:
            self.wrong.append(f"{entry.id} at {seq}")


def complete(store: ChainStore, chain_id: str, digest: str) -> None:
    """All events are there, each once, in order, byte for byte what the program recorded."""
    lines = list(store.read(chain_id))
    hashed = sha256()
    for seq, line in enumerate(lines, 1):
        assert line.startswith(b'{"seq":%d,' % seq)
        hashed.update(line + b"\n")
    assert len(lines) == EVENTS
    assert hashed.hexdigest() == digest
    tail = store.tail(chain_id)
    assert tail is not None
    assert tail["hash"]["events"] == digest


def reported(writer: subprocess.Popen[str]) -> tuple[str, str]:
    """What a writer says of itself: (chain id, hash)."""
    said, _ = writer.communicate(timeout=120)
    assert writer.returncode == 0
    chain_id, digest, lost = said.split()
    assert lost == "0"
    return chain_id, digest


@pytest.mark.slow
def test_sixteen_writers_into_sqlite(tmp_path: Path) -> None:
    """Nothing lost, nothing double, and whoever reads meanwhile sees a whole beginning of each chain."""
    check_writers(f"sqlite:///{tmp_path}/runs.db", tmp_path)


@pytest.mark.database
def test_sixteen_writers_into_postgresql(tmp_path: Path, postgres_url: str) -> None:
    """The same."""
    check_writers(postgres_url, tmp_path)


def check_writers(store: str, tmp_path: Path) -> None:
    open_store(store, create=True)
    writers = [start(store, tmp_path / f"machine{n}") for n in range(WRITERS)]
    with Readers(store) as readers:
        told = [reported(writer) for writer in writers]
    assert not readers.wrong
    assert readers.looks > 0
    there = open_store(store)
    for chain_id, digest in told:
        complete(there, chain_id, digest)
    assert len(list(there.entries())) == WRITERS


@pytest.mark.database
def test_the_database_is_lost_and_comes_back(tmp_path: Path, own_server: postgres.Server) -> None:
    """Recording goes on meanwhile; afterwards every chain is there, complete, once."""
    store = f"{own_server.url}?schema=lost"
    open_store(store)
    writers = [start(store, tmp_path / f"machine{n}") for n in range(WRITERS)]
    for writer in writers:
        assert writer.stdout is not None
    with Readers(store) as readers:
        _await_some(store)
        own_server.kill()
        time.sleep(1.5)
        own_server.start()
        told = [reported(writer) for writer in writers]
    assert not readers.wrong
    there = open_store(store)
    for n in range(WRITERS):
        deliver_rest(tmp_path / f"machine{n}", there)
    for chain_id, digest in told:
        complete(there, chain_id, digest)
    assert len(list(there.entries())) == WRITERS


@pytest.mark.database
def test_who_follows_waits_for_a_database_that_is_away(
    tmp_path: Path, own_server: postgres.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`lctl tail -f` over a restart of the server: every event once, and one line about it."""
    monkeypatch.setenv("LCTL_DIR", str(tmp_path))
    session = LCTLSession("run", store=own_server.url)
    session.add_fact("F1", "before", 0.5)
    session.sync(20)
    command = [sys.executable, "-m", "lctl", "tail", "-f", "run", "--store", own_server.url, "--json"]
    follower = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert follower.stdout is not None and follower.stderr is not None
    first = follower.stdout.readline()
    time.sleep(1.0)  # so that it is in the middle of waiting
    own_server.kill()
    said = follower.stderr.readline()
    session.add_fact("F2", "meanwhile", 0.5)
    own_server.start()
    session.sync(60)
    session.close()
    out, err = follower.communicate(timeout=60)
    assert "secret" not in said and said.endswith("; it is waited for\n")
    assert [json.loads(line)["seq"] for line in [first, *out.splitlines()]] == [1, 2]
    assert (follower.returncode, err) == (0, "lctl: the run has ended (2 events)\n")


def deliver_rest(folder: Path, store: ChainStore) -> None:
    """What `lctl push` does on each machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LCTL_DIR", str(folder))
        outbox.deliver_all(store)
        assert not list(outbox.waiting())


def _await_some(store: str) -> None:
    """Until the writers are in the middle of it."""
    for _ in range(600):
        entries = list(open_store(store).entries())
        if len(entries) == WRITERS and all(one.last_seq > 20 for one in entries):
            return
        time.sleep(0.05)
    raise AssertionError("the writers did not begin")
