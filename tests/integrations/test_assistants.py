"""OpenAI's Assistants API: each run is told whole, polled or streamed, and runs again from the log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lctl.chain import Chain
from lctl.session import LCTLSession
from tests.integrations.rerunning import Rerun

openai = pytest.importorskip("openai")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

TOOL: dict[str, Any] = {
    "type": "function",
    "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}},
}
ASSISTANT = {
    "id": "asst_1",
    "object": "assistant",
    "created_at": 1,
    "model": "gpt-4o",
    "instructions": "Be brief.",
    "name": None,
    "description": None,
    "metadata": {},
    "tools": [TOOL],
}
CALL = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Rome"}'}}
USAGE = {"prompt_tokens": 20, "completion_tokens": 6, "total_tokens": 26}
THREAD = {"id": "thread_1", "object": "thread", "created_at": 1, "metadata": {}, "tool_resources": {}}


def run(status: str, id: str = "run_1", **more: Any) -> dict[str, Any]:
    named = {name: ASSISTANT[name] for name in ("model", "instructions", "tools")}
    whole = {"id": id, "object": "thread.run", "thread_id": "thread_1", "assistant_id": "asst_1", **named}
    return {**whole, "created_at": 1, "status": status, "usage": None, "last_error": None, **more}


ASKS = run(
    "requires_action",
    required_action={"type": "submit_tool_outputs", "submit_tool_outputs": {"tool_calls": [CALL]}},
)


def message(id: str, role: str, text: str, run_id: str | None = None, **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": {"value": text, "annotations": []}}]
    told = {"id": id, "object": "thread.message", "thread_id": "thread_1", "role": role, "content": content}
    return {**told, "created_at": len(id), "run_id": run_id, "assistant_id": None, **more}


def listed(*messages: dict[str, Any]) -> dict[str, Any]:
    ids = {"first_id": messages[0]["id"], "last_id": messages[-1]["id"]}
    return {"object": "list", "data": list(messages), "has_more": False, **ids}


def events(*named: tuple[str, Any]) -> list[bytes]:
    said = [f"event: {name}\ndata: {json.dumps(data)}\n\n".encode() for name, data in named]
    return [*said, b"event: done\ndata: [DONE]\n\n"]


def delta(text: str) -> tuple[str, Any]:
    content = [{"index": 0, "type": "text", "text": {"value": text, "annotations": []}}]
    return "thread.message.delta", {
        "id": "msg_2",
        "object": "thread.message.delta",
        "delta": {"content": content},
    }


def client_of(url: str) -> Any:
    return openai.OpenAI(api_key="k", base_url=f"{url}/v1", max_retries=0)


def polled(url: str) -> str:
    """What programs of this API do: a function's result is given, the answer is looked up in the thread."""
    with client_of(url) as client:
        beta = client.beta
        assistant = beta.assistants.create(model="gpt-4o", instructions="Be brief.", tools=[TOOL])
        thread = beta.threads.create()
        beta.threads.messages.create(thread.id, role="user", content="Rome?")
        got = beta.threads.runs.create_and_poll(
            thread_id=thread.id, assistant_id=assistant.id, poll_interval_ms=1
        )
        calls = got.required_action.submit_tool_outputs.tool_calls
        outputs = [{"tool_call_id": call.id, "output": "sunny"} for call in calls]
        done = beta.threads.runs.submit_tool_outputs_and_poll(
            run_id=got.id, thread_id=thread.id, tool_outputs=outputs, poll_interval_ms=1
        )
        assert done.status == "completed"
        [answer, *_] = beta.threads.messages.list(thread.id).data
        return str(answer.content[0].text.value)


def polled_replies(make: Any) -> list[Any]:
    said = message("msg_2", "assistant", "It is sunny.", "run_1")
    asked = message("msg_1", "user", "Rome?")
    bodies = [ASSISTANT, THREAD, asked, run("queued"), run("in_progress"), ASKS, run("queued")]
    return [*map(make.Reply, [*bodies, run("completed", usage=USAGE), listed(said, asked)])]


