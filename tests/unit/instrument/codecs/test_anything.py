"""Whatever the bytes: an answer is given, and a request is read or is a ValueError."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lctl.instrument.codecs import ModelAnswer, find
from tests.seeds import tries
from tests.unit.instrument.codecs.streams import JSON, SSE

PATHS = [
    "/v1/chat/completions",
    "/v1/completions",
    "/v1/responses",
    "/v1/responses/input_tokens",
    "/v1/embeddings",
    "/v1/messages",
    "/v1/messages/count_tokens",
    "/model/anthropic.c/invoke-with-response-stream",
    "/model/meta.l/invoke",
]
FRAMES = {"content-type": "application/vnd.amazon.eventstream"}

scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.floats(allow_nan=False)
NAMES = (
    "id model messages input prompt choices delta message content role type tool_calls function index text "
    "usage error response output item output_index content_block partial_json name arguments data summary "
    "generation outputs results outputText texts embeddings metrics "
    "embedding finish_reason stop_reason status system instructions tools previous_response_id"
)
KINDS = (
    "text message_start message_delta content_block_start content_block_delta message_stop error ping "
    "response.completed response.output_item.added response.output_text.delta function_call message "
    "reasoning tool_use response.reasoning_summary_text.delta"
)
names = st.sampled_from(NAMES.split())
kinds = st.sampled_from(KINDS.split())
values = st.recursive(
    scalars | kinds,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=5),
    max_leaves=15,
)


@pytest.mark.parametrize("path", PATHS)
@settings(max_examples=tries(30), deadline=None)
@given(data=st.data())
def test_answers_and_requests_of_any_shape(path: str, data: st.DataObject) -> None:
    """Random bytes, and random JSON made of the words that codecs look for."""
    found = find("POST", "http://x" + path, {})
    assert found is not None
    codec, operation = found
    shape = st.dictionaries(names, values, max_size=6).map(lambda value: json.dumps(value).encode())
    events = st.lists(shape, max_size=5).map(lambda many: b"".join(b"data: " + one + b"\n\n" for one in many))
    body = data.draw(st.binary(max_size=200) | shape | events)
    for headers in (JSON, SSE, FRAMES):
        for status in (200, 500):
            assert isinstance(codec.read_answer(operation, status, headers, [body]), ModelAnswer)
    try:
        codec.read_request(operation, "http://x" + path, body)
    except ValueError:
        pass
