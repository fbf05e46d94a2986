"""Contracts: reading them, what is wrong in them, and holding agents to them."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from lctl import LCTLSession, load
from lctl.errors import ContractViolated, LogNotFound, UsageError
from lctl.events import Event
from lctl.trust.checking import check
from lctl.trust.contractfiles import ContractError, read_contracts
from lctl.trust.contracts import Contract, Shape, contracts_of
from tests.unit.cli.conftest import Cli, lctl, place
from tests.unit.trust import trustlogs
from tests.unit.trust.trustlogs import Raw, added, events, handed

__all__ = ["lctl", "place"]  # fixtures

REVIEWER = {
    "reviewer": {
        "inputs": [{"type": "fact", "required_fields": ["id", "text"]}],
        "outputs": [
            {
                "type": "fact",
                "required_fields": ["id", "severity"],
                "severity_values": ["low", "high"],
                "confidence_min": 0.5,
                "confidence_max": 0.99,
            }
        ],
    }
}


def violations(contracts: Any, *raw: Raw) -> list[str]:
    found = check(read_contracts(contracts), events(*raw))
    return [f"{one.seq} {one.agent} {one.text}" for judged in found for one in judged.violations]


def test_what_breaks_a_contract() -> None:
    """Each with its event, agent, field, value and what was expected."""
    found = violations(
        REVIEWER,
        added("F1", 0.2, "reviewer", severity="low"),
        added("F2", 1.0, "reviewer", severity="urgent"),
        added("F3", 0.7, "reviewer"),
        added("F4", 0.7, "reviewer", severity="high"),
        added("F5", 0.1, "somebody else"),
    )
    assert found == [
        "1 reviewer fact F1: confidence 0.2, expected at least 0.5",
        "2 reviewer fact F2: confidence 1.0, expected at most 0.99",
        "2 reviewer fact F2: severity 'urgent', expected one of low, high",
        "3 reviewer fact F3: severity is missing",
    ]


def test_inputs_are_what_comes_to_an_agent() -> None:
    """Facts it reads or is handed, as they stood; not those of others."""
    bare: Raw = ("fact_added", "a", {"id": "F1"})
    assert violations(REVIEWER, bare, ("fact_read", "reviewer", {"facts": ["F1", "F9"]})) == [
        "2 reviewer fact F1: text is missing"
    ]
    assert violations(REVIEWER, bare, ("fact_read", "other", {"facts": ["F1"]})) == []
    start: Raw = ("step_start", "reviewer", {})
    assert violations(REVIEWER, bare, handed("reviewer", "F1"), start) == [
        "2 reviewer fact F1: text is missing"
    ]


def test_profiles_and_agents_fit_too() -> None:
    """A contract is for agents of its name, those it lists, and those whose profile has that type."""
    shape = {"outputs": [{"type": "fact", "required_fields": ["severity"]}]}
    listed = {"reviewer": {**shape, "agents": ["bob"]}}
    start: Raw = ("step_start", "alice", {"agent_profile": {"type": "reviewer"}})
    found = violations(
        listed, start, added("F1", 0.9, "alice"), added("F2", 0.9, "bob"), added("F3", 0.9, "eve")
    )
    assert sorted(one.split()[1] for one in found) == ["alice", "bob"]


def test_other_items(tmp_path: Path) -> None:
    """Tool calls, hand-offs, messages, a step's input and output; with JSON Schema where fields do not do."""
    contract = Contract(
        "worker",
        inputs=[
            {"type": "input", "schema": {"type": "object", "required": ["task"]}},
            {"type": "handoff", "required_fields": ["reason"]},
            {"type": "message", "role_values": ["user"]},
        ],
        outputs=[
            {"type": "output", "schema": {"type": "array", "items": {"type": "integer", "minimum": 1}}},
            {"type": "tool_call", "tool_values": ["grep"], "duration_ms_max": 100},
            {"type": "message", "required_fields": ["content"]},
        ],
    )
    found = violations(
        contract,
        ("handoff", "boss", {"to": "worker"}),
        ("step_start", "worker", {"input": {"job": 1}}),
        ("message", "worker", {"role": "system", "content": "x", "message_id": "m1"}),
        ("tool_call", "worker", {"tool": "bash", "duration_ms": 500}),
        ("message", "worker", {"role": "assistant", "sampled": True, "message_id": "m2"}),
        ("step_end", "worker", {"output": [2, 0, "x"]}),
    )
    assert found == [
        "2 worker input: task is missing",
        "1 worker handoff from boss: reason is missing",
        "3 worker message m1: role 'system', expected one of user",
        "6 worker output: 1 0, expected minimum 1",
        "6 worker output: 2 'x', expected type integer",
        "4 worker tool_call bash: duration_ms 500, expected at most 100",
        "4 worker tool_call bash: tool 'bash', expected one of grep",
        "5 worker message m2: content is missing",
    ]
    silent = violations(
        contract, ("step_start", "worker", {"input": {"task": 1}}), ("step_end", "worker", {})
    )
    assert silent == ["2 worker output: it is missing"]


