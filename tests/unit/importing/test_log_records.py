"""Messages that an instrumentor writes as log records beside its spans (OpenTelemetry's own of OpenAI)."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from lctl.importing import load
from lctl.importing.receiving import Receiver
from tests.unit.importing.peers import ends, imported, otlp, said, span
from tests.unit.importing.test_receiving import post

CALL = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 5}
ASKED = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}


def tagged(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return {"kvlistValue": {"values": [{"key": key, "value": tagged(one)} for key, one in value.items()]}}
    if isinstance(value, list):
        return {"arrayValue": {"values": [tagged(one) for one in value]}}
    return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}


def record(n: int, name: str, body: dict[str, Any], **attributes: Any) -> dict[str, Any]:
    """A log record of the span `n`."""
    return {
        "traceId": "1" * 32,
        "spanId": f"{n:016x}",
        "observedTimeUnixNano": "1767225601000000000",
        "eventName": name,
        "body": tagged(body),
        "attributes": [{"key": key, "value": tagged(value)} for key, value in attributes.items()],
    }


def logs(*records: dict[str, Any]) -> dict[str, Any]:
    return {"resourceLogs": [{"scopeLogs": [{"scope": {"name": "x"}, "logRecords": list(records)}]}]}


TRACES = otlp(span(1, "chat m", None, CALL), span(2, "chat m", None, CALL))
RECORDS = logs(
    record(1, "gen_ai.system.message", {"content": "Be brief."}),
    record(1, "gen_ai.user.message", {"content": [{"type": "text", "text": "hi"}]}),
    record(1, "gen_ai.choice", {"index": 0, "message": {"role": "assistant", "tool_calls": [ASKED]}}),
    record(2, "gen_ai.system.message", {"content": "Be brief."}),
    record(2, "gen_ai.user.message", {"content": [{"type": "text", "text": "hi"}]}),
    record(2, "gen_ai.assistant.message", {"tool_calls": [ASKED]}),
    record(2, "gen_ai.tool.message", {"content": "sun", "id": "c1"}),
    record(2, "gen_ai.choice", {"index": 0, "message": {"role": "assistant", "content": "sunny"}}),
)
SAID = [
    ("system", "Be brief."),
    ("user", [{"type": "text", "text": "hi"}]),
    ("assistant", None),
    ("tool", "sun"),
    ("assistant", "sunny"),
]


def lines(*values: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


@pytest.mark.parametrize("data", [lines(TRACES, RECORDS), lines(RECORDS, TRACES)])
def test_messages_as_log_records(data: bytes) -> None:
    """Before or behind their spans."""
    found = imported(data)
    assert said(found) == SAID
    assert ends(found)["chat m"]["tokens"] == {"input": 5}
    assert found.lost == []


def test_details_of_a_call_as_a_log_record() -> None:
    """All in one event, as the conventions have it now. What tells of no call, or of no span, is counted."""
    parts = [{"type": "text", "content": "hi"}]
    told = {
        "gen_ai.input.messages": [{"role": "user", "parts": parts}],
        "gen_ai.output.messages": [{"role": "assistant", "parts": parts, "finish_reason": "stop"}],
    }
    name = "gen_ai.client.inference.operation.details"
    others = [record(1, "device.app.lifecycle", {}), record(9, "gen_ai.user.message", {"content": "x"})]
    found = imported(lines(otlp(span(1, "chat m", None, CALL)), logs(record(1, name, {}, **told), *others)))
    assert said(found) == [("user", "hi"), ("assistant", "hi")]
    assert {loss.what: loss.times for loss in found.lost} == {
        "log record of OpenTelemetry": 1,
        "log record of OpenTelemetry whose span is not there": 1,
    }


@pytest.mark.parametrize("binary", [False, True])
def test_the_receiver_keeps_them(tmp_path: Path, binary: bool) -> None:
    spool = tmp_path / "spool.jsonl"
    body, headers = json.dumps(RECORDS).encode(), {}
    if binary:
        service = pytest.importorskip("opentelemetry.proto.collector.logs.v1.logs_service_pb2")
        from google.protobuf.json_format import ParseDict

        document = json.loads(body)
        for one in document["resourceLogs"][0]["scopeLogs"][0]["logRecords"]:
            for key in ("traceId", "spanId"):
                one[key] = base64.b64encode(bytes.fromhex(one[key])).decode()
        body = ParseDict(document, service.ExportLogsServiceRequest()).SerializeToString()
        headers = {"Content-Type": "application/x-protobuf"}
    with Receiver("127.0.0.1:0", spool) as receiver:
        assert post(receiver, body, "/v1/logs", **headers)[0] == 200
        assert post(receiver, json.dumps(logs(record(1, "started", {}))).encode(), "/v1/logs")[0] == 200
        assert post(receiver, json.dumps(TRACES).encode())[0] == 200
        assert receiver.requests == {"spans": 1, "logs": 2, "metrics": 0}
    found = load(str(spool), "otlp")
    assert said(found) == SAID and found.lost == []
