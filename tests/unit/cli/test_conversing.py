"""`lctl tree`, `branches` and `transcript` (rows X6 and X8)."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from lctl.analysis.branches import Shape, difference
from lctl.analysis.callcosts import call_costs
from lctl.chain import Chain
from lctl.codec import open_log
from lctl.conversation.tree import Tree
from tests.golden import logs
from tests.unit.cli.conftest import Cli, lctl, place
from tests.unit.conversation.events import Log, chain, history

__all__ = ["lctl", "place"]  # fixtures


@pytest.fixture
def log(place: Path) -> str:
    """The conversation of the golden files, in the working directory."""
    logs.written(place / "c.lctl.json", logs.conversation(), "c")
    return "c.lctl.json"


def written(place: Path, made: Log) -> str:
    logs.written(place / "x.lctl.json", made.events, "x")
    return "x.lctl.json"


# -- X6: where branches part -----------------------------------------------------------------


def test_x6_branches_part_where_the_paths_do(log: str, lctl: Cli) -> None:
    """Each leaf once, with depth, messages, and the last message shared with the main line."""
    found = {one["leaf"]: one for one in json.loads(lctl("branches", log, "--json").out)["branches"]}
    assert set(found) == {"a1", "a4", "a5", "n2", "x1", "v2"}
    assert {leaf: one["parts"] for leaf, one in found.items()} == {
        "a1": "u1", "a4": None, "a5": "s1", "n2": None, "x1": None, "v2": None,
    }  # fmt: skip
    assert (found["a4"]["depth"], found["a4"]["messages"], found["a4"]["status"]) == (5, 7, "aborted")
    assert [leaf for leaf, one in found.items() if one["active"]] == ["a4"]
    assert [leaf for leaf, one in found.items() if not one["complete"]] == ["x1"]


def test_x6_the_difference_of_two_branches(log: str, lctl: Cli) -> None:
    """The messages both have, then what each has alone; by id, start of an id, or seq."""
    found = json.loads(lctl("branches", log, "--diff", "a1", "a5", "--json").out)
    assert found == {"common": "s1", "shared": 1, "one": ["u1", "a1"], "other": ["u1b", "a5"]}
    text = lctl("branches", log, "--diff", "a1", "t1").out
    assert "They share 2 messages\n  [2] user  What is 2+2?\n" in text
    assert lctl("branches", log, "--diff", "n1", "a1").out.startswith("They share no message.\n")
    assert lctl("branches", log, "--diff", "nobody", "a1").code == 2
    assert lctl("branches", log, "--diff", "x1", "a1").code == 3


@pytest.mark.parametrize("r", [random.Random(seed) for seed in range(40)])
def test_x6_parting_points_are_the_lowest_common_ancestors(r: random.Random) -> None:
    """Against the naive way, for any tree at any seq."""
    events = history(r)
    whole = Tree.of(events)
    for seq in {len(events), r.randint(1, len(events))}:
        tree = whole.at(seq)
        shape = Shape(tree)
        for branch in shape.branches():
            path = [node.id for node in tree.path(branch.leaf.id, strict=False)]
            assert branch.messages == len(path)
            main = [
                tree.node(n).id
                for n in tree.way(shape.line_of[shape.top_of[branch.leaf.number]], strict=False)
            ]
            shared = [one for one, other in zip(path, main, strict=False) if one == other]
            assert (branch.parts.id if branch.parts else None) == (None if path == main else shared[-1])
            if branch.complete and len(main) and tree.is_complete(main[-1]):
                assert difference(tree, path[-1], main[-1]).shared == len(shared)


def test_x6_as_of_any_event(log: str, lctl: Cli) -> None:
    """`--to-seq` on all three: nothing later is there, calls that had not ended cost nothing yet."""
    at = json.loads(lctl("tree", log, "--to-seq", "5", "--json").out)
    assert [node["message_id"] for node in at["nodes"]] == ["s1", "u1", "a1"] and at["seq"] == 5
    assert json.loads(lctl("branches", log, "--to-seq", 4, "--json").out)["total"]["calls"] == 0
    assert json.loads(lctl("branches", log, "--to-seq", 5, "--json").out)["total"]["calls"] == 1
    said = json.loads(lctl("transcript", log, "a4", "--to-seq", "21", "--json").out)
    assert said["messages"][-1]["content"] == "It is fo"
    assert lctl("transcript", log, "a5", "--to-seq", "5").code == 2
    for command in ("tree", "branches", "transcript"):
        assert lctl(command, log, "--to-seq", "0").out == "There are no messages after event 0.\n"
    for command in ("tree", "branches", "transcript", "samples", "export"):
        assert lctl(command, log, "--to-seq", "-1").code == 2


# -- X8: facts and costs at their messages ---------------------------------------------------


def test_x8_a_branch_costs_its_path_and_the_tree_each_call_once(log: str, lctl: Cli) -> None:
    """gpt-4o: 2.50 and 10 dollars a million tokens. What branches share is in each, in the total once."""
    found = json.loads(lctl("branches", log, "--json").out)
    cost = {one["leaf"]: one["cost_usd"] for one in found["branches"]}
    price = {"a1": 60e-6, "a2": 70e-6, "a3": 155e-6, "a5": 60e-6}
    assert cost["a1"] == pytest.approx(price["a1"])
    assert cost["a4"] == pytest.approx(price["a2"] + price["a3"])
    assert cost["a5"] == pytest.approx(price["a5"])
    assert cost["n2"] == 0
    assert found["total"]["cost_usd"] == pytest.approx(sum(price.values()))
    assert found["total"]["calls"] == 4
    shown = Chain.load(log)
    from lctl.analysis.stats import stats

    assert found["total"]["cost_usd"] == pytest.approx(stats(shown.log).cost)


def test_x8_shared_messages_copies_several_answers_and_failed_calls(place: Path, lctl: Cli) -> None:
    """Two answers of one call are on two branches and one call; a copy costs nothing; a call that failed
    is in the total and on no branch."""
    made = chain("u1")
    tokens = {"input": 100, "output": 0}

    def call(step: int, **end: Any) -> None:
        made.add("step_end", **end)
        made.events[-1]["step"] = step

    made.add("step_start", kind="llm", model="gpt-4o", provider="openai")
    made.say("a1", "u1", sampled=True).say("a2", "u1", sampled=True)
    call(2, message="a1", messages=["a1", "a2"], tokens=tokens)
    made.say("u2", "a1").add("step_start", kind="llm", model="gpt-4o", provider="openai")
    call(7, outcome="error", tokens=tokens)
    made.say("u3", "u1", fork_of="a1", carry=["a1", "u2"])
    found = json.loads(lctl("branches", written(place, made), "--json").out)
    assert {one["leaf"]: one["calls"] for one in found["branches"]} == {"u2": 1, "a2": 1, "u3+2": 0}
    assert found["total"]["calls"] == 2
    assert found["total"]["cost_usd"] == pytest.approx(2 * 100 * 2.5e-6)


def test_x8_calls_that_came_to_nothing_are_calls(place: Path, lctl: Cli) -> None:
    """As `lctl stats` counts them. They cost nothing, and leave nothing of the sum open; an answer that was
    left does."""
    made = chain("u1")

    def call(status: str, **end: Any) -> None:
        made.add("step_start", kind="llm", model="gpt-4o", provider="openai")
        begun = len(made.events)
        if "message" in end:
            made.say(end["message"], "u1", sampled=True, status=status)
        made.add("step_end", outcome=status, **end)
        made.events[-1]["step"] = begun

    call("complete", message="a1", tokens={"input": 1_000_000, "output": 0})
    call("error")
    call("cancelled")
    log = written(place, made)
    head, stated = lctl("tree", log).out.splitlines()[0], json.loads(lctl("stats", log, "--json").out)
    assert head.endswith("3 model calls, $2.500") and stated["llm_calls"] == 3
    call("aborted", message="a2")
    head = lctl("tree", written(place, made)).out.splitlines()[0]
    assert head.endswith("4 model calls, $2.500+")


def test_x8_calls_told_by_their_messages(place: Path, lctl: Cli) -> None:
    """A log without steps, as other writers may make it: `call` holds model and usage."""
    call = {"model": "gpt-4o", "usage": {"input": 1000, "output": 0}}
    made = chain("u1").say("a1", "u1", sampled=True, call=call)
    found = json.loads(lctl("tree", written(place, made), "--json").out)["nodes"][1]["call"]
    assert found == {"model": "gpt-4o", "input": 1000, "output": 0, "cost_usd": pytest.approx(0.0025)}


def test_x8_what_no_call_tells_is_null(place: Path, lctl: Cli) -> None:
    """Of a model without a known price that does not say what it read: not 0, which could be added up."""
    made = chain("u1").add("step_start", kind="llm", model="my-own", provider="local")
    made.say("a1", "u1", sampled=True).add("step_end", message="a1", messages=["a1"])
    made.events[-1]["step"] = 2
    found = json.loads(lctl("branches", written(place, made), "--json").out)
    for spent in (found["total"], found["branches"][0]):
        assert (spent["calls"], spent["unpriced"]) == (1, 1)
        assert (spent["input"], spent["output"], spent["cost_usd"]) == (None, None, None)
    nothing = json.loads(lctl("branches", written(place, chain("u1")), "--json").out)["total"]
    assert (nothing["calls"], nothing["input"], nothing["cost_usd"]) == (0, 0, 0.0)


def test_x8_facts_stand_at_the_message_they_are_about(log: str, place: Path, lctl: Cli) -> None:
    """As they are at that event: a change of one is shown, by alias too, and not before it was added."""
    node = {n["message_id"]: n for n in json.loads(lctl("tree", log, "--json").out)["nodes"]}
    assert node["a2"]["facts"] == ["1 thumbs up"]
    assert not any("facts" in n for n in json.loads(lctl("tree", log, "--to-seq", 8, "--json").out)["nodes"])
    made = chain("u1", "a1").add("message_alias", alias="out-1", message_id="a1")
    made.add("fact_added", id="F1", text="good", confidence=0.5, about="out-1")
    made.add("fact_modified", id="F1", confidence=0.9)
    made.add("fact_added", id="F2", text="of nothing here", about="elsewhere")
    drawn = lctl("tree", written(place, made)).out
    assert "  ★ 0.9 good\n" in drawn and "nothing here" not in drawn


# -- the drawing -----------------------------------------------------------------------------


def test_long_chains_are_not_indented_and_are_folded(place: Path, lctl: Cli) -> None:
    """A thousand messages are the ends and a count; --full has them all, none further in than the first."""
    made = chain(*[f"m{n}" for n in range(1000)])
    path = written(place, made)
    short = lctl("tree", path).out.splitlines()
    assert "… 980 messages; --full shows them" in short and len(short) == 24
    full = lctl("tree", path, "--full").out.splitlines()
    assert len(full) == 1003 and all(line.startswith("● [") for line in full[3:])


def test_wide_and_deep_forks_are_told_by_their_number(place: Path, lctl: Cli) -> None:
    """Nothing is left out without a word, and the main line is always drawn."""
    made = chain("u1")
    for n in range(50):
        made.say(f"a{n}", "u1")
    drawn = lctl("tree", written(place, made)).out
    assert "├─ … 41 more forks with 41 messages; --full shows them" in drawn
    assert "● [51] assistant  a49  ← active" in drawn
    deep = chain("m0")
    for n in range(1, 60):
        deep.say(f"m{n}", f"m{n - 1}").say(f"x{n}", f"m{n - 1}")
    newest = deep.say("last", "m0")
    drawn = lctl("tree", written(place, newest)).out
    assert all(len(line) < 200 for line in drawn.splitlines())
    assert "--full shows them" in drawn and "← active" in drawn
    full = lctl("tree", written(place, newest), "--full").out
    assert all(f"  {id}" in full for id in ("m59", "x59", "last"))


@pytest.mark.parametrize("r", [random.Random(seed) for seed in range(30)])
def test_every_message_is_drawn_once_at_every_seq(r: random.Random) -> None:
    """Orphans, copies, circles, sub-agents and all: with --full each message that can be reached has its
    line, and the rest is named."""
    from lctl.cli.treelines import Drawing

    events = history(r)
    for seq in {len(events), r.randint(1, len(events))}:
        tree = Tree.of(events).at(seq)
        shape = Shape(tree)
        marks = {"● ", "○ ", "◌ ", "✗ "}
        drawn = [
            line for line in Drawing(shape, full=True).lines() if marks & {one[0] for one in line if one}
        ]
        assert len(drawn) + len(shape.circular) == len(tree)


def test_sub_agents_inside_each_other_are_drawn_once(place: Path, lctl: Cli) -> None:
    """Three levels deep; two that claim to be inside each other, one inside itself, one inside nothing."""
    made = chain("u1", "a1")
    for name, host in (("b", "a1"), ("c", "b2"), ("x", "y2"), ("y", "x2"), ("z", "z2"), ("q", "nowhere")):
        made.say(f"{name}1", None, "user", conversation_id=name, nested_in={"message_id": host})
        made.say(f"{name}2", f"{name}1", "assistant", conversation_id=name)
    drawn = lctl("tree", written(place, made)).out
    for id in ("u1", "a1", *(f"{name}{n}" for name in "bcxyzq" for n in (1, 2))):
        assert (
            len([line for line in drawn.splitlines() if f"  {id}" in line.replace("  ← active", "")]) == 1
        ), id
    assert "│ ├─ sub-agent c by a  2 messages\n│ │ ● [5] user  c1" in drawn


def test_a_log_may_drive_no_terminal(place: Path, lctl: Cli) -> None:
    """Ids, roles, texts, tools and conversations are shown, not sent."""
    bad = "\x1b[2J\nx"
    made = Log().add(
        "message", message_id=f"m{bad}", parent_id=None, role=f"r{bad}", content=bad, status=bad,
        conversation_id=f"c{bad}", tool_calls=[{"id": bad, "function": {"name": bad, "arguments": bad}}],
    )  # fmt: skip
    made.add("message", message_id="o", parent_id=f"p{bad}", role="tool", content=bad, tool_call_id=bad)
    made.add("fact_added", id="F", text=bad, about="o")
    path = written(place, made)
    for words in ("tree", "branches", "tree --full"):
        for terminal in (True, False):
            command, *options = words.split()
            got = lctl(command, path, *options, "--no-color", terminal=terminal)
            assert got.code == 0 and "\x1b" not in got.out
            assert "\nx" not in got.out
    assert "\x1b" not in lctl("transcript", path, "--no-color", terminal=True).out


def test_a_broken_branch_is_an_error_that_names_the_message(log: str, lctl: Cli) -> None:
    """And with --partial what there is, said to be only that."""
    got = lctl("transcript", log, "x1")
    assert (
        got.code == 3 and "hangs on gone, which is not in the log; --partial gives what there is" in got.err
    )
    got = lctl("transcript", log, "x1", "--partial")
    assert got.code == 0 and "Where was I?" in got.out and "not in the log" in got.out
    found = json.loads(lctl("transcript", log, "x1", "--partial", "--json").out)
    assert found["complete"] is False and len(found["messages"]) == 1
    assert lctl("export", log, "--format", "messages").code == 3
    rows = lctl("export", log, "--format", "messages", "--partial").out.splitlines()
    assert [json.loads(row)["missing"] for row in rows if "missing" in json.loads(row)] == ["gone"]


def test_words_that_are_not_all_are_told(place: Path, lctl: Cli) -> None:
    """Of an answer that was left, and of one that is still streamed."""
    made = chain("u1").say("a1", "u1", role="assistant", content="It is fo", status="aborted")
    log = written(place, made)
    for words in (["transcript", log], ["export", log, "--format", "transcript"]):
        assert lctl(*words).out.rstrip().endswith("[assistant, aborted]\nIt is fo")
    assert "[assistant, aborted]" in lctl("export", log, "--format", "report").out
    made.add("stream_start", message_id="a2", parent_id="u1").add(
        "stream_chunk", message_id="a2", content="I"
    )
    assert lctl("transcript", written(place, made), "a2").out.rstrip().endswith("[assistant, streaming]\nI")


def test_a_transcript_is_what_the_model_read(log: str, lctl: Cli) -> None:
    """By default of the branch that was selected; a message by id, seq, or the start of its id."""
    found = json.loads(lctl("transcript", log, "--json").out)
    assert found["leaf"] == "a4"
    assert [m["role"] for m in found["messages"]] == [
        "system",
        "user",
        "assistant",
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    by_id = json.loads(lctl("transcript", log, "a5", "--json").out)
    seq = next(
        n["seq"] for n in json.loads(lctl("tree", log, "--json").out)["nodes"] if n["message_id"] == "a5"
    )
    assert json.loads(lctl("transcript", log, seq, "--json").out) == by_id
    assert [m["content"] for m in by_id["messages"]] == ["Be brief.", "What is 3+3?", "6"]
    text = lctl("transcript", log, "t1").out
    assert "-> ask_agent(" in text and "[tool result c1]\n4\n" in text
    got = lctl("transcript", log, "nope")
    assert got.code == 2 and "branches end at" in got.err


@pytest.mark.parametrize("command", ["tree", "branches", "transcript"])
def test_logs_without_messages_and_other_logs(command: str, place: Path, lctl: Cli) -> None:
    """Empty logs, the seven types, open logs, text that is no log: no traceback, one line at most."""
    logs.written(place / "empty.lctl.json", [], "empty")
    logs.written(place / "seven.lctl.json", logs.security_review(), "seven")
    logs.written(place / "open.lctl.json", logs.assistant()[:9], "open", closed=False)
    for name in ("empty", "seven", "open"):
        got = lctl(command, f"{name}.lctl.json")
        assert got.code == 0, got.err
        assert json.loads(lctl(command, f"{name}.lctl.json", "--json").out)
    (place / "text").write_text("hello")
    got = lctl(command, "text")
    assert got.code == 3 and got.err.count("\n") == 1


def test_costs_agree_with_the_statistics_of_a_recorded_log() -> None:
    """The same calls, the same tokens, the same dollars as `lctl stats`."""
    from lctl.analysis.stats import stats

    log = open_log(json.dumps({"lctl": "4.0", "chain": {"id": "a"}, "events": logs.assistant()}).encode())
    costs = call_costs(log)
    tree = Chain.of(log).tree
    total = Shape(tree, costs.by_message).total(costs.unanswered)
    known = stats(log)
    assert (total.input, total.output) == (known.tokens.input, known.tokens.output)
    assert total.calls == known.llm_calls
