"""Real trajectories come back message for message: each source's raw file, read here on its own, against
what its import says (row X5)."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lctl.analysis.branches import Shape
from lctl.analysis.transcripts import transcript_json
from lctl.chain import Chain
from lctl.codec import validate, verify
from lctl.conversation.tree import Tree
from lctl.importing import Imported, load
from tests.corpus.recorded import SHARED

TRAJECTORIES = SHARED / "corpus" / "trajectories"

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not TRAJECTORIES.exists(), reason=f"no trajectories at {SHARED}"),
]

Message = dict[str, Any]


def files(source: str, pattern: str) -> list[Path]:
    return sorted((TRAJECTORIES / source).rglob(pattern))


def opened(path: Path, form: str) -> tuple[Imported, Tree]:
    """The import, told by itself, and its tree; its log is sound."""
    found = load(str(path))
    assert found.form == form
    assert validate(found.log) == [] and verify(found.log).ok
    tree = Chain.of(found.log).tree
    assert tree.diagnostics == [] and tree.orphans == [] and Shape(tree).circular == []
    return found, tree


def only_path(tree: Tree) -> list[Message]:
    (leaf,) = tree.leaves
    return tree.transcript(leaf.id)


def each(source: str, pattern: str) -> Iterator[Path]:
    found = files(source, pattern)
    assert found, f"no {pattern} of {source}"
    yield from found


def test_x5_corpus_claude_code_rows() -> None:
    """Every row: its uuid, role, content, time; the model's usage once for each answer."""
    for path in each("copilot-claude-session", "*.jsonl"):
        found, tree = opened(path, "claude-code")
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        messages = [row for row in rows if row["type"] in ("user", "assistant")]
        assert found.messages == len(messages)
        times = {e.data.get("message_id"): e.timestamp for e in found.log.events() if e.type == "message"}
        for row in messages:
            node = tree[row["uuid"]]
            assert node.message == {"role": row["message"]["role"], "content": row["message"]["content"]}
            assert times[row["uuid"]][:23] == row["timestamp"][:23]
        last = max(messages, key=lambda row: row["timestamp"])
        in_file = [row["uuid"] for row in messages]
        assert sorted(node.id for node in tree[last["uuid"]].path) == sorted(in_file)
        answers = {
            row["message"]["id"]: row["message"]["usage"] for row in messages if row["type"] == "assistant"
        }
        ends = [event.data for event in found.log.events() if event.type == "step_end"]
        assert sum(end["tokens"]["output"] for end in ends) == sum(
            one["output_tokens"] for one in answers.values()
        )
        results = [part["tool_use_id"] for row in messages for part in row["message"]["content"]
                   if isinstance(part, dict) and part["type"] == "tool_result"]  # fmt: skip
        assert [e.data["call_id"] for e in found.log.events() if e.type == "tool_call"] == results


def test_x5_corpus_swe_agent_history() -> None:
    for path in each("swe-agent", "*.traj"):
        _, tree = opened(path, "swe-agent")
        history = json.loads(path.read_text())["history"]
        expected = []
        for raw in history:
            message = {key: raw[key] for key in ("role", "content", "tool_calls") if key in raw}
            if raw["role"] == "tool":
                message["tool_call_id"] = raw["tool_call_ids"][0]
            expected.append(message)
        assert only_path(tree) == expected
        for node, raw in zip(tree.leaves[0].path, history, strict=True):
            details = node.data.get("details", {})
            for key in ("action", "thought", "message_type"):
                assert details.get(key, "") == raw.get(key, "")


def test_x5_corpus_mini_swe_agent_messages() -> None:
    for path in each("mini-swe-agent", "*.traj.json"):
        _, tree = opened(path, "mini-swe-agent")
        assert only_path(tree) == json.loads(path.read_text())


def test_x5_corpus_inspect_samples() -> None:
    """Every sample's messages, attachments in their place; the tokens of its calls; its scores."""
    for path in each("inspect-ai", "*.eval"):
        found, tree = opened(path, "inspect")
        firsts = {leaf: leaf.path[0].data["details"]["sample"] for leaf in tree.leaves}
        leaves = {(first["id"], first["epoch"]): leaf for leaf, first in firsts.items()}
        with zipfile.ZipFile(path) as archive:
            samples = [json.loads(archive.read(n)) for n in archive.namelist() if n.startswith("samples/")]
        assert len(tree.leaves) == len(samples)
        ends = [event.data for event in found.log.events() if event.type == "step_end"]
        facts = [event.data for event in found.log.events() if event.type == "fact_added"]
        output = 0
        for sample in samples:
            assert tree.transcript(leaves[sample["id"], sample["epoch"]].id) == [
                _inspect(raw) for raw in sample["messages"]
            ]
            answers = [raw["content"] for raw in sample["messages"] if raw["role"] == "assistant"]
            for event in sample["events"]:
                if event["event"] == "model":
                    said = _attached(event["output"]["choices"][0]["message"]["content"], sample)
                    output += (
                        event["output"].get("usage", {}).get("output_tokens", 0) if said in answers else 0
                    )
            for name, score in sample["scores"].items():
                told = [
                    fact["value"]
                    for fact in facts
                    if fact["about"] == leaves[sample["id"], sample["epoch"]].id
                ]
                assert score["value"] in told, name
        assert sum(end.get("tokens", {}).get("output", 0) for end in ends) == output


