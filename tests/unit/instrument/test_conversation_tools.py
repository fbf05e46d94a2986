"""Tool calls and their results, as prompts and answers tell of them."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from lctl.conversation.items import ungroup
from lctl.instrument.toolcalls import ToolCalls
from lctl.instrument.toolmessages import Result
from tests.unit.instrument.chains import (
    CHAT,
    GOOGLE,
    MESSAGES,
    OLLAMA,
    RESPONSES,
    Chain,
    asks,
    assistant,
    body,
    gives,
    said,
    text_of,
    tool_call,
    user,
)


class TestToolCalls:
    def test_a_result_becomes_a_tool_call_event(self, chain: Chain) -> None:
        """Tool, input, output, the time between answer and next request, marked as derived."""
        answer = assistant(
            None, tool_calls=[tool_call("c1", "look", '{"q": 1}'), tool_call("c2", "see", "{")]
        )
        chain.chat([user("a")], answer)
        chain.clock.advance(250)
        back = [
            user("a"),
            answer,
            {"role": "tool", "tool_call_id": "c1", "content": "found"},
            {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "no"}]},
        ]
        chain.chat(back, assistant("done"))
        first, second = (event["data"] for event in chain.events("tool_call"))
        assert first.pop("duration_ms") >= 250
        assert first == {
            "tool": "look",
            "input": {"q": 1},
            "output": "found",
            "call_id": "c1",
            "derived": True,
        }
        assert (second["tool"], second["input"]) == ("see", "{")
        chain.chat([*back, assistant("done"), user("b")])
        assert len(chain.events("tool_call")) == 2

    def test_a_tool_the_model_knows_by_another_name(self, chain: Chain) -> None:
        """The run that was reported is the call whose result is its output; others are still derived."""
        asked = [tool_call("c1", "weather", '{"city": "Oslo"}'), tool_call("c2", "time", '{"city": "Oslo"}')]
        answer = assistant(None, tool_calls=asked)
        chain.chat([user("a")], answer)
        report = chain.conversations.note_tool_event
        report({"tool": "get_weather", "input": {"place": "Oslo"}, "output": {"degrees": 4, "sky": "clear"}})
        back = [
            user("a"),
            answer,
            {"role": "tool", "tool_call_id": "c1", "content": '{"sky":"clear", "degrees":4}'},
            {"role": "tool", "tool_call_id": "c2", "content": "noon"},
        ]
        chain.chat(back, assistant("done"))
        assert [event["data"]["call_id"] for event in chain.events("tool_call")] == ["c2"]

    def test_a_helper_that_gave_something_else_is_not_the_call(self, chain: Chain) -> None:
        """Even if it was given the same arguments."""
        answer = assistant(None, tool_calls=[tool_call("c1", "search", '{"q": "x"}')])
        chain.chat([user("a")], answer)
        chain.conversations.note_tool_event({"tool": "query_db", "input": {"q": "x"}, "output": ["row 1"]})
        chain.chat(
            [user("a"), answer, {"role": "tool", "tool_call_id": "c1", "content": "2 hits"}],
            assistant("done"),
        )
        assert len(chain.events("tool_call")) == 1

    def test_tool_calls_follow_the_messages_of_their_request(self, chain: Chain) -> None:
        """New messages first, then tool calls, then the step."""
        answer = assistant(None, tool_calls=[tool_call("c1", "look", "{}")])
        chain.chat([user("a")], answer)
        chain.send(
            {
                "messages": [
                    user("a"),
                    answer,
                    {"role": "tool", "tool_call_id": "c1", "content": "x"},
                    user("b"),
                ]
            }
        )
        assert [event["type"] for event in chain.events()[-4:]] == [
            "message",
            "message",
            "tool_call",
            "step_start",
        ]

    def test_a_reported_call_is_not_derived(self, chain: Chain) -> None:
        """Whether the report came after the answer was read or, while it streamed, before."""
        answer = assistant(None, tool_calls=[tool_call("c1", "look", "{}"), tool_call("c2", "see", "{}")])
        sent = chain.send({"messages": [user("a")]})
        chain.conversations.note_tool_call("c2")
        chain.receive(sent, answer)
        chain.conversations.note_tool_call("c1")
        results = [{"role": "tool", "tool_call_id": id, "content": "x"} for id in ("c1", "c2")]
        chain.chat([user("a"), answer, *results])
        assert chain.events("tool_call") == []

    def test_results_of_unknown_calls_are_messages_only(self, chain: Chain) -> None:
        """A history loaded from elsewhere: nobody asked for these calls in this chain."""
        asked = assistant(None, tool_calls=[tool_call("c1", "look", "{}")])
        chain.chat([user("a"), asked, {"role": "tool", "tool_call_id": "c1", "content": "x"}])
        assert chain.events("tool_call") == []

    def test_a_call_id_used_again_is_another_call(self, chain: Chain) -> None:
        """Servers that number calls from 0 in every answer."""
        history: list[dict[str, Any]] = [user("a")]
        for turn in range(3):
            answer = assistant(None, tool_calls=[tool_call("call_0", "look", f'{{"turn": {turn}}}')])
            chain.chat(history, answer)
            history += [answer, {"role": "tool", "tool_call_id": "call_0", "content": f"out {turn}"}]
        chain.chat(history, assistant("done"))
        seen = [(e["data"]["input"], e["data"]["output"]) for e in chain.events("tool_call")]
        assert seen == [({"turn": n}, f"out {n}") for n in range(3)]

    def test_anthropic_results_and_failures(self, chain: Chain) -> None:
        """tool_result blocks; is_error makes the output an error."""
        asked = [
            {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
            {"type": "tool_use", "id": "t1", "name": "look", "input": {"q": 1}},
            {"type": "tool_use", "id": "t2", "name": "see", "input": {}},
        ]
        chain.receive(chain.send({"messages": [user("a")]}, MESSAGES), assistant(asked))
        results = [
            {"type": "tool_result", "tool_use_id": "t1", "content": "fine"},
            {"type": "tool_result", "tool_use_id": "t2", "content": "broke", "is_error": True},
            {"type": "text", "text": "go on"},
        ]
        chain.send({"messages": [user("a"), assistant(asked), user(results)]}, MESSAGES)
        first, second = (event["data"] for event in chain.events("tool_call"))
        assert (first["tool"], first["output"], "error" in first) == ("look", "fine", False)
        assert (second["tool"], second["error"], "output" in second) == ("see", "broke", False)

    def test_responses_outputs(self, chain: Chain) -> None:
        """function_call_output and custom_tool_call_output items."""
        output = [
            {"type": "reasoning", "id": "rs_1", "summary": []},
            {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "look", "arguments": '{"q":1}'},
            {"type": "custom_tool_call", "id": "ct_1", "call_id": "c2", "name": "run", "input": "ls"},
        ]
        chain.receive(chain.send({"input": "a"}, RESPONSES), assistant(output))
        back = [
            {"role": "user", "content": "a"},
            *output,
            {"type": "function_call_output", "call_id": "c1", "output": "x"},
            {"type": "custom_tool_call_output", "call_id": "c2", "output": "y"},
        ]
        sent = chain.send({"input": back}, RESPONSES)
        seen = [
            (e["data"]["tool"], e["data"]["input"], e["data"]["output"]) for e in chain.events("tool_call")
        ]
        assert seen == [("look", {"q": 1}, "x"), ("run", "ls", "y")]
        assert [data["role"] for data in chain.path(sent[1])] == ["user", "assistant", "tool", "tool"]

    def test_local_shell_outputs(self, chain: Chain) -> None:
        """Such a result has the id of its call in another place, and goes back as it came."""
        act = {"type": "exec", "command": ["ls"], "env": {}}
        output = [{"type": "local_shell_call", "id": "ls_1", "call_id": "c1", "action": act}]
        chain.receive(chain.send({"input": "a"}, RESPONSES), assistant(output))
        result = {"type": "local_shell_call_output", "id": "c1", "output": "a.txt"}
        sent = chain.send({"input": [{"role": "user", "content": "a"}, *output, result]}, RESPONSES)
        [call] = [event["data"] for event in chain.events("tool_call")]
        assert (call["tool"], call["input"], call["output"]) == ("local_shell", act, "a.txt")
        assert ungroup([chain.path(sent[1])[-1]])[0].items() >= result.items()
        assert "call_id" not in ungroup([chain.path(sent[1])[-1]])[0]

    def test_legacy_functions(self, chain: Chain) -> None:
        """function_call has no id: its name joins call and result."""
        answer = assistant(None, function_call={"name": "look", "arguments": "{}"})
        chain.chat([user("a")], answer)
        chain.chat([user("a"), answer, {"role": "function", "name": "look", "content": "x"}])
        assert [event["data"]["tool"] for event in chain.events("tool_call")] == ["look"]

    @pytest.mark.parametrize("wire", [OLLAMA, GOOGLE, CHAT])
    def test_threads_that_ask_for_one_tool_at_once(self, chain: Chain, wire: str) -> None:
        """Each result is that of the call in its own conversation, though no call has an id."""
        at_once = threading.Barrier(8)

        def converse(n: int) -> None:
            cities = [f"{n}-{turn}" for turn in range(3)]
            history, config = [said(wire, f"weather of {n}?")], "as of 0:00"
            for turn, city in enumerate(cities):
                at_once.wait(30)
                answer = asks(wire, city, f"{city}b")
                chain.receive(chain.send(body(wire, config, history), wire), answer)
                at_once.wait(30)
                history += [answer, *gives(wire, f"sunny {city}", f"sunny {city}b")]
                config = f"as of {turn}:00"  # told anew in the second and third turn
            chain.receive(chain.send(body(wire, config, history), wire), said(wire, "done"))

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(converse, range(8)))
        calls = [event["data"] for event in chain.events("tool_call")]
        both = 1 if wire == CHAT else 2
        assert len(calls) == 8 * 3 * both
        assert len({call["call_id"] for call in calls}) == len(calls)
        assert {text_of(call["output"]) for call in calls} == {
            f"sunny {call['input']['city']}" for call in calls
        }
        for call in calls:
            assert text_of(call["output"]) == f"sunny {call['input']['city']}"

    @pytest.mark.parametrize("wire", [OLLAMA, GOOGLE, CHAT])
    def test_equal_answers_to_one_prompt_are_two_calls(self, chain: Chain, wire: str) -> None:
        first = body(wire, "x", [said(wire, "weather?")])
        for sent in [chain.send(first, wire), chain.send(first, wire)]:
            chain.receive(sent, asks(wire, "Oslo"))
        for output in ("one", "two"):
            chain.send(
                body(wire, "x", [said(wire, "weather?"), asks(wire, "Oslo"), *gives(wire, output)]), wire
            )
        calls = [event["data"] for event in chain.events("tool_call")]
        assert [text_of(call["output"]) for call in calls] == ["one", "two"]

    @pytest.mark.parametrize("wire", [OLLAMA, GOOGLE, CHAT])
    def test_results_of_a_lost_write_come_again(self, chain: Chain, wire: str) -> None:
        history = [said(wire, "weather?")]
        chain.receive(chain.send(body(wire, "x", history), wire), asks(wire, "Oslo"))
        history += [asks(wire, "Oslo"), *gives(wire, "sunny")]
        with pytest.raises(OSError):
            chain.send(body(wire, "x", history), wire, fails=True)
        for _ in range(2):
            chain.send(body(wire, "x", history), wire)
        assert len(chain.events("tool_call")) == 1

    @pytest.mark.parametrize("wire", [OLLAMA, GOOGLE, CHAT])
    def test_a_history_with_the_same_call_is_not_its_result(self, chain: Chain, wire: str) -> None:
        """What was loaded from elsewhere asks for the tool as the model does now: the last is the call."""
        past = [said(wire, "weather?"), asks(wire, "Oslo"), *gives(wire, "snow"), said(wire, "and now?")]
        chain.receive(chain.send(body(wire, "x", past), wire), asks(wire, "Oslo"))
        assert chain.events("tool_call") == []
        now = [*past, asks(wire, "Oslo"), *gives(wire, "sunny")]
        chain.send(body(wire, "y", now), wire)
        (call,) = chain.events("tool_call")
        assert text_of(call["data"]["output"]) == "sunny"


def test_a_tool_that_runs_while_its_answer_still_comes_has_its_event() -> None:
    """Reported without an id before the answer was whole, also where the same was asked before."""
    calls = ToolCalls()
    message = {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"a": 1}}}]}
    for n in range(2):
        calls.report_run("f", {"a": 1}, "one")
        assert calls.ask(message, 0, f"m{n}") == [f"function:f@m{n}"]
        assert calls.answer(Result(f"function:f@m{n}", {"result": "one"}, False), 1) is None
    calls.ask(message, 2, "m2")
    assert calls.answer(Result("function:f@m2", {"result": "one"}, False), 3) is not None


def test_an_id_that_a_framework_made_up_is_of_a_call_without_one(chain: Chain) -> None:
    """LangChain's, of Google's calls: what is sent for it has no id either, and another form. A call that has
    an id is another one."""
    report = chain.conversations.note_tool_event
    nameless = {"function": {"name": "look", "arguments": {"at": 1}}}
    answer = assistant(None, tool_calls=[nameless, tool_call("c1", "look", '{"at": 1}')])
    chain.chat([user("a")], answer)
    report({"tool": "look", "input": {"at": 1}, "output": "door", "call_id": "made-up"})
    results = [
        {"role": "tool", "tool_name": "look", "content": "{'output': 'door'}"},
        {"role": "tool", "tool_call_id": "c1", "content": "wall"},
    ]
    chain.chat([user("a"), answer, *results], assistant("done"))
    assert [event["data"]["call_id"] for event in chain.events("tool_call")] == ["c1"]


def test_ids_that_a_program_makes_up_for_calls_that_have_some(chain: Chain) -> None:
    """magentic sends answers back with ids of its own: each result is of the call that asks for the same."""
    chain.chat([user("a")], assistant(None, tool_calls=[tool_call("c0", "look", '{"at": 1}')]))  # left
    inputs = ['{"at": 1}', '{"at": 2}', '{"at": 2}']
    asked = [tool_call(f"c{n}", "look", text) for n, text in enumerate(inputs, 1)]
    chain.chat([user("b")], assistant(None, tool_calls=asked))
    back = [
        user("b"),
        assistant(None, tool_calls=[tool_call(f"own{n}", "look", text) for n, text in enumerate(inputs, 1)]),
        *({"role": "tool", "tool_call_id": f"own{n}", "content": f"found {n}"} for n in range(1, 4)),
    ]
    chain.chat(back, assistant("done"))
    chain.chat([*back, assistant("done"), user("c")], assistant("well"))
    told = [event["data"] for event in chain.events("tool_call")]
    assert [(one["call_id"], one["output"]) for one in told] == [
        ("c1", "found 1"),
        ("c2", "found 2"),
        ("c3", "found 3"),
    ]


def test_a_call_that_is_over_is_no_other_one(chain: Chain) -> None:
    """It is told again, beneath other words, while another one that asks for the same is under way."""

    def call(id: str) -> dict[str, Any]:
        return assistant(None, tool_calls=[tool_call(id, "look", '{"at": 1}')])

    def found(id: str, text: str) -> dict[str, Any]:
        return {"role": "tool", "tool_call_id": id, "content": text}

    chain.chat([user("a")], call("c1"))
    chain.chat([user("a"), call("c1"), found("c1", "one")], assistant("done"))
    chain.chat([user("b")], call("c2"))
    chain.chat([user("a, please"), call("c1"), found("c1", "one")], assistant("done again"))
    chain.chat([user("b"), call("c2"), found("c2", "two")], assistant("done"))
    told = [event["data"] for event in chain.events("tool_call")]
    assert [(one["call_id"], one["output"]) for one in told] == [("c1", "one"), ("c2", "two")]


def test_a_call_that_no_answer_asked_for_is_none_of_another_input(chain: Chain) -> None:
    """A history that the program wrote itself."""
    chain.chat([user("a")], assistant(None, tool_calls=[tool_call("c1", "look", '{"at": 1}')]))
    told = assistant(None, tool_calls=[tool_call("own", "look", '{"at": 2}')])
    chain.chat([user("a"), told, {"role": "tool", "tool_call_id": "own", "content": "x"}], assistant("done"))
    assert chain.events("tool_call") == []


def test_an_id_that_comes_before_its_answer_settles_no_other_call() -> None:
    """A run that is reported while the answer still comes is that id's alone."""
    calls = ToolCalls()
    assert not calls.report("early")
    calls.report_run("f", {"a": 1}, "one", named=True)
    asked = [tool_call("early", "f", '{"a": 1}'), tool_call("other", "f", '{"a": 1}')]
    calls.ask(assistant(None, tool_calls=asked), 0, "m1")
    assert calls.answer(Result("early", "one", False), 1) is None
    assert calls.answer(Result("other", "one", False), 1) is not None