def test_a_run_is_polled(server: Any, make: Any, log: Any) -> None:
    """The prompt is what was put into the thread, below the assistant's instructions; the answer, its calls
    and tokens are at their places."""
    server.replies = polled_replies(make)
    assert polled(server.url) == "It is sunny."
    steps = log.steps()
    assert [(start["operation"], start["model"], end["finish_reason"]) for start, end in steps] == [
        ("threads.runs", "gpt-4o", "queued"),
        ("threads.runs.retrieve", "gpt-4o", "requires_action"),
        ("threads.runs.submit_tool_outputs", "gpt-4o", "queued"),
        ("threads.runs.retrieve", "gpt-4o", "completed"),
    ]
    assert [end.get("tokens") for _, end in steps] == [
        None,
        None,
        None,
        {"input": 20, "output": 6, "total": 26},
    ]
    system, asked, calls, result, said = log.of("message")
    assert [one["content"] for one in (system, asked, result)] == ["Be brief.", "Rome?", "sunny"]
    assert calls["tool_calls"] == [CALL]
    assert (said["content"], said["sampled"]) == ("It is sunny.", True)
    path = [system, asked, calls, result, said]
    assert [one["parent_id"] for one in path[1:]] == [one["message_id"] for one in path[:-1]]
    [tool] = log.of("tool_call")
    assert (tool["tool"], tool["input"], tool["output"]) == ("weather", {"city": "Rome"}, "sunny")
    assert steps[0][0]["tool_definitions"] == [TOOL]


@pytest.mark.parametrize("full", [False, True])
def test_rerun_of_a_polled_run(server: Any, make: Any, tmp_path: Path, full: bool) -> None:
    server.replies = polled_replies(make)
    assert Rerun(tmp_path)(polled, server.url, full=full) == "It is sunny."


def streamed(url: str) -> str:
    with client_of(url) as client:
        runs = client.beta.threads.runs
        text, calls = "", []
        with runs.stream(
            thread_id="thread_1",
            assistant_id="asst_1",
            additional_messages=[{"role": "user", "content": "Rome?"}],
        ) as stream:
            for event in stream:
                if event.event == "thread.run.requires_action":
                    calls = event.data.required_action.submit_tool_outputs.tool_calls
        outputs = [{"tool_call_id": call.id, "output": "sunny"} for call in calls]
        with runs.submit_tool_outputs_stream(
            run_id="run_1", thread_id="thread_1", tool_outputs=outputs
        ) as stream:
            for piece in stream.text_deltas:
                text += piece
        return text


def streamed_replies(make: Any) -> list[Any]:
    begun = message("msg_2", "assistant", "", "run_1", content=[])
    said = message("msg_2", "assistant", "It is sunny.", "run_1")
    return [
        make.Reply(
            chunks=events(("thread.run.created", run("queued")), ("thread.run.requires_action", ASKS))
        ),
        make.Reply(
            chunks=events(
                ("thread.run.queued", run("queued")),
                ("thread.message.created", begun),
                delta("It is "),
                delta("sunny."),
                ("thread.message.completed", said),
                ("thread.run.completed", run("completed", usage=USAGE)),
            )
        ),
    ]


def test_a_run_is_streamed(server: Any, make: Any, log: Any) -> None:
    server.replies = streamed_replies(make)
    assert streamed(server.url) == "It is sunny."
    [(first, asks), (second, done)] = log.steps()
    assert (first["operation"], asks["finish_reason"]) == ("threads.runs", "requires_action")
    assert (second["stream"], done["finish_reason"], done["tokens"]["output"]) == (True, "completed", 6)
    assert done["model"] == "gpt-4o"
    asked, calls, result, said = log.of("message")
    assert (asked["content"], result["content"], said["content"]) == ("Rome?", "sunny", "It is sunny.")
    assert (result["parent_id"], said["parent_id"]) == (calls["message_id"], result["message_id"])


@pytest.mark.parametrize("full", [False, True])
def test_rerun_of_a_streamed_run(server: Any, make: Any, tmp_path: Path, full: bool) -> None:
    server.replies = streamed_replies(make)
    assert Rerun(tmp_path)(streamed, server.url, full=full) == "It is sunny."


