"""Row S17 of CONVERSATIONS.md section 4: bundles. Each test names its row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lctl
from lctl.errors import LogNotFound, NotALog, UsageError
from lctl.session import LCTLSession, Session
from lctl.session.messagegraph.graph import MessageGraph
from tests.unit.sessions.forking import SEEDS, Forked, fork, path

__all__ = ["fork", "path"]  # fixtures


def told(session: Session) -> dict[str, Any]:
    return {
        "seeds": session.seed_messages,
        "messages": list(session.messages),
        "context": session.context,
        "state": session.state,
        "totals": session.totals,
        "inherited": session.inherited,
        "status": session.status,
        "model": session.model,
        "trigger": session.trigger,
        "pending": session.pending._replace(step=None),
        "high_water": session.high_water,
        "times": (session.started_at, session.completed_at),
        "ends": [{**end, "session_id": ""} for end in session.turn_ends()],
    }


@pytest.mark.parametrize("patch", [None, "Other."])
def test_s17_a_bundle_is_the_session_under_new_ids(path: Path, fork: Forked, patch: str | None) -> None:
    f = fork(5, system_patch=patch)
    with f.step() as step:
        f.record("more")
        f.log.tool_call("look", {"x": 1}, "rain")
        step.update(tokens={"input": 1, "output": 1})
    f.end()
    for source in (f, Session.hydrate(path), Session.hydrate(path, at=8)):
        bundle = path.with_name(f"bundle-{source.id}-{source.seq}.lctl.json")
        untouched = source.log.path.read_bytes() if source is f else path.read_bytes()
        source.export(bundle)
        assert (source.log.path.read_bytes() if source is f else path.read_bytes()) == untouched
        log = lctl.load(bundle).log
        assert not log.problems and not log.open
        one = Session.load_bundle(bundle, bundle.with_name(f"1-{bundle.name}"))
        other = Session.load_bundle(bundle, bundle.with_name(f"2-{bundle.name}"))
        assert told(one) == told(other) == told(source)
        ids = [{s.id, s.conversation, *(n.id for n in s.nodes)} for s in (source, one, other)]
        assert not ids[0] & ids[1] and not ids[1] & ids[2]
        assert one.tree.diagnostics == [] and one.log.chain_id != other.log.chain_id
        assert len(one.tree) == len(lctl.load(bundle).tree)
        if one.status == "running":
            one.record("goes on here")
        for session in (one, other):
            session.log.close()


def test_s17_a_bundle_holds_nothing_of_others(tmp_path: Path) -> None:
    with LCTLSession(path=tmp_path / "both.lctl.json") as log:
        with Session.start(log=log, session_id="A") as a, Session.start(log=log, session_id="B") as b:
            a.record("mine")
            b.record("not yours")
            log.add_fact("F1", "nobody's")
        a.export(tmp_path / "a.json")
    assert "not yours" not in (tmp_path / "a.json").read_text()
    assert [e.type for e in lctl.load(tmp_path / "a.json").events] == [
        "session_start",
        "message",
        "session_end",
    ]


def test_s17_a_bundle_holds_the_pictures_of_its_messages(tmp_path: Path) -> None:
    """And nobody else's."""
    mine, others = ("data:image/png;base64," + letters * 2000 for letters in ("QUJD", "REVG"))
    with Session.start(log=tmp_path / "run.lctl.json", session_id="A", seed_messages=SEEDS) as s:
        with s.step("look"):
            MessageGraph(s.log, messages=[seen(mine)])
        MessageGraph(s.log, "other", messages=[seen(others)])
        s.export(tmp_path / "bundle.json")
    bundle = lctl.load(tmp_path / "bundle.json")
    assert [event.data["content"] for event in bundle.events if event.type == "blob"] == ["QUJD" * 2000]
    loaded = Session.load_bundle(tmp_path / "bundle.json", tmp_path / "loaded.json")
    with loaded.log:
        assert seen(mine) in [node.message for node in loaded.tree]


def seen(picture: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "image_url", "image_url": {"url": picture}}]}


def test_s17_secrets_are_taken_out(tmp_path: Path) -> None:
    secret = "sk-proj-" + "a1B2c3D4" * 6
    log = LCTLSession(path=tmp_path / "plain.lctl.json", redact=False)
    with log, Session.start(log=log, session_id="S") as s:
        s.record(f"my key is {secret}")
        s.export(tmp_path / "clean.json")
        s.export(tmp_path / "whole.json", redact=False)
    assert secret not in (tmp_path / "clean.json").read_text()
    assert secret in (tmp_path / "whole.json").read_text()


def test_s17_what_is_no_bundle(tmp_path: Path, path: Path) -> None:
    with LCTLSession(path=tmp_path / "none.lctl.json") as log:
        log.add_fact("F1", "x")
    with pytest.raises(NotALog, match="holds no session"):
        Session.load_bundle(tmp_path / "none.lctl.json")
    with pytest.raises(LogNotFound, match="no such file"):
        Session.load_bundle(tmp_path / "nowhere.json")
    Session.hydrate(path).export(tmp_path / "b.json")
    for again in (Session.hydrate(path).export, lambda to: Session.load_bundle(tmp_path / "b.json", to)):
        with pytest.raises(UsageError, match="there is a file already"):
            again(tmp_path / "b.json")


def test_s17_without_a_name_each_import_finds_its_own(
    tmp_path: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LCTL_DIR", str(tmp_path / "logs"))
    Session.hydrate(path).export(tmp_path / "b.json")
    made = [Session.load_bundle(tmp_path / "b.json") for _ in range(3)]
    assert len({one.log.path for one in made}) == 3
    for one in made:
        one.log.close()