def _inspect(raw: Message) -> Message:
    message = {"role": raw["role"], "content": raw["content"]}
    if raw.get("tool_calls"):
        message["tool_calls"] = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["function"], "arguments": _json(call)},
            }
            for call in raw["tool_calls"]
        ]
    if raw["role"] == "tool":
        message |= {"tool_call_id": raw["tool_call_id"], "name": raw["function"]}
    return message


def _json(call: dict[str, Any]) -> str:
    return json.dumps(call["arguments"], separators=(",", ":"), ensure_ascii=False)


def _attached(content: Any, sample: dict[str, Any]) -> Any:
    if isinstance(content, str) and content.startswith("attachment://"):
        return sample["attachments"][content.removeprefix("attachment://")]
    return content


def test_x5_corpus_toolbench_trees() -> None:
    """Every path of the search tree from root to leaf is a branch, with the same thoughts, actions, inputs
    and observations in the same order."""
    for path in each("toolbench", "*.json"):
        _, tree = opened(path, "toolbench")
        raw = json.loads(path.read_text())
        expected = list(_search(raw["tree"]["tree"], []))
        found = [[word for node in leaf.path for word in _searched(node.message)] for leaf in tree.leaves]
        assert sorted(found) == sorted(expected)


def _search(node: dict[str, Any], before: list[str]) -> Iterator[list[str]]:
    said = [*before, node["description"]] if node["description"] else [*before]
    if node["node_type"] == "Action Input" and "observation" in node:
        said.append(node["observation"])
    if not node["children"]:
        yield said
    for child in node["children"]:
        yield from _search(child, said)


def _searched(message: Message) -> list[str]:
    if message["role"] == "tool":
        return [message["content"]]
    if message["role"] != "assistant":
        return []
    words = [message["content"] or ""]
    for call in message.get("tool_calls", ()):
        words += [call["function"]["name"], call["function"]["arguments"]]
    return [word for word in words if word]


def test_x5_corpus_who_and_when_histories() -> None:
    """Content and speaker of each message, and the labelled mistake at its message."""
    for path in each("who-and-when", "*.json"):
        found, tree = opened(path, "who-and-when")
        raw = json.loads(path.read_text())
        messages = only_path(tree)
        assert [message["content"] for message in messages] == [one["content"] for one in raw["history"]]
        for message, one in zip(messages, raw["history"], strict=True):
            speaker = one.get("name") or one["role"].partition(" (")[0]
            if speaker in ("user", "assistant", "human"):
                assert (speaker, message["role"]) in (("human", "user"), (message["role"], speaker))
            else:
                assert message["name"] == speaker
        (fact,) = (event.data for event in found.log.events() if event.type == "fact_added")
        assert fact["about"] == f"m{raw['mistake_step']}" and raw["mistake_reason"] in fact["text"]


def test_x5_corpus_adk_events() -> None:
    """Texts, function calls and responses of each event, by author; one without events is refused."""
    from lctl.errors import NotImportable

    for path in each("adk", "*.session.json"):
        raw = json.loads(path.read_text())
        if not raw["events"]:
            with pytest.raises(NotImportable, match="no message"):
                load(str(path))
            continue
        found, tree = opened(path, "adk")
        agents = {e.data.get("message_id"): e.agent for e in found.log.events() if e.type == "message"}
        for event, message in zip(raw["events"], only_path(tree), strict=True):
            assert message["role"] == event["content"]["role"]
            wire = {"function_call": "functionCall", "function_response": "functionResponse"}
            parts = [
                {wire.get(key, key): value for key, value in part.items()}
                for part in event["content"]["parts"]
            ]
            assert message["parts"] == parts
            assert agents[event["id"]] == event["author"]


def test_x5_corpus_langfuse_traces() -> None:
    """Every generation's answer is a message with its tokens; a tool's output answers its call."""
    for path in each("langfuse", "*.trace.json"):
        found, _ = opened(path, "langfuse")
        raw = json.loads(path.read_text())
        calls = [one for one in raw["observations"] if one["type"] == "GENERATION"]
        ids = {one["id"] for one in calls}
        outer = [one for one in calls if one["parentObservationId"] not in ids]
        ends = [event.data for event in found.log.events() if event.type == "step_end"]
        used = [end["tokens"]["output"] for end in ends if "tokens" in end]
        assert sorted(used) == sorted(one["usageDetails"]["output"] for one in outer)
        outputs = [one["output"] for one in raw["observations"] if one["type"] == "TOOL"]
        told = [e.data["output"] for e in found.log.events() if e.type == "tool_call"]
        for output in outputs:
            assert json.loads(output)["content"] in told


