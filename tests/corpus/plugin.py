"""Driver plugin: what a log says of real SDK calls, held against what was on the wire.

    python <tools>/driver.py <corpus>/cassettes --plugin tests/corpus/plugin.py
        [--mode async --concurrency 16] [--surface create|raw|streaming|helper] [--break-after N]

The driver makes every recorded call again with the real `openai` or `anthropic` SDK; lctl records one
session per cassette; after each call the events it added are compared, field by field, with the row's
truth. Prints a table of equal/known per field and leaves with status 1 on any difference.
LCTL_CORPUS_SHOW=N prints the first N differences (20).
"""

from __future__ import annotations

import collections
import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import orjson

ROOT = Path(__file__).resolve().parents[2]
for folder in (ROOT, ROOT / "integrations"):
    sys.path.insert(0, str(folder))

from tests.corpus import recorded  # noqa: E402

ANSWERED = ("ok", "sdk_error")  # the wire was good, whatever the SDK made of it
# "unsendable": mostly never sent, but also answers at which parse() raises a TypeError.
NOT_COMPARED = ("unsendable", "unmatched", "failed")

_log: ContextVar[Log] = ContextVar("log")
_folder = tempfile.TemporaryDirectory(prefix="lctl-corpus-")
_table: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
_differences: list[str] = []


