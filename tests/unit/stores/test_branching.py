"""One chain gone on with in two places: by two programs, elsewhere, or with a log that was changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import lctl
from lctl.codec import open_log
from lctl.errors import ChainConflict
from lctl.guard import guard
from lctl.session import LCTLSession
from lctl.stores import outbox, recording
from lctl.stores.opening import open_store
from tests.unit.stores.delivering import folder, place

__all__ = ["folder", "place"]  # fixtures


def test_a_chain_is_gone_on_with_elsewhere(
    place: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """From a folder that never had its journal; by its id, or by the store's address."""
    with LCTLSession("run", store=place) as session:
        session.add_fact("F1", "one", 0.5)
    monkeypatch.setenv("LCTL_DIR", str(tmp_path / "elsewhere"))
    with LCTLSession("run", store=place) as session:
        assert session.add_fact("F2", "two", 0.5) == 2
    with LCTLSession(store=f"{place}#run") as session:
        assert session.add_fact("F3", "three", 0.5) == 3
    assert list(lctl.load(f"{place}#run").state.facts) == ["F1", "F2", "F3"]


def test_two_programs_that_go_on_with_one_chain(
    place: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The one that comes second is told; both branches are in the store, and go on."""
    with LCTLSession("run", store=place) as session:
        session.add_fact("F1", "one", 0.5)
    monkeypatch.setenv("LCTL_DIR", str(tmp_path / "a"))
    one = LCTLSession("run", store=place)
    monkeypatch.setenv("LCTL_DIR", str(tmp_path / "b"))
    other = LCTLSession("run", store=place)
    one.add_fact("A", "of the first", 0.5)
    one.sync(20)
    other.add_fact("B", "of the second", 0.5)
    other.add_fact("C", "of the second", 0.5)
    other.close()
    one.close()
    assert list(lctl.load(f"{place}#run").state.facts) == ["F1", "A"]
    (branch,) = open_store(place).children("run")
    assert branch.chain["parent"] == {"id": "run", "seq": 1, "fork": True, "conflict": True}
    assert list(lctl.load(f"{place}#{branch.id}").state.facts) == ["F1", "B", "C"]
    assert guard.failures == {"under chain run": 1}
    assert f"stored as chain {branch.id}" in guard.examples["under chain run"]


@pytest.mark.parametrize("kind", ["sqlite", "file"])
def test_two_programs_of_one_machine_that_go_on_with_one_chain(
    kind: str, place: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """They have one outbox, or one file, in common; the second is told, as one of another machine is."""
    monkeypatch.setattr(recording, "_PAUSE", 0.0)
    place = f"file:{tmp_path}/runs" if kind == "file" else place
    with LCTLSession("run", store=place) as session:
        session.add_fact("F1", "one", 0.5)
    one, other = LCTLSession("run", store=place), LCTLSession("run", store=place)
    one.add_fact("A", "of the first", 0.5)
    if kind == "sqlite":
        one.sync(20)
    other.add_fact("B", "of the second", 0.5)
    other.close()
    one.close()
    assert list(lctl.load(f"{place}#run").state.facts) == ["F1", "A"]
    (branch,) = open_store(place).children("run")
    assert branch.chain["parent"] == {"id": "run", "seq": 1, "fork": True, "conflict": True}
    assert list(lctl.load(f"{place}#{branch.id}").state.facts) == ["F1", "B"]
    assert f"stored as chain {branch.id}" in guard.examples["under chain run"]
    assert list(outbox.waiting()) == []


def test_a_log_that_was_changed_and_closed_again_is_a_branch(place: str, tmp_path: Path) -> None:
    """Not one that is there already, though it is as long and ends the same; each such log has its own."""
    store = open_store(place, create=True)
    path = tmp_path / "run.lctl.json"
    with LCTLSession("run", path) as session:
        for text in ("secret", "second", "third"):
            session.add_fact("F1", text, 0.5)
    found = [outbox.push(open_log(path), store)]
    for word in ("[one]", "[other]", "[one]"):
        document = json.loads(path.read_text())
        document["events"][0]["data"]["text"] = word
        changed = lctl.Chain.from_dict({key: document[key] for key in ("lctl", "chain", "events")})
        changed.save(tmp_path / "changed.lctl.json")
        found.append(outbox.push(open_log(tmp_path / "changed.lctl.json"), store))
    first, one, other, again = found
    assert len({first.stored_as, one.stored_as, other.stored_as}) == 3
    assert (again.stored_as, again.new) == (one.stored_as, 0)
    assert lctl.load(f"{place}#{one.stored_as}").events[0].data["text"] == "[one]"
    assert outbox.push(open_log(path), store).new == 0


@pytest.mark.parametrize("goes_on", [False, True])
def test_a_log_that_was_edited_by_hand_is_a_branch(place: str, tmp_path: Path, goes_on: bool) -> None:
    """Its seal is the old one, its last event too: what is stored and what it says differ all the same."""
    store = open_store(place, create=True)
    path = tmp_path / "run.lctl.json"
    with LCTLSession("run", path) as session:
        for text in ("first", "second", "third"):
            session.add_fact("F1", text, 0.5)
    outbox.push(open_log(path), store)
    if goes_on:
        with LCTLSession("run", path) as session:
            session.add_fact("F1", "fourth", 0.5)
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b'"second"', b'"edited"'))
    edited = outbox.push(open_log(path), store)
    assert (edited.chain_id, edited.new) == ("run", len(open_log(path)))
    assert [event.data["text"] for event in lctl.load(f"{place}#{edited.stored_as}").events][:2] == [
        "first",
        "edited",
    ]
    again = outbox.push(open_log(path), store)
    assert (again.stored_as, again.new) == (edited.stored_as, 0)
    path.write_bytes(whole)
    restored = outbox.push(open_log(path), store)
    assert (restored.stored_as, restored.new) == ("run", int(goes_on))


def test_a_conflict_names_both(place: str) -> None:
    """What is raised where somebody appends directly."""
    store = open_store(place, create=True)
    store.begin({"id": "run"})
    store.append("run", 1, [b'{"seq":1,"type":"a","timestamp":"","agent":"","data":{}}'])
    with pytest.raises(ChainConflict) as caught:
        store.append("run", 1, [b'{"seq":1,"type":"b","timestamp":"","agent":"","data":{}}'])
    assert caught.value.exit_code == 4


def test_a_run_that_another_has_gone_on_with(
    place: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Is not ended by one that recorded nothing more; what that one left elsewhere is no second branch."""
    with LCTLSession("run", store=place) as session:
        session.add_fact("F1", "one", 0.5)
    monkeypatch.setenv("LCTL_DIR", str(tmp_path / "a"))
    idle = LCTLSession("run", store=place)
    monkeypatch.setenv("LCTL_DIR", str(tmp_path / "b"))
    with LCTLSession("run", store=place) as session:
        session.add_fact("F2", "two", 0.5)
        session.sync(20)
        idle.close()
        assert open_store(place).entry("run").open
    store = open_store(place)
    assert [one.id for one in store.entries()] == ["run"]
    assert store.entry("run").summary["events"] == 2
