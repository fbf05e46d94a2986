"""Files and manifests: what an export says of itself (rows G14, G16)."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import orjson
import pytest

import lctl
from lctl.errors import LogError, UsageError
from lctl.stores.opening import open_store
from lctl.stores.outbox import push
from lctl.testing import ModelServer
from tests.unit.importing.sources import claude_row, imported_lines
from tests.unit.training import fixtures
from tests.unit.training.fixtures import CALL, Talk, start


def written(talk: Talk, path: Path, chain: dict[str, Any] | None = None, first: int = 0) -> Path:
    document = {"lctl": "4.0", "chain": chain or {"id": path.name}, "events": talk.events[first:]}
    path.write_bytes(orjson.dumps(document))
    return path


def lines(path: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


def test_g14_the_manifest(tmp_path: Path) -> None:
    """Calls, rows, merge ratio, breaks and skips by reason, and the hash of the log's events."""
    talk = fixtures.model_changed().tell("u4", "a3").a("a4", "u4", model="n", status="aborted")
    log = written(talk, tmp_path / "run.lctl.json", {"id": "run-1"})
    made = lctl.export_training(log, tmp_path / "out.jsonl", "openai")
    assert made == orjson.loads((tmp_path / "out.jsonl.manifest.json").read_bytes())
    said = made["logs"][0].pop("hash")
    assert said == "sha256:" + _hash(log)
    assert made == {
        "lctl": lctl.__version__,
        "format": "openai",
        "file": "out.jsonl",
        "rows": 2,
        "calls": 4,
        "trained": 3,
        "merge_ratio": 1.5,
        "breaks": {"model_changed": 1},
        "skipped": {"aborted": 1},
        "lost": {},
        "refused": [],
        "together": {},
        "options": {
            "paths": "all",
            "shared": "first",
            "reasoning": "exact",
            "min_weight_tokens": 1,
            "train_edited": False,
            "allow_length": False,
        },
        "logs": [{"id": "run-1", "name": "run.lctl.json", "events": len(talk.events)}],
    }


def _hash(path: Path) -> str:
    from lctl.codec import open_log
    from lctl.codec.verification import verify

    return str(verify(open_log(path)).hash)


def test_g14_all_reasons_in_one_manifest(tmp_path: Path) -> None:
    """Several logs, one file; every reason of the table is counted."""
    logs = [written(made(), tmp_path / f"{name}.json") for name, made in fixtures.BREAKS.items()]
    made = lctl.export_training(logs, tmp_path / "out.jsonl")
    assert made["breaks"] == dict.fromkeys(sorted(fixtures.BREAKS), 1)
    assert (
        made["calls"]
        == made["trained"]
        == sum(sum(row["loss_mask"]) for row in lines(tmp_path / "out.jsonl"))
    )
    assert made["rows"] == len(lines(tmp_path / "out.jsonl"))
    assert len(made["logs"]) == len(logs)


def test_g14_of_a_log_and_its_fork_the_shared_part_is_trained_once(tmp_path: Path) -> None:
    """The fork's log holds its prefix or refers to it: the same rows either way."""
    talk = start()
    parent = written(talk, tmp_path / "parent.json", {"id": "p"})
    forked = start().tell("u3", "a2").a("a3", "u3")
    header = {"id": "f", "parent": {"id": "p", "seq": 5}}
    whole = written(forked, tmp_path / "whole.json", header)
    linked = written(forked, tmp_path / "linked.json", header, first=5)
    for fork in (whole, linked):
        made = lctl.export_training([parent, fork], tmp_path / "out.jsonl")
        rows = lines(tmp_path / "out.jsonl")
        assert [row["loss_mask"] for row in rows] == [[0, 0, 1, 0, 1], [0, 0, 0, 0, 0, 0, 1]]
        assert [row["sample_id"] for row in rows] == ["p:a2", "f:a3"]
        assert (made["calls"], made["trained"], made["breaks"]) == (3, 3, {"fork": 1})
    alone = lctl.export_training(whole, tmp_path / "out.jsonl")
    assert (alone["trained"], alone["rows"], alone["breaks"]) == (3, 1, {})
    broken = lctl.export_training(linked, tmp_path / "out.jsonl")
    assert (broken["rows"], broken["skipped"]) == (0, {"broken": 1})


def test_g14_copies_of_one_log_are_trained_once(tmp_path: Path) -> None:
    """Given twice, or as a file and from a store; the longest is the one that is trained."""
    talk = start().tell("u3", "a2").a("a3", "u3")
    whole = written(talk, tmp_path / "whole.json", {"id": "r"})
    part = written(start(), tmp_path / "part.json", {"id": "r"})
    push(lctl.load(whole).log, open_store(f"sqlite:///{tmp_path}/runs.db", create=True))
    stored = f"sqlite:///{tmp_path}/runs.db#r"
    given: list[list[Any]] = [[whole, whole], [whole, part], [part, whole], [whole, stored]]
    for logs in (*given, [stored, part, whole]):
        made = lctl.export_training(logs, tmp_path / "out.jsonl")
        (row,) = lines(tmp_path / "out.jsonl")
        assert (made["calls"], made["trained"], row["loss_mask"]) == (3, 3, [0, 0, 1, 0, 1, 0, 1])


