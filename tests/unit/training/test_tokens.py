"""Token ids: rows are prefixes by tokens, masks and logprobs fit them (row G15)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

import lctl
from lctl.training import Sample, samples
from tests.unit.training import fixtures
from tests.unit.training.fixtures import Talk, shape, tokens


def ids(row: Sample) -> tuple[Any, Any, Any]:
    return row.token_ids, row.token_mask, row.logprobs


def test_g15_a_row_is_one_sequence() -> None:
    """The last call's prompt and completion; the mask is on every trained completion."""
    talk = Talk().tell("u1", None).a("a1", "u1", call=tokens([1, 2], [3, 4]))
    talk.tell("u2", "a1").a("a2", "u2", call=tokens([1, 2, 3, 4, 5], [6]))
    [row] = talk.rows()
    assert ids(row) == ([1, 2, 3, 4, 5, 6], [0, 0, 1, 1, 0, 1], [0.0, 0.0, -0.3, -0.4, 0.0, -0.6])
    assert (row.input_tokens, row.trained_tokens) == (5, 3)


def test_g15_other_tokens_are_another_row() -> None:
    """The same words in other tokens: what was sampled before is not what the model read."""
    rows = fixtures.retokenized().rows()
    assert shape(rows) == [("u1 a1", "01", None), ("u1 a1 u2 a2", "0001", "retokenized")]
    assert [ids(row)[1] for row in rows] == [[0, 0, 1, 1], [0, 0, 0, 0, 1]]


def test_g15_a_later_call_may_go_on_from_an_earlier_one() -> None:
    """a2 was asked in other tokens, a3 again in those of a1: a1 and a3 are one row."""
    talk = Talk().tell("u1", None).a("a1", "u1", call=tokens([1, 2], [3, 4]))
    talk.tell("u2", "a1").a("a2", "u2", call=tokens([1, 2, 34, 5], [6]))
    talk.tell("u3", "a2").a("a3", "u3", call=tokens([1, 2, 3, 4, 5, 6, 7], [8]))
    rows = talk.rows()
    assert shape(rows) == [
        ("u1 a1 u2 a2", "0001", None),
        ("u1 a1 u2 a2 u3 a3", "010001", "retokenized"),
    ]
    assert ids(rows[1])[1] == [0, 0, 1, 1, 0, 0, 0, 1]


def test_g15_tokens_missing_on_one_call() -> None:
    """Nobody can tell what it read: it is a row by itself, and the others are still one."""
    talk = fixtures.tokens_missing().tell("u3", "a2")
    talk.a("a3", "u3", call=tokens([1, 2, 3, 4, 5, 6, 7], [8]))
    rows = talk.rows()
    assert shape(rows) == [
        ("u1 a1 u2 a2", "0001", None),
        ("u1 a1 u2 a2 u3 a3", "010001", "tokens_missing"),
    ]
    assert ids(rows[0]) == (None, None, None)
    assert ids(rows[1])[1] == [0, 0, 1, 1, 0, 0, 0, 1]


def test_g15_a_cut_off_answer_is_masked() -> None:
    talk = Talk().tell("u1", None)
    talk.a("a1", "u1", call=tokens([1, 2], [3, 4], finish_reason="length"))
    talk.tell("u2", "a1").a("a2", "u2", call=tokens([1, 2, 3, 4, 5], [6]))
    [row] = talk.rows()
    assert ids(row)[1] == [0, 0, 0, 0, 0, 1]
    assert row.skipped == {"a1": "length"}


def test_g15_logprobs_missing_on_a_trained_message() -> None:
    """Tokens and mask stand; logprobs that would not fit them are left out."""
    call = {"prompt_token_ids": [1], "token_ids": [2]}
    [row] = Talk().tell("u1", None).a("a1", "u1", call=call).rows()
    assert ids(row) == ([1, 2], [0, 1], None)


def test_g15_max_len_counts_tokens() -> None:
    talk = fixtures.retokenized()
    assert [row.message_ids[-1] for row in talk.rows(max_len=4)] == ["a1"]
    assert [row.message_ids[-1] for row in talk.rows(min_weight_tokens=2)] == ["a1"]


def test_g15_tokens_in_a_blob() -> None:
    held = orjson.dumps({"prompt_token_ids": [1, 2], "token_ids": [3], "logprobs": [-0.5]}).decode()
    talk = Talk().tell("u1", None)
    talk.add("blob", hash="sha256:t", encoding="utf8", content=held, media_type="application/json")
    [row] = talk.a("a1", "u1", call={"tokens_ref": "sha256:t"}).rows()
    assert ids(row) == ([1, 2, 3], [0, 0, 1], [0.0, 0.0, -0.5])
    [row] = Talk().tell("u1", None).a("a1", "u1", call={"tokens_ref": "sha256:gone"}).rows()
    assert ids(row) == (None, None, None)


@pytest.mark.parametrize("bad", [{"token_ids": "3"}, {"token_ids": [3.5]}, {"prompt_token_ids": None}])
def test_g15_what_is_no_token_id(bad: dict[str, Any]) -> None:
    [row] = Talk().tell("u1", None).a("a1", "u1", call={**tokens([1], [2]), **bad}).rows()
    assert ids(row) == (None, None, None)