def test_nested_steps_are_judged_once() -> None:
    """A step of the same agent inside another is part of it; so are logs that do not name their steps."""
    raw = events(
        ("step_start", "reviewer", {}),
        ("step_start", "reviewer", {"kind": "llm"}),
        ("step_end", "reviewer", {}),
        added("F1", 0.9, "reviewer"),
        ("step_end", "reviewer", {}),
    )
    [judged] = check(read_contracts(REVIEWER), raw)
    assert (judged.seq, judged.step, judged.checked, len(judged.violations)) == (5, 1, 1, 1)


BOMB = "  a: &a [x, x, x, x, x, x, x, x]\n" + "".join(
    f"  {name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in pairwise("abcdefghij")
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("contracts:\n  a: [\n", ":3:1: did not find expected node content"),
        ("contracts:\n  a:\n    outputs:\n      - type: fakt\n", ":4:9: no item 'fakt' among outputs"),
        ("contracts:\n  a:\n    outputs:\n      - requird_fields: [x]\n", ":4:9: type: missing"),
        (
            "contracts:\n  a:\n    inputs:\n      - type: fact\n        requird_fields: [x]\n",
            ":5:9: no key 'requird_fields'; did you mean 'required_fields'?",
        ),
        ("contracts:\n  a:\n    outputs: 3\n", ":3:5: expected a list"),
        ("contracts:\n  a:\n    output: []\n", ":3:5: a contract has no 'output'"),
        ("contracts:\n  a:\n    agents: [1]\n", ":3:5: expected a list of names"),
        ("contracts: {}\n", ":1:1: there is no contract"),
        ("contracts:\n  a: &x\n    outputs: [*x]\n", ":2:6: an alias of what it stands in"),
        (f"contracts:\n{BOMB}", ":2:25: its aliases expand to many times its size"),
        ("contracts:\n  a: {}\n  b: {}\n  a: {outputs: []}\n", ":4:3: key 'a' is there twice"),
        ("- a\n", ":1:1: expected contracts:"),
        ("contracts:\n  a: 3\n", ":2:3: a contract has inputs and outputs"),
        (
            "contracts:\n  a:\n    inputs:\n      - {type: fact, confidence_min: high}\n",
            ":4:22: expected a number, got 'high'",
        ),
        (
            "contracts:\n  a:\n    inputs:\n      - {type: fact, x_min: 3, x_max: 1}\n",
            ":4:32: 1 is below x_min, 3",
        ),
        (
            "contracts:\n  a:\n    inputs:\n      - {type: fact, x_values: []}\n",
            ":4:22: expected a list of values",
        ),
        (
            "contracts:\n  a:\n    inputs:\n      - type: fact\n        schema: {type: nonsense}\n",
            ":5:9: not a JSON Schema: type: 'nonsense' is not valid",
        ),
    ],
)  # fmt: skip
def test_a_wrong_file(tmp_path: Path, text: str, said: str) -> None:
    """File, line, column, and what would be right."""
    path = tmp_path / "c.yaml"
    path.write_text(text)
    with pytest.raises(ContractError) as caught:
        read_contracts(path)
    assert str(caught.value).startswith(f"{path}{said}"), str(caught.value)


def test_all_that_is_wrong_is_said(place: Path, lctl: Cli) -> None:
    """The command line lists each, and exits with 2; a file that is not there is 3."""
    trustlogs.written(place / "log.lctl.json", trustlogs.reviewed())
    (place / "c.json").write_text('{"contracts": {"a": {"outputs": [{"type": "x"}, {"type": "y"}]}}}')
    got = lctl("validate", "log.lctl.json", "--contracts", "c.json")
    assert got.code == 2
    assert got.err.count("c.json:1:") == 2
    assert lctl("validate", "log.lctl.json", "--contracts", "nope.yaml").code == 3
    (place / "empty").mkdir()
    assert "there is no contract file" in lctl("validate", "log.lctl.json", "--contracts", "empty").err


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"$ref": "#/$defs/nowhere"}, "$ref '#/$defs/nowhere' is not in the schema, and nothing is fetched"),
        (
            {"properties": {"id": {"$ref": "http://127.0.0.1:9/x.json"}}},
            "$ref 'http://127.0.0.1:9/x.json' is not",
        ),
        ({"$ref": "#"}, "a $ref of it leads round in a circle"),
    ],
)
def test_a_schema_that_names_what_it_lacks(schema: dict[str, Any], said: str) -> None:
    """Refused when it is read: otherwise nothing of the run would be judged any more."""
    with pytest.raises(UsageError, match=re.escape(f"a.outputs[0].schema: {said}")):
        contracts_of({"a": {"outputs": [{"type": "fact", "schema": schema}]}})