def _answered(talk: Talk, id: str, parent: str, response: str, **data: Any) -> Talk:
    talk.a(id, parent, **data).add("step_end", outcome="success", message=id, response_id=response)
    return talk


def test_g14_a_run_and_its_rerun_are_trained_once(tmp_path: Path) -> None:
    """A rerun is the run to the letter; where its program has changed, the answers it was served are the
    run's, and context here."""
    run = _answered(_answered(start(), "a3", "a2", "r3", content="three"), "a4", "a3", "r4", content="four")
    same = written(run, tmp_path / "same.json", {"id": "again", "rerun": {"of": "r"}})
    changed = _answered(start().tell("more", "a2"), "a3x", "more", "r3", content="three")
    changed = _answered(changed, "new", "a3x", "r5", content="five")
    other = written(changed, tmp_path / "other.json", {"id": "changed", "rerun": {"of": "again"}})
    original = written(run, tmp_path / "run.json", {"id": "r"})
    out = tmp_path / "out.jsonl"
    assert lctl.export_training(same, out)["trained"] == 4
    for logs in ([original, same], [same, original]):
        assert lctl.export_training(logs, out)["trained"] == 4
        assert [row["sample_id"] for row in lines(out)] == ["r:a4"]
    made = lctl.export_training([other, same, original], out)
    assert (made["trained"], made["breaks"]) == (5, {"fork": 1})
    masks = {row["sample_id"]: row["loss_mask"] for row in lines(out)}
    assert masks == {"changed:new": [0, 0, 0, 0, 0, 0, 0, 1], "r:a4": [0, 0, 1, 0, 1, 1, 1]}
    assert lctl.export_training([other, same], out)["trained"] == 5


def test_g14_what_is_nobodys_relative_is_trained_as_it_is(tmp_path: Path) -> None:
    """Two runs that say the same are two runs."""
    logs = [written(start(), tmp_path / f"{name}.json", {"id": name}) for name in ("one", "two")]
    assert lctl.export_training(logs, tmp_path / "out.jsonl")["trained"] == 4


def test_g14_a_child_process_is_no_fork(tmp_path: Path) -> None:
    """It has a parent, too, and shares no event with it."""
    parent = written(start(), tmp_path / "parent.json", {"id": "p"})
    other = Talk().tell("v1", None).a("b1", "v1").tell("v2", "b1").a("b2", "v2").tell("v3", "b2")
    child = written(other, tmp_path / "child.json", {"id": "c", "parent": {"id": "p", "seq": 5}})
    assert lctl.export_training([parent, child], tmp_path / "out.jsonl")["trained"] == 4


def test_g16_arguments_that_were_sent_back_in_other_characters_are_counted(tmp_path: Path) -> None:
    """The row has them as the model wrote them, which is not to the letter what the next call read."""
    openai = pytest.importorskip("openai")
    log, out = tmp_path / "run.lctl.json", tmp_path / "out.jsonl"
    with (
        ModelServer() as server,
        lctl.LCTLSession("a", path=log),
        openai.OpenAI(base_url=server.openai_url, api_key="t") as client,
    ):
        server.reply(tool_calls=[("f", {"x": 1})])
        server.script(["done", "done"])
        asked: list[Any] = [{"role": "user", "content": "go"}]
        answer = client.chat.completions.create(model="m", messages=asked).choices[0].message
        (call,) = answer.tool_calls
        result = {"role": "tool", "tool_call_id": call.id, "content": "r"}
        same = answer.model_dump(exclude_none=True)
        written = call.function.arguments
        client.chat.completions.create(model="m", messages=[*asked, same, result])
        exact = lctl.export_training(log, out, "openai")
        same["tool_calls"][0]["function"]["arguments"] = '{\n  "x": 1\n}'
        client.chat.completions.create(model="m", messages=[*asked, same, result])
    made = lctl.export_training(log, out, "openai")
    assert (exact["lost"], made["lost"]) == ({}, {"re-serialised tool arguments": 1})
    assert lines(out)[0]["messages"][1]["tool_calls"][0]["function"]["arguments"] == written


def test_g16_every_kind_of_log(tmp_path: Path) -> None:
    path = written(start(), tmp_path / "run.json", {"id": "r"})
    chain = lctl.load(path)
    out = tmp_path / "out.jsonl"
    for log in (path, str(path), chain, chain.log, chain.tree, [chain], (path,)):
        assert lctl.export_training(log, out)["trained"] == 2
    with pytest.raises(UsageError, match="made of logs, chains and trees, not of int"):
        lctl.export_training(7, out)  # type: ignore[arg-type]


def test_g16_a_running_session(tmp_path: Path) -> None:
    """Its own tree gives samples while it is recorded."""
    with lctl.LCTLSession(path=tmp_path / "run.lctl.json") as session:
        asked = [{"role": "user", "content": "q"}]
        session.llm_trace(asked, "a", model="m", usage={"input": 3, "output": 1})
        made = lctl.export_training(session, tmp_path / "out.jsonl")
    [row] = lines(tmp_path / "out.jsonl")
    assert (row["model"], row["loss_mask"], made["trained"]) == ("m", [0, 1], 1)
    assert row["calls"][0]["usage"] == {"input": 3, "output": 1}


