"""The protocol's parts 3 to 6, 8 and 10: every snippet as it is printed there, with what it promises."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from lctl import LCTLSession
from lctl.analysis.confidence import confidence
from lctl.analysis.stats import stats
from lctl.codec import open_log
from lctl.events import Event
from lctl.payloads import check
from lctl.trust.consensus import consensus
from lctl.trust.contractfiles import read_contracts
from lctl.trust.numbers import shown
from lctl.trust.policy import policy_of
from lctl.trust.profiles import AGENT_TYPES, agent_types, profile
from lctl.trust.standing import decayed
from lctl.trust.taxonomy import TAXONOMY
from tests.unit.cli.conftest import Cli, lctl, place
from tests.unit.trust import trustlogs
from tests.unit.trust.snippets import (
    AGENT_QUERY,
    CONFIDENCE_EVENT,
    CONSENSUS,
    CONTRACTS,
    DECAY,
    ERROR_EVENT,
    ERRORS,
    HANDOFF,
    MODELS,
    PROFILE_EVENT,
    TYPES,
    VALIDATION,
)

__all__ = ["lctl", "place"]  # fixtures


@pytest.fixture
def session(tmp_path: Path) -> Iterator[LCTLSession]:
    made = trustlogs.session(tmp_path)
    yield made
    made.close()


def newest(session: LCTLSession, type: str) -> Event:
    events = [Event.from_dict(raw) for raw in session.to_dict()["events"]]
    found = [event for event in events if event.type == type][-1]
    assert check(found) == []
    return found


def event_of(text: str) -> Event:
    [raw] = yaml.safe_load(text)
    made = Event.from_dict(raw)
    assert check(made) == []
    return made


# -- part 3 ----------------------------------------------------------------------------------------


def test_decay() -> None:
    """`0.90 * 0.95^5 = 0.70`, by the rate the block names."""
    policy = policy_of({}, yaml.safe_load(DECAY))
    assert policy.decay_rate == 0.95
    assert shown(decayed(0.90, 5, policy.decay_rate)) == "0.70"


def test_consensus() -> None:
    """The block is what its assessments come to."""
    block = yaml.safe_load(CONSENSUS)["confidence"]
    assert consensus(block["assessments"]).document() == block


def test_the_confidence_event(session: LCTLSession) -> None:
    """Recorded from two assessments, it is the printed one but for the number, which is theirs."""
    printed = event_of(CONFIDENCE_EVENT)
    session.add_fact("F1", "SQL query constructed from user input", 0.85, agent="code-analyzer")
    session.assess("F1", 0.92, agent="security-reviewer")
    session.consensus("F1", text=printed.data["text"], agent="security-reviewer")
    made = newest(session, "fact_modified")
    assert (made.agent, made.data["text"], made.data["reason"]) == (
        printed.agent, printed.data["text"], printed.data["reason"],
    )  # fmt: skip
    assert printed.data["consensus"].items() <= made.data["consensus"].items()
    assert shown(made.data["confidence"]) == "0.88"


# -- part 4 ----------------------------------------------------------------------------------------


def test_suggested_queries(tmp_path: Path) -> None:
    """The hand-off as printed; each of its queries answers, and is a recorded read."""
    handoff = yaml.safe_load(HANDOFF)["handoff"]
    with LCTLSession("chain-001", path=tmp_path / "log.lctl.json") as session:
        session.add_fact("F1", "sure", 0.95, "static-analysis")
        session.add_fact("F2", "reviewed", 0.75, "security-reviewer")
        session.add_fact("F3", "pressing", 0.7, tags=["new", "critical"])
        session.handoff("fixer", **handoff)
        assert session.facts.url == handoff["fact_store"]
        with session.step("fixer"):
            found = [
                [fact["id"] for fact in session.facts.query(query)] for query in handoff["suggested_queries"]
            ]
        assert found == [["F1"], ["F2"], ["F3"]]
        reads = [event for event in session.to_dict()["events"] if event["type"] == "fact_read"]
        assert [event["data"]["query"] for event in reads] == handoff["suggested_queries"]
        assert [event["data"]["facts"] for event in reads] == found


def test_agent_query(session: LCTLSession) -> None:
    """The Python as printed: what is sure and to the point, the surest first."""
    session.add_fact("F1", "The endpoint allows SQL injection", 0.75)
    session.add_fact("F2", "Confirmed SQL injection in line 45", 0.95)
    session.add_fact("F3", "Possible SQL injection", 0.6)
    session.add_fact("F4", "The page loads in 2 s", 0.99)
    names: dict[str, Any] = {"fact_store": session.facts}
    exec(AGENT_QUERY, names)
    assert [fact["id"] for fact in names["facts"]] == ["F2", "F1"]


def test_contracts_and_their_events(tmp_path: Path, session: LCTLSession) -> None:
    """The YAML as printed is read; a reviewer that keeps to it gets the event as printed."""
    (tmp_path / "contracts.yaml").write_text(CONTRACTS)
    read = read_contracts(tmp_path / "contracts.yaml")
    assert {one.name: one.document() for one in read} == yaml.safe_load(CONTRACTS)["contracts"]
    session.use_contracts(tmp_path / "contracts.yaml", policy="raise")
    with session.step("security-reviewer", "assess"):
        session.add_fact("F1", "SQL injection", 0.9, severity="critical")
    printed, made = event_of(VALIDATION), newest(session, "contract_validation")
    assert made.agent == printed.agent
    assert printed.data.items() <= made.data.items()


# -- part 5 ----------------------------------------------------------------------------------------


def test_agent_types() -> None:
    """The five profiles are those printed."""
    printed = yaml.safe_load(TYPES)["agent_types"]
    assert list(AGENT_TYPES) == list(printed)
    for name, body in printed.items():
        assert profile(name) == {"type": name, **body}
    assert agent_types(yaml.safe_load(TYPES)) == AGENT_TYPES


def test_the_agent_profile_event(session: LCTLSession) -> None:
    """Recorded from a profile, and known to who weighs the agent's word."""
    printed = event_of(PROFILE_EVENT)
    given = profile(
        "reviewer", capabilities=["assessment", "approval"], model="claude-3-opus", reliability_score=0.92
    )
    del given["outputs"]
    with session.step("security-reviewer", agent_profile=given):
        assert newest(session, "step_start").data == printed.data
        assert session.watch.follow().reliability == {"security-reviewer": 0.92}