def test_g15_random_tokens() -> None:
    """Whatever the tokens: each message is trained once, where its own tokens stand under the mask."""
    import random

    for seed in range(300):
        r = random.Random(seed)
        talk, sampled = Talk().tell("n0", None), {}
        prompts: dict[str, list[int]] = {"n0": [0]}
        for n in range(1, 12):
            parent, id = f"n{r.randrange(n)}", f"n{n}"
            before = prompts[parent]
            if r.random() < 0.4:
                prompts[id] = [*before, 10 + n]
                talk.tell(id, parent, role="user")
                continue
            read = before if r.random() < 0.8 else [*before[:-1], 99]
            wrote = [100 + n] * r.randint(1, 3)
            prompts[id] = read + wrote
            sampled[id] = (read, wrote)
            talk.a(id, parent, call=tokens(read, wrote) if r.random() < 0.9 else {})
            if not talk.events[-1]["data"]["call"].get("token_ids"):
                sampled[id] = ([], [])
        found: list[str] = []
        for row in talk.rows():
            trained = [id for id, weight in zip(row.message_ids, row.weights, strict=True) if weight]
            found += trained
            if row.token_ids is None or row.token_mask is None:
                assert all(sampled[id] == ([], []) for id in trained), seed
                continue
            masked = [t for t, m in zip(row.token_ids, row.token_mask, strict=True) if m]
            assert masked == [t for id in trained for t in sampled[id][1]], seed
            for id in trained:
                read, wrote = sampled[id]
                assert row.token_ids[: len(read) + len(wrote)] == read + wrote, seed
        assert sorted(found) == sorted(sampled), seed


# -- on the wire -----------------------------------------------------------------------------


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[Any]:
    """A server that gives token ids when asked, as vLLM does; `asked(stream)` makes two calls."""
    from http.server import BaseHTTPRequestHandler, HTTPServer
    from threading import Thread

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = orjson.loads(self.rfile.read(int(self.headers["content-length"])))
            count = len(request["messages"])
            prompt = [1, 2] if count == 1 else [1, 2, 3, 4, 5]
            body = _answer(prompt, [3, 4] if count == 1 else [6], request.get("stream", False))
            self.send_response(200)
            kind = "text/event-stream" if request.get("stream") else "application/json"
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.02,))
    thread.start()

    def run(stream: bool) -> lctl.Chain:
        from openai import OpenAI

        path = tmp_path / "run.lctl.json"
        with lctl.LCTLSession() as session:
            url = f"http://127.0.0.1:{server.server_port}/v1"
            with OpenAI(base_url=url, api_key="t", max_retries=0) as client:
                messages: list[Any] = [{"role": "user", "content": "u1"}]
                for _ in range(2):
                    extra = {"return_token_ids": True}
                    if stream:
                        for _ in client.chat.completions.create(
                            model="m", messages=messages, stream=True, logprobs=True, extra_body=extra
                        ):
                            pass
                    else:
                        client.chat.completions.create(
                            model="m", messages=messages, logprobs=True, extra_body=extra
                        )
                    answer = {"role": "assistant", "content": "word " * 40}
                    messages += [answer, {"role": "user", "content": "u2"}]
            session.export(path)
        return lctl.load(path)

    yield run
    server.shutdown()
    thread.join()
    server.server_close()


def _answer(prompt: list[int], completion: list[int], stream: bool) -> bytes:
    # Lines of a text may end with U+2028, those of a stream do not.
    logprobs = {"content": [{"token": "\u2028", "logprob": -token / 10} for token in completion]}
    head = {"id": "c", "model": "m", "created": 1}
    if not stream:
        message = {"role": "assistant", "content": "word " * 40}
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": logprobs}
        whole = {**head, "object": "chat.completion", "prompt_token_ids": prompt}
        return orjson.dumps({**whole, "choices": [{**choice, "token_ids": completion}]})
    events: list[dict[str, Any]] = [{"prompt_token_ids": prompt, "choices": []}]
    for n, text in enumerate(["word "] * 40):
        own = completion[n : n + 1]
        said = {"content": logprobs["content"][n : n + 1]}
        choice = {"index": 0, "delta": {"content": text}, "token_ids": own, "logprobs": said}
        events.append({"choices": [choice]})
    events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    lines = [orjson.dumps({**head, "object": "chat.completion.chunk", **event}) for event in events]
    return b"".join(b"data: " + line + b"\n\n" for line in [*lines, b"[DONE]"])


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_g15_token_ids_from_the_wire(asked: Any, stream: bool) -> None:
    """A server that was asked for them gives them with its answer: nothing else has to be recorded."""
    [row] = samples(asked(stream).tree)
    assert ids(row) == ([1, 2, 3, 4, 5, 6], [0, 0, 1, 1, 0, 1], [0.0, 0.0, -0.3, -0.4, 0.0, -0.6])
    assert row.trained == 2