def test_g16_no_log_is_written_over(tmp_path: Path) -> None:
    log = written(fixtures.compaction(), tmp_path / "run.lctl.json")
    (tmp_path / "link").symlink_to(log)
    before = log.read_bytes()
    for target in (log, tmp_path / "link"):
        with pytest.raises(UsageError, match="is what is read here, and would be lost"):
            lctl.export_training([log], target)
    assert log.read_bytes() == before and not list(tmp_path.glob("*manifest*"))


def test_g16_to_seq(tmp_path: Path) -> None:
    """What an export gives up to a seq is what a log that ends there gives."""
    talk = fixtures.compaction()
    whole = written(talk, tmp_path / "whole.json", {"id": "r"})
    for seq in range(1, len(talk.events) + 1):
        talk.events = lctl.load(whole).to_dict()["events"][:seq]
        cut = written(talk, tmp_path / "cut.json", {"id": "r"})
        lctl.export_training(whole, tmp_path / "a", to_seq=seq)
        lctl.export_training(cut, tmp_path / "b")
        assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_g16_large_content_is_put_back(tmp_path: Path) -> None:
    """An image that the log holds once, by its hash, is in the row; one that it lost is said."""
    image = {
        "type": "image_url",
        "image_url": {"url": {"$blob": "sha256:i", "prefix": "data:image/png;base64,"}},
    }
    talk = Talk().tell("u1", None, content=[{"type": "text", "text": "see"}, image]).a("a1", "u1")
    talk.events.insert(0, {**talk.events[0], "type": "blob", "data": {"hash": "sha256:i", "content": "AAAA"}})
    for n, event in enumerate(talk.events, 1):
        event["seq"] = n
    out = tmp_path / "out.jsonl"
    made = lctl.export_training(written(talk, tmp_path / "run.json"), out, "openai")
    assert lines(out)[0]["messages"][0]["content"][1]["image_url"]["url"] == "data:image/png;base64,AAAA"
    assert made["lost"] == {}
    del talk.events[0]
    made = lctl.export_training(talk.tree, out, "openai")
    assert made["lost"] == {"content that the log does not hold": 1, "image_url": 1}


def test_g16_a_file_is_whole_or_not_there(tmp_path: Path) -> None:
    path = written(start(), tmp_path / "run.json")
    with pytest.raises(LogError, match="cannot be written"):
        lctl.export_training(path, tmp_path / "no" / "out.jsonl")
    with pytest.raises(UsageError, match="no training format 'doc'; there are calls, openai"):
        lctl.export_training(path, tmp_path / "out.jsonl", "doc")
    assert sorted(found.name for found in tmp_path.iterdir()) == ["run.json"]


def test_g16_rows_are_read_one_at_a_time(tmp_path: Path) -> None:
    """Memory does not grow with the rows: of 150 forks of a long prefix one row is held at a time."""
    import tracemalloc

    talk = Talk().tell("n0", None)
    for n in range(1, 150):
        talk.tell(f"n{n}", f"n{n - 1}", role="user", content="x" * 1000)
    for n in range(150):
        talk.say(f"a{n}", "n149", role="assistant", sampled=True, call=CALL)
    found = lctl.load(written(talk, tmp_path / "run.json")).tree
    from lctl.training import samples

    gc.collect()
    tracemalloc.start()
    rows = sum(1 for _ in samples(found))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert rows == 150
    assert peak < 150 * 1000 * 20  # a row is 150 kB; all of them would be 22 MB


def test_g14_sessions_of_claude_code_that_share_their_beginning_are_trained_once(tmp_path: Path) -> None:
    """A session that was forked holds what was before, row for row. What only says the same is another."""
    rows = [claude_row("u1", None), claude_row("a1", "u1", "assistant")]
    more = [claude_row("u2", "a1"), claude_row("a2", "u2", "assistant")]
    other = [claude_row("v2", "a1"), claude_row("b2", "v2", "assistant")]
    forked = [{**row, "sessionId": "s2"} for row in [*rows, *other]]
    apart = [claude_row("u1", None), claude_row("a1", "u1", "assistant", message={"id": "msg_other"})]
    logs = [imported_lines(one).log for one in ([*rows, *more], forked, apart)]
    assert lctl.export_training(logs[:2], tmp_path / "out.jsonl", "calls")["trained"] == 3
    trained = [call["message_id"] for row in lines(tmp_path / "out.jsonl") for call in marked(row)]
    assert trained == ["a1", "a2", "b2"]
    assert lctl.export_training(logs, tmp_path / "out.jsonl", "calls")["trained"] == 4


def marked(row: dict[str, Any]) -> list[dict[str, Any]]:
    """The calls that a row trains."""
    return [call for call in row["calls"] if row["loss_mask"][call["message_index"]]]