def test_x5_corpus_spans() -> None:
    """Each answer that a span holds is a sampled message with the words, model and tokens of its span."""
    told = 0
    for path in [*files("otlp-replayed", "*.json"), *files("openinference-js", "all-spans.json")]:
        raw = json.loads(path.read_text())
        expected = sorted(_answers(raw))
        if not expected:
            continue
        found, tree = opened(path, "otlp")
        ends = {e.data.get("message"): e.data for e in found.log.events() if e.type == "step_end"}
        given = sorted(
            (node.text, ends[node.id].get("tokens", {}).get("output", 0)) for node in tree if node.id in ends
        )
        assert [one for one in given if one[0]] == expected
        told += len(expected)
    assert told > 60


def _answers(raw: Any) -> Iterator[tuple[str, int]]:
    """(text, output tokens) of each span with a text as its one answer."""
    spans = raw if isinstance(raw, list) else [
        span for one in raw["resourceSpans"] for scope in one["scopeSpans"] for span in scope["spans"]
    ]  # fmt: skip
    for span in spans:
        held = span.get("attributes", [])
        said: dict[str, Any] = {}
        if isinstance(held, dict):
            said = held
        else:
            for one in held:
                said[one["key"]] = next(iter(one["value"].values()), None)
        text = said.get("llm.output_messages.0.message.content") or said.get("ai.response.text")
        text = text or said.get("ai.response.object", "")
        text = text or said.get("llm.output_messages.0.message.contents.0.message_content.text", "")
        if "gen_ai.output.messages" in said:
            parts = [part for one in json.loads(said["gen_ai.output.messages"]) for part in one["parts"]]
            text = "".join(part.get("content") or "" for part in parts if part["type"] == "text")
        if text and ("ai.prompt.messages" in said or not isinstance(raw, list)):
            names = ("gen_ai.usage.output_tokens", "llm.token_count.completion", "ai.usage.completionTokens")
            yield text, next((int(said[name]) for name in names if name in said), 0)


def test_x5_corpus_every_trajectory_opens_with_every_command() -> None:
    """Each file is told by itself or refused in one line, and its branches can be exported."""
    from lctl.errors import NotImportable

    refused = []
    for path in sorted(TRAJECTORIES.rglob("*")):
        if not path.is_file() or path.suffix not in (".json", ".jsonl", ".traj", ".eval"):
            continue
        try:
            found = load(str(path))
        except NotImportable as error:
            assert "\n" not in str(error)
            refused.append(path)
            continue
        assert validate(found.log) == []
        assert sum(len(one["messages"]) for one in transcript_json(found.log)) >= found.messages
        assert found.messages or found.form == "otlp"  # a trace without content is steps only
    spans = [path for path in refused if "otlp-replayed" in str(path) or "openinference-js" in str(path)]
    assert [path.name for path in refused if path not in spans] == ["initial.session.json"]


def test_x5_corpus_every_import_survives_opentelemetry() -> None:
    """As OTLP and back: each trajectory's model calls, tokens, tools, errors and times are the same."""
    from lctl.analysis.stats import stats
    from lctl.errors import NotImportable
    from lctl.importing import convert
    from lctl.importing.source import Source
    from lctl.spans import spans_of
    from lctl.spans.otlp import document

    compared = 0
    for path in sorted(TRAJECTORIES.rglob("*")):
        if not path.is_file() or path.suffix not in (".json", ".jsonl", ".traj", ".eval"):
            continue
        try:
            log = load(str(path)).log
        except NotImportable:
            continue
        spans = spans_of(log)
        if all(span.attributes.get("lctl.seq") == 0 for span in spans):
            continue  # messages only: nothing was done
        back = convert(Source(json.dumps(document(spans)).encode(), "spans")).log
        ours, theirs = stats(log), stats(back)
        assert (ours.tokens, ours.llm_calls, ours.tool_calls, ours.steps, ours.errors) == (
            theirs.tokens, theirs.llm_calls, theirs.tool_calls, theirs.steps, theirs.errors,
        ), path  # fmt: skip
        timed = all(event.timestamp for event in log.events())  # a span has a time in any case
        assert _done(log, timed) == _done(back, timed), path
        compared += 1
    assert compared > 30


def _done(log: Any, timed: bool) -> list[tuple[Any, ...]]:
    """What was done: steps, tools and errors, when and by whom."""
    return sorted(
        (event.type, event.timestamp if timed else "", event.agent, str(event.data.get("tool")))
        for event in log.events()
        if event.type in ("step_start", "step_end", "tool_call", "error")
    )