class Log:
    """A log that is being written, read as it grows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.messages: dict[str, dict[str, Any]] = {}
        self.toolsets: dict[str, Any] = {}
        self._at = 0

    def new_events(self) -> list[dict[str, Any]]:
        data = self.path.read_bytes()[self._at :]
        self._at += len(data)
        events = []
        for line in data.split(b"\n"):
            line = line.strip(b",\r ")
            if line.startswith(b'{"seq":'):
                events.append(orjson.loads(line))
        for event in events:
            if event["type"] == "message":
                self.messages[event["data"]["message_id"]] = event["data"]
            elif "tool_definitions" in event["data"]:
                self.toolsets[event["data"]["tools"]] = event["data"]["tool_definitions"]
        return events

    def path_to(self, id: str | None) -> list[dict[str, Any]]:
        path: list[dict[str, Any]] = []
        while id is not None:
            path.append(self.messages[id])
            id = path[-1]["parent_id"]
        return path[::-1]


# -- the driver's four calls -------------------------------------------------------------------


def setup(args: Any) -> None:
    import lctl

    lctl.auto_instrument()


@contextlib.contextmanager
def around(cassette_id: str) -> Iterator[None]:
    from lctl.session import LCTLSession

    path = Path(_folder.name) / f"{abs(hash(cassette_id)):x}.lctl.json"
    with LCTLSession(path=path):
        _log.set(Log(path))
        yield


def record(row: dict[str, Any]) -> None:
    log = _log.get()
    events = log.new_events()
    steps = [e for e in events if e["type"] == "step_start" and e["data"].get("kind") in ("llm", "embedding")]
    if row["outcome"] in NOT_COMPARED:
        return
    check(row, "steps", len(steps), 1)
    if len(steps) != 1:
        return
    start = steps[0]
    inside = [event for event in events if event.get("step") == start["seq"]]
    ends = [event["data"] for event in inside if event["type"] == "step_end"]
    check(row, "ended", len(ends), 1)
    if len(ends) != 1:
        return
    exchanges = [event["data"] for event in inside if event["type"] == "exchange"]
    errors = [event["data"] for event in inside if event["type"] == "error"]
    check(row, "exchanges", [exchange["status"] for exchange in exchanges], [row["truth"]["http_status"]])
    check_request(row, log, start["data"])
    left = row["outcome"] == "sdk_error" and ends[0]["outcome"] == "aborted"  # a helper raised in mid-stream
    if row["outcome"] == "truncated" or left:
        check_beginning(row, log, ends[0])
    elif row["outcome"] == "api_error":
        check_error(row, ends[0], errors)
    elif row["outcome"] in ANSWERED:
        check_answer(row, log, ends[0])


def teardown(rows: list[dict[str, Any]]) -> None:
    _folder.cleanup()
    skipped = collections.Counter(row["outcome"] for row in rows if row["outcome"] in NOT_COMPARED)
    fields = list(
        dict.fromkeys(name for kind in _table.values() for name in kind if not name.endswith(" equal"))
    )
    print(f"{'field':14}" + "".join(f"{kind:>28}" for kind in sorted(_table)))
    for name in fields:
        cells = [
            f"{_table[k][name + ' equal']}/{_table[k][name]}" if _table[k][name] else "-"
            for k in sorted(_table)
        ]
        print(f"{name:14}" + "".join(f"{cell:>28}" for cell in cells))
    print(f"calls {len(rows)}, not compared {dict(skipped)}, differences {len(_differences)}")
    for text in _differences[: int(os.environ.get("LCTL_CORPUS_SHOW", "20"))]:
        print(" ", text)
    if _differences:
        raise SystemExit(1)


# -- comparisons -------------------------------------------------------------------------------


def check(row: dict[str, Any], name: str, got: Any, want: Any, *, equal: bool | None = None) -> None:
    kind = f"{row['endpoint']}{' stream' if row['truth']['stream'] else ''}"
    same = got == want if equal is None else equal
    _table[kind][name] += 1
    _table[kind][f"{name} equal"] += same
    if not same:
        _differences.append(f"{row['call']} {name}: log {got!r:.300} wire {want!r:.300}")


def check_request(row: dict[str, Any], log: Log, start: dict[str, Any]) -> None:
    sent = row["request"]
    check(row, "asked", start.get("model"), sent["model"])
    check(row, "stream", start.get("stream", False), row["truth"]["stream"])
    tools = sent.get("tools") or sent.get("functions") or None
    check(row, "tools", log.toolsets.get(start.get("tools", "")), tools)
    if row["endpoint"] in ("embeddings", "completions"):
        check(
            row, "input", start.get("input"), sent["input" if row["endpoint"] == "embeddings" else "prompt"]
        )
        return
    prompt = [shown(message) for message in log.path_to(start.get("prompt"))]
    check(row, "prompt", prompt, [shown(message) for message in sent_messages(row["endpoint"], sent)])


def sent_messages(endpoint: str, sent: dict[str, Any]) -> list[dict[str, Any]]:
    system = sent.get("system" if endpoint == "messages" else "instructions")
    first = [{"role": "system", "content": system}] if system and endpoint != "chat.completions" else []
    if endpoint != "responses":
        return [*first, *sent["messages"]]
    if isinstance(sent["input"], str):
        return [*first, {"role": "user", "content": sent["input"]}]
    messages: list[dict[str, Any]] = []
    for item in sent["input"]:
        kind = item.get("type", "message")
        if kind.endswith("_output"):
            messages.append({"role": "tool", "content": item["output"]})
        elif kind == "message" and item["role"] != "assistant":
            messages.append(item)
        elif messages and messages[-1]["role"] == "assistant":
            messages[-1]["content"].append(item)
        else:
            messages.append({"role": "assistant", "content": [item]})
    return first + messages


def shown(message: dict[str, Any]) -> Any:
    """What of a prompt message is compared: who says what, asking for which tools."""
    content = message.get("content")
    text = recorded.text_of(message)
    if isinstance(content, list) and message["role"] not in ("assistant", "system"):
        kinds = [part.get("type") for part in content]
        text = "".join(part.get("text", "") for part in content if isinstance(part.get("text"), str))
        return (message["role"], text, [kind for kind in kinds if kind not in ("text", "input_text")])
    return (message["role"], text or None, recorded.tool_calls_of(message))


def check_answer(row: dict[str, Any], log: Log, end: dict[str, Any]) -> None:
    truth = row["truth"]
    ids = end.get("messages") or [end["message"]] if "message" in end else []
    sampled = [log.messages[id] for id in ids]
    first = sampled[0] if sampled else {}
    check(row, "outcome", end["outcome"], "error" if truth["error"] else "success")
    for field in ("model", "response_id", "finish_reason", "embedding"):
        check(row, field, end.get(field), truth[field])
    texts = [recorded.text_of(message) or None for message in sampled]
    want = [text or None for text in truth["texts"]]
    check(row, "texts", texts if texts or want != [None] else want, want)
    check(row, "reasoning", recorded.reasoning_of(first), truth["reasoning"])
    check(row, "tool_calls", recorded.tool_calls_of(first), truth["tool_calls"])
    tokens = recorded.expected_tokens(truth)
    check(row, "tokens", {key: end.get("tokens", {}).get(key) for key in tokens}, tokens)
    check(row, "status", {m["status"] for m in sampled} <= {"complete"}, not truth["error"] or not sampled)


def check_error(row: dict[str, Any], end: dict[str, Any], errors: list[dict[str, Any]]) -> None:
    truth = row["truth"]["error"]
    check(row, "outcome", end["outcome"], "error")
    check(row, "errors", len(errors), 1)
    if errors:
        said = (errors[0]["context"].get("status"), errors[0]["message"][:500])
        check(row, "error", said, (truth["status"], str(truth["message"])[:500]))


def check_beginning(row: dict[str, Any], log: Log, end: dict[str, Any]) -> None:
    """A stream that was left: what arrived is kept, and is the beginning of the whole."""
    truth = row["truth"]
    sampled = log.messages[end["message"]] if "message" in end else {}
    text = recorded.text_of(sampled) or ""
    check(row, "beginning", text, truth["text"], equal=(truth["text"] or "").startswith(text))
    check(
        row, "outcome", end["outcome"], "aborted or success", equal=end["outcome"] in ("aborted", "success")
    )
    if sampled:
        want = "complete" if end["outcome"] == "success" else "aborted"
        check(row, "status", sampled["status"], want)