def test_two_agents_that_ask_for_the_same_at_once_have_one_event_each() -> None:
    """A run that names no call settles the older one; the other's result may come first and tells."""
    calls = ToolCalls()
    for id in ("right", "left"):
        calls.ask(assistant(None, tool_calls=[tool_call(id, "f", '{"a": 1}')]), 0, id)
    calls.report_run("f", {"a": 1}, "one")
    assert calls.answer(Result("left", "one", False), 1) is None
    calls.ask(assistant("done"), 2, "m2")
    calls.report_run("f", {"a": 1}, "one")
    assert calls.answer(Result("right", "one", False), 3) is None
    calls.ask(assistant(None, tool_calls=[tool_call("third", "f", '{"a": 1}')]), 4, "m4")
    derived = calls.answer(Result("third", "one", False), 5)
    assert derived is not None
    assert derived["call_id"] == "third"


def test_a_result_sent_again_is_the_call_that_was_run() -> None:
    calls = ToolCalls()
    calls.ask(assistant(None, tool_calls=[tool_call("one", "f", "{}"), tool_call("two", "f", "{}")]), 0, "m1")
    calls.report_run("f", {}, "x")
    assert calls.answer(Result("one", "x", False), 1) is None
    assert calls.answer(Result("one", "x", False), 2) is None
    assert calls.answer(Result("two", "x", False), 3) is not None


def test_runs_whose_results_never_come_are_not_kept_for_good() -> None:
    calls = ToolCalls()
    for n in range(200):
        calls.ask(assistant(None, tool_calls=[tool_call(f"c{n}", "f", f'{{"n": {n}}}')]), n, f"m{n}")
        calls.report_run("f", {"n": n}, "x")
    assert len(calls._open) < 80