# -- part 6 ----------------------------------------------------------------------------------------


def test_taxonomy() -> None:
    """Categories, types and what they mean."""
    printed = yaml.safe_load(ERRORS)["error_taxonomy"]
    assert {name: [{key: said} for key, said in types.items()] for name, types in TAXONOMY.items()} == printed


def test_the_error_event(session: LCTLSession) -> None:
    """Recorded by hand as printed; a TimeoutError that leaves a step says the same of itself."""
    printed = event_of(ERROR_EVENT)
    session.error(**printed.data, agent="code-executor")
    made = newest(session, "error")
    assert (made.agent, made.data) == (printed.agent, printed.data)
    with pytest.raises(TimeoutError), session.step("code-executor"):
        raise TimeoutError(printed.data["message"])
    said = newest(session, "error").data
    for key in ("category", "type", "message", "recoverable", "suggested_action"):
        assert said[key] == printed.data[key]


# -- part 8 ----------------------------------------------------------------------------------------


def test_validate_transcript(place: Path, lctl: Cli) -> None:
    """`lctl validate chain.lctl.json --contracts ./contracts/`."""
    trustlogs.written(place / "chain.lctl.json", trustlogs.reviewed())
    (place / "contracts").mkdir()
    (place / "contracts" / "a.yaml").write_text(CONTRACTS)
    (place / "contracts" / "b.json").write_text(
        '{"contracts": {"fix-implementer": {"inputs": [{"type": "fact", "required_fields": ["id"]}]}}}'
    )
    got = lctl("validate", "chain.lctl.json", "--contracts", "./contracts/")
    assert (got.code, got.err) == (0, "")
    assert got.out == (
        "Validating 25 events against 3 contracts...\n"
        "✓ code-analyzer outputs valid\n"
        "✓ security-reviewer inputs valid\n"
        "✓ security-reviewer outputs valid\n"
        "✓ fix-implementer inputs valid\n"
        "\n"
        "All contracts satisfied.\n"
    )
    shutil.rmtree(place / "contracts")
    assert lctl("validate", "chain.lctl.json").code == 0


def test_confidence_transcript(place: Path, lctl: Cli) -> None:
    """`lctl confidence chain.lctl.json`. What a static analysis says does not decay in this chain."""
    trustlogs.written(
        place / "chain.lctl.json", trustlogs.reviewed(), confidence={"sources": {"static-analysis": 1.0}}
    )
    got = lctl("confidence", "chain.lctl.json")
    assert (got.code, got.err) == (0, "")
    assert got.out == (
        "Fact confidence timeline:\n"
        "F1: 0.85 → 0.85 → 0.95 (verified)\n"
        "F2: 0.90 → 0.86 → 0.81 (decayed)\n"
        "F3: 0.70 → BLOCKED (below threshold)\n"
        "\n"
        "Warning: F3 blocked at step 8 due to low confidence.\n"
    )


# -- part 10 ---------------------------------------------------------------------------------------


def test_models_and_routing(place: Path, session: LCTLSession, lctl: Cli) -> None:
    """The events as printed are read by role; the helper records the routing as printed."""
    (place / "models.yaml").write_text('lctl: "4.0"\nchain: {id: models}\n' + MODELS)
    found = stats(open_log(place / "models.yaml"))
    assert [row.name for row in found.roles] == ["claude-3-opus (execution)", "gpt-4 (planning)"]
    printed = Event.from_dict(yaml.safe_load(MODELS)["events"][2])
    assert [(one.choice, one.count) for one in found.routings] == [("route_to_opus", 1)]
    assert [name for name, _ in found.routings[0].alternatives] == ["claude-3-sonnet", "gpt-4"]
    assert "claude-3-sonnet, gpt-4" in lctl("stats", "--full", "models.yaml").out
    chosen = session.route_model(
        "claude-3-opus",
        "code_generation_task",
        ["gpt-4", "claude-3-sonnet"],
        0.85,
        decision="route_to_opus",
        agent="orchestrator",
    )
    made = newest(session, "model_routing")
    assert (chosen, made.agent) == ("claude-3-opus", "orchestrator")
    assert printed.data.items() <= made.data.items()
    assert confidence(open_log(place / "models.yaml")).ways == ()