def test_a_stream_that_was_cut(server: Any, make: Any, log: Any) -> None:
    """What had come is there."""
    begun = message("msg_2", "assistant", "", "run_1", content=[])
    first = ("thread.run.created", run("in_progress")), ("thread.message.created", begun)
    server.replies = [make.Reply(chunks=events(*first, delta("It is "), delta("su"))[:-1], cut=True)]
    with pytest.raises(Exception), client_of(server.url) as client:  # noqa: B017
        list(client.beta.threads.runs.create("thread_1", assistant_id="asst_1", stream=True))
    [(_, end)] = log.steps()
    assert end["outcome"] == "error"
    [said] = log.of("message")
    assert (said["content"], said["status"]) == ("It is su", "error")


def test_a_run_that_failed(server: Any, make: Any, log: Any) -> None:
    """A run that began with a thread of its own, and failed."""
    failure = {"code": "rate_limit_exceeded", "message": "You exceeded your quota."}
    server.replies = [make.Reply(run("queued")), make.Reply(run("failed", last_error=failure))]
    with client_of(server.url) as client:
        client.beta.threads.create_and_run_poll(
            assistant_id="asst_1",
            thread={"messages": [{"role": "user", "content": "Hi"}]},
            poll_interval_ms=1,
        )
    [_, (_, end)] = log.steps()
    assert end["outcome"] == "error"
    [error] = log.of("error")
    assert (error["message"], error["type"]) == ("You exceeded your quota.", "rate_limited")
    assert log.of("message")[0]["content"] == "Hi"


def test_a_second_run_of_a_thread(server: Any, make: Any, log: Any) -> None:
    """It hangs on the answer of the first; nothing is said twice."""
    said = [message(f"msg_{n}", "assistant", f"Answer {n}.", f"run_{n}") for n in (1, 2)]
    bodies: list[Any] = [ASSISTANT, THREAD]
    for n in (1, 2):
        asked = message(f"msg_q{n}", "user", f"Question {n}?")
        bodies += [asked, run("queued", f"run_{n}"), run("completed", f"run_{n}", usage=USAGE)]
        bodies.append(listed(*reversed(said[:n])))
    server.replies = [make.Reply(body) for body in bodies]
    with client_of(server.url) as client:
        threads = client.beta.threads
        client.beta.assistants.retrieve("asst_1")
        threads.create()
        for n in (1, 2):
            threads.messages.create("thread_1", role="user", content=f"Question {n}?")
            threads.runs.create_and_poll(thread_id="thread_1", assistant_id="asst_1", poll_interval_ms=1)
            threads.messages.list("thread_1")
    told = log.of("message")
    assert [one["content"] for one in told] == [
        "Be brief.",
        "Question 1?",
        "Answer 1.",
        "Question 2?",
        "Answer 2.",
    ]
    assert [one["parent_id"] for one in told[1:]] == [one["message_id"] for one in told[:-1]]
    log.session.close()
    state = Chain.load(log.path).state
    assert [step.outcome for step in state.steps.values() if step.kind == "llm"] == ["success"] * 4


def test_in_a_log_that_is_gone_on_with(server: Any, make: Any, log: Any) -> None:
    """A program that comes back for the run later records its end at its place in the same log."""
    server.replies = [make.Reply(run("queued")), make.Reply(run("completed", usage=USAGE))]
    with client_of(server.url) as client:
        more = [{"role": "user", "content": "Hi"}]
        client.beta.threads.runs.create("thread_1", assistant_id="asst_1", additional_messages=more)
        log.session.close()
        with LCTLSession("test", log.path):
            client.beta.threads.runs.retrieve("run_1", thread_id="thread_1")
    [(began, _), (start, end)] = log.steps()
    assert (start["prompt"], end["tokens"]["output"]) == (began["prompt"], 6)


def test_threads_of_others_are_no_model_calls(server: Any, log: Any) -> None:
    """LangGraph's runs are asked for under paths like these."""
    import httpx

    with httpx.Client(base_url=server.url) as client:
        for path in ("/threads/0f7/runs", "/threads/0f7/runs/stream", "/threads", "/assistants/search"):
            client.post(path, json={"assistant_id": "agent", "input": {"messages": []}})
    assert log.types == []