def test_what_breaks_a_schema() -> None:
    """A field that lacks, one that is null, and one that is of no use; references within a schema hold."""
    schema = {
        "$defs": {"level": {"enum": ["low", "high"]}},
        "required": ["severity", "line"],
        "properties": {"severity": {"$ref": "#/$defs/level"}, "line": {"type": "integer"}},
    }
    contract = {"a": {"outputs": [{"type": "handoff", "schema": schema}]}}
    assert violations(
        contract, ("handoff", "a", {"to": "b"}), ("handoff", "a", {"severity": "x", "line": None})
    ) == [
        "1 a handoff to b: severity is missing",
        "1 a handoff to b: line is missing",
        "2 a handoff to : line None, expected type integer",
        "2 a handoff to : severity 'x', expected one of low, high",
    ]


@pytest.mark.parametrize("given", [None, 5])
def test_what_is_no_contract(given: Any) -> None:
    with pytest.raises(UsageError, match="contracts are files, folders, documents or Contracts, not"):
        read_contracts(given)


def test_python_contracts(tmp_path: Path) -> None:
    """A Python file sets `contracts`; it runs when named itself, not when it lies in a folder."""
    path = tmp_path / "mine.py"
    path.write_text(
        "from lctl.trust.contracts import Contract, Shape\n"
        "contracts = [Contract('a', outputs=[Shape('fact', ('id',), minimums={'confidence': 0.5})])]\n"
    )
    [found] = read_contracts(path)
    assert found == Contract(
        "a", outputs=[{"type": "fact", "required_fields": ["id"], "confidence_min": 0.5}]
    )
    with pytest.raises(UsageError, match="no contract file"):
        read_contracts(tmp_path)
    path.write_text("x = 1\ny = 1 / 0\n")
    with pytest.raises(ContractError, match=r"mine\.py:2:\d+: ZeroDivisionError"):
        read_contracts(path)
    path.write_text("import sys\nsys.exit(0)\n")
    with pytest.raises(ContractError, match=r"mine\.py:2:\d+: SystemExit"):
        read_contracts(path)
    path.write_text("contracts = (\n")
    with pytest.raises(ContractError, match=r"mine\.py:1:\d+: SyntaxError"):
        read_contracts(path)
    path.write_text("x = 1\n")
    with pytest.raises(ContractError, match="sets no `contracts`"):
        read_contracts(path)
    with pytest.raises(LogNotFound):
        read_contracts(tmp_path / "other.py")


def test_contracts_in_python() -> None:
    """Wrong ones say where; two of one name are refused unless they are the same."""
    with pytest.raises(UsageError, match=r"a\.outputs\[0\]\.type: no item 'fakt'"):
        Contract("a", outputs=[{"type": "fakt"}])
    with pytest.raises(UsageError, match="two contracts named 'a'"):
        read_contracts([Contract("a"), Contract("a", inputs=[Shape()])])
    assert len(read_contracts([Contract("a"), {"a": {}}])) == 1  # type: ignore[list-item]
    assert contracts_of({"a": {"inputs": []}}) == [Contract("a")]


def test_violations_on_the_command_line(place: Path, lctl: Cli) -> None:
    """One line for each, exit code 1; as JSON with every part."""
    raw = trustlogs.reviewed()
    del raw[9]["data"]["severity"]
    raw[1]["data"]["confidence"] = 0.4
    trustlogs.written(place / "log.lctl.json", raw)
    (place / "c.yaml").write_text(
        "contracts:\n  code-analyzer:\n    outputs: [{type: fact, confidence_min: 0.5}]\n"
        "  security-reviewer:\n    outputs: [{type: fact, required_fields: [severity]}]\n"
        "  nobody:\n    inputs: [{type: fact}]\n"
    )
    got = lctl("validate", "log.lctl.json", "--contracts", "c.yaml")
    assert got.code == 1
    assert got.out == (
        "Validating 25 events against 3 contracts...\n"
        "✗ code-analyzer outputs: 1 violation\n"
        "  [2] code-analyzer: fact F1: confidence 0.4, expected at least 0.5\n"
        "✗ security-reviewer outputs: 1 violation\n"
        "  [10] security-reviewer: fact F1: severity is missing\n"
        "✓ nobody inputs valid  (nothing of it in this log)\n"
        "\n"
        "2 violations.\n"
    )
    (place / "n.yaml").write_text("contracts:\n  nobody:\n    inputs: [{type: fact}]\n")
    assert lctl("validate", "log.lctl.json", "--contracts", "n.yaml").code == 0
    strict = lctl("validate", "log.lctl.json", "--contracts", "n.yaml", "--strict")
    assert (strict.code, strict.out.splitlines()[-1]) == (1, "Nothing in the log is of nobody.")
    document = lctl("validate", "log.lctl.json", "--contracts", "n.yaml", "--strict", "--json").out
    assert '"unmet":["nobody"]' in document
    shown = lctl("validate", "log.lctl.json", "--contracts", "c.yaml", "--json")
    assert shown.code == 1
    assert (
        '{"contract":"code-analyzer","direction":"outputs","seq":2,"agent":"code-analyzer","item":"fact F1",'
        '"field":"confidence","value":0.4,"expected":"at least 0.5"}'
    ) in shown.out


def recorded(session: LCTLSession) -> list[dict[str, Any]]:
    return [e for e in session.to_dict()["events"] if e["type"] == "contract_validation"]


def test_live_and_offline_say_the_same(tmp_path: Path) -> None:
    """What a session records is what checking its log finds; the first event defines the contract."""
    session = trustlogs.session(tmp_path)
    with session:
        session.use_contracts(REVIEWER)
        with (
            pytest.warns(UserWarning, match="event 2: fact F1: severity is missing"),
            session.step("reviewer"),
        ):
            session.add_fact("F1", "one", 0.9)
        session.add_fact("F2", "two", 0.9, severity="low", agent="reviewer")  # outside any step
        with session.step("reader"):
            session.read_facts(["F1"], agent="reviewer")
    log = list(load(session.path).events)
    live = [
        (e.data["direction"] + "s", e.data["status"], e.data["checked"])
        for e in log
        if e.type == "contract_validation"
    ]
    found = check(read_contracts(REVIEWER), log)
    assert sorted(live) == sorted(
        (one.direction, "passed" if one.passed else "failed", one.checked) for one in found
    )
    defined = [e.data.get("definition") for e in log if e.type == "contract_validation"]
    assert defined[0] == REVIEWER["reviewer"] and not any(defined[1:])


def test_raising(tmp_path: Path) -> None:
    """Under that policy the step's end raises, an input raises from where it came; an exception of the
    program's own is not replaced. The step that may not begin is ended."""
    session = trustlogs.session(tmp_path)
    session.use_contracts(REVIEWER, policy="raise")
    with pytest.raises(ContractViolated, match="severity is missing") as caught, session.step("reviewer"):
        session.add_fact("F1", "one", 0.9)
    assert [one.field for one in caught.value.violations] == ["severity"]
    with pytest.raises(ZeroDivisionError), session.step("reviewer"):
        session.add_fact("F2", "two", 0.9)
        raise ZeroDivisionError
    session.emit("fact_added", {"id": "F3"}, agent="other")
    with pytest.raises(ContractViolated, match="inputs of reviewer"):
        session.read_facts(["F3"], agent="reviewer")
    session.handoff("reviewer", facts=["F3"])
    with pytest.raises(ContractViolated, match="inputs of reviewer"), session.step("reviewer"):
        raise AssertionError("the step may not begin")
    assert session.frame().step is None
    with pytest.raises(UsageError, match="policy='stop'"):
        session.use_contracts(REVIEWER, policy="stop")  # type: ignore[arg-type]
    session.close()
    state = load(session.path).state
    assert not state.open_steps and not state.diagnostics


def test_runs_of_one_agent_side_by_side() -> None:
    """Each is judged when it ends, by what it gave itself; what is outside any is judged at the end."""

    def in_step(seq: int, step: int | None, type: str, **data: Any) -> Event:
        return Event(seq=seq, type=type, agent="reviewer", step=step, data=data)

    raw = [
        Event(seq=1, type="step_start", agent="boss"),
        in_step(2, 1, "step_start"),
        in_step(3, 1, "step_start"),
        in_step(4, 3, "step_start", kind="llm"),
        in_step(5, 4, "fact_added", id="F1", severity="low"),
        in_step(6, 2, "fact_added", id="F2"),
        in_step(7, 4, "step_end"),
        in_step(8, 3, "step_end"),
        in_step(9, 2, "step_end"),
        in_step(10, 1, "fact_added", id="F3"),
    ]
    found = check(read_contracts(REVIEWER), raw)
    assert [(one.seq, one.step, one.checked, one.passed) for one in found] == [
        (8, 3, 1, True), (9, 2, 1, False), (10, None, 1, False),
    ]  # fmt: skip
