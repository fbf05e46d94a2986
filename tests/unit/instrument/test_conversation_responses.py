"""Conversations of the Responses API: an answer continued by its id, instructions, tool calls."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.instrument.chains import (
    MESSAGES,
    RESPONSES,
    Chain,
    assistant,
    system,
    user,
)


class TestResponses:
    def test_output_items_sent_back_are_the_sample(self, chain: Chain) -> None:
        """With ids and status, without them, or as plain text."""
        item = {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "b", "annotations": [], "logprobs": []}],
        }
        bare = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "b"}]}
        for back in (item, bare, {"role": "assistant", "content": "b"}):
            chain = Chain()
            (sampled,) = chain.receive(chain.send({"input": "a"}, RESPONSES), assistant("b"))
            leaf = chain.send({"input": [user("a"), back, user("c")]}, RESPONSES)[1]
            assert [data["message_id"] for data in chain.path(leaf)] == ["m1", sampled, leaf]

    def test_items_named_by_their_ids_are_the_sample(self, chain: Chain) -> None:
        """All of an answer's; a part of them is another prompt."""
        thought = {"type": "reasoning", "id": "rs_1", "summary": []}
        call = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": "{}"}
        (sampled,) = chain.receive(chain.send({"input": "a"}, RESPONSES), assistant([thought, call]))
        named = [{"type": "item_reference", "id": id} for id in ("rs_1", "fc_1")]
        result = {"type": "function_call_output", "call_id": "c1", "output": "x"}
        for back in (named, [named[0], call]):
            leaf = chain.send({"input": [user("a"), *back, result]}, RESPONSES)[1]
            assert [data["message_id"] for data in chain.path(leaf)] == ["m1", sampled, leaf]
        leaf = chain.send({"input": [user("a"), named[1], result]}, RESPONSES)[1]
        assert chain.path(leaf)[1]["content"] == [named[1]]

    def test_previous_response_goes_on_from_its_answer(self, chain: Chain) -> None:
        """Only the new input is sent, only it is stored; the instructions sent again are the same message."""
        body = {"instructions": "Be brief."}
        (one,) = chain.receive(chain.send({**body, "input": "a"}, RESPONSES), assistant("b"), id="resp_1")
        sent = chain.send({**body, "input": "c", "previous_response_id": "resp_1"}, RESPONSES)
        chain.receive(sent, assistant("d"), id="resp_2")
        leaf = chain.send({**body, "input": "e", "previous_response_id": "resp_2"}, RESPONSES)[1]
        assert chain.texts(leaf) == ["Be brief.", "a", "b", "c", "d", "e"]
        other = chain.send({**body, "input": "C", "previous_response_id": "resp_1"}, RESPONSES)[1]
        assert chain.texts(other) == ["Be brief.", "a", "b", "C"]
        assert chain.path(other)[2]["message_id"] == one

    def test_a_thread_goes_on_from_its_answer(self, chain: Chain) -> None:
        """Of Anthropic's: instructions and tools are said once, then only what is new."""
        body = {"system": "Be brief.", "messages": [user("a")], "thread": {"type": "create"}}
        chain.receive(chain.send(body, MESSAGES), assistant("b"), id="msg_1")
        thread = {"type": "continue", "previous_message_id": "msg_1"}
        leaf = chain.send({"messages": [user("c")], "thread": thread}, MESSAGES)[1]
        assert chain.texts(leaf) == ["Be brief.", "a", "b", "c"]

    def test_each_of_two_equal_answers_is_gone_on_from_by_its_own_id(self, chain: Chain) -> None:
        """Equal texts, two responses, two branches with equal questions."""
        ids = {}
        for name in ("resp_1", "resp_2"):
            (ids[name],) = chain.receive(chain.send({"input": "a"}, RESPONSES), assistant("b"), id=name)
        for name in ("resp_1", "resp_2", "resp_1"):
            leaf = chain.send({"input": "c", "previous_response_id": name}, RESPONSES)[1]
            assert chain.path(leaf)[1]["message_id"] == ids[name]
        assert chain.tree() == ["a", ["b*", ["c"], "b*", ["c"]]]

    def test_an_unknown_response_begins_a_root_that_says_so(self, chain: Chain) -> None:
        """Its history is not in this chain; two of them are never taken for one."""
        for name in ("resp_x", "resp_y"):
            chain.send({"input": "yes", "previous_response_id": name}, RESPONSES)
        assert [data["continues"] for data in chain.messages().values()] == ["resp_x", "resp_y"]

    def test_an_answer_without_output_is_still_a_place_to_go_on_from(self, chain: Chain) -> None:
        """The prompt's own end, then."""
        sent = chain.send({"input": "a"}, RESPONSES)
        chain.receive(sent, id="resp_1")
        leaf = chain.send({"input": "b", "previous_response_id": "resp_1"}, RESPONSES)[1]
        assert chain.texts(leaf) == ["a", "b"]

    def test_a_stored_conversation_goes_on_at_its_end(self, chain: Chain) -> None:
        """`conversation`: each request continues where the one before ended."""
        for question, answer in (("a", "b"), ("c", "d"), ("e", "f")):
            sent = chain.send({"input": question, "conversation": {"id": "conv_1"}}, RESPONSES)
            (last,) = chain.receive(sent, assistant(answer), id=f"resp_{question}")
        assert chain.texts(last) == ["a", "b", "c", "d", "e", "f"]

    def test_instructions_are_of_one_request(self, chain: Chain) -> None:
        """Each request reads its own, or none; nothing is stored twice."""
        sent = chain.send({"instructions": "one", "input": "a"}, RESPONSES)
        chain.receive(sent, assistant("b"), id="resp_1")
        body = {"instructions": "two", "input": "c", "previous_response_id": "resp_1"}
        chain.receive(chain.send(body, RESPONSES), assistant("d"), id="resp_2")
        chain.send({"input": "e", "previous_response_id": "resp_2"}, RESPONSES)
        assert chain.read() == [["one", "a"], ["two", "a", "b", "c"], ["a", "b", "c", "d", "e"]]
        assert [data.get("content") for data in chain.messages().values()] == [
            *("one", "a", "b", "two", "c", "d"),
            *(None, "e"),
        ]

    def test_instructions_given_later_lead(self, chain: Chain) -> None:
        """Also where the first request had none, and where there was no output."""
        chain.receive(chain.send({"input": "a"}, RESPONSES), id="resp_1")
        body = {"instructions": "one", "input": "b", "previous_response_id": "resp_1"}
        chain.receive(chain.send(body, RESPONSES), assistant("c"), id="resp_2")
        chain.send({**body, "input": "d", "previous_response_id": "resp_2"}, RESPONSES)
        assert chain.read() == [["a"], ["one", "a", "b"], ["one", "a", "b", "c", "d"]]

    def test_a_system_message_of_the_input_stays(self, chain: Chain) -> None:
        """It is part of the conversation."""
        chain.receive(chain.send({"input": [system("s"), user("a")]}, RESPONSES), assistant("b"), id="resp_1")
        chain.send({"input": "c", "previous_response_id": "resp_1"}, RESPONSES)
        chain.send({"instructions": "i", "input": "c", "previous_response_id": "resp_1"}, RESPONSES)
        assert chain.read() == [["s", "a"], ["s", "a", "b", "c"], ["i", "s", "a", "b", "c"]]

    def test_agents_that_take_turns_have_a_path_each(self, chain: Chain) -> None:
        """What one of them has read already is found: each turn adds what is new."""
        read, said = list[list[str]](), list[str]()
        body: dict[str, Any] = {}
        for turn in range(20):
            agent = f"agent {turn % 2}"
            sent = chain.send({**body, "instructions": agent, "input": f"q{turn}"}, RESPONSES)
            chain.receive(sent, assistant(f"a{turn}"), id=f"resp_{turn}")
            read.append([agent, *said, f"q{turn}"])
            said += [f"q{turn}", f"a{turn}"]
            body = {"previous_response_id": f"resp_{turn}"}
        assert chain.read() == read
        tree = chain.conversation()
        assert len(tree) == 2 + 2 * 20 + 2 * 19 and len(chain.messages()) == 2 + 2 * 20 + 18
        assert not tree.diagnostics

    def test_a_request_made_again_under_other_instructions_adds_nothing(self, chain: Chain) -> None:
        sent = chain.send({"instructions": "one", "input": "a"}, RESPONSES)
        chain.receive(sent, assistant("b"), id="resp_1")
        body = {"instructions": "two", "input": "c", "previous_response_id": "resp_1"}
        with pytest.raises(OSError):
            chain.send(body, RESPONSES, fails=True)
        leaf = chain.send(body, RESPONSES)[1]
        count = len(chain.messages())
        assert chain.send(body, RESPONSES)[1] == leaf and len(chain.messages()) == count
        assert chain.read()[1:] == [["two", "a", "b", "c"]] * 2

    def test_results_of_tools_keep_their_places_below_other_instructions(self, chain: Chain) -> None:
        calls = [
            {"type": "function_call", "call_id": f"c{n}", "name": "f", "arguments": "{}"} for n in (1, 2)
        ]
        asked = {"role": "assistant", "content": calls}
        chain.receive(chain.send({"instructions": "one", "input": "a"}, RESPONSES), asked, id="resp_1")
        results = [{"type": "function_call_output", "call_id": f"c{n}", "output": f"r{n}"} for n in (1, 2)]
        body = {"instructions": "two", "previous_response_id": "resp_1"}
        chain.receive(chain.send({**body, "input": results}, RESPONSES), assistant("b"), id="resp_2")
        chain.send({"instructions": "one", "input": "c", "previous_response_id": "resp_2"}, RESPONSES)
        roles = ["system", "user", "assistant", "tool", "tool"]
        tree = chain.conversation()
        paths = [tree.path(event["data"]["prompt"]) for event in chain.events("step_start")]
        assert [node.role for node in paths[1]] == roles
        assert [node.role for node in paths[2]] == [*roles, "assistant", "user"]
        assert [node.message for node in paths[1][2:]] == [node.message for node in paths[2][2:5]]
        assert len(chain.events("tool_call")) == 2


SERVER_RUNS: list[list[dict[str, Any]]] = [
    [
        {"type": "program", "id": "p", "call_id": "c", "code": "x"},
        {"type": "program_output", "id": "o", "call_id": "c", "result": "1"},
    ],
    [
        {"type": "tool_search_call", "id": "t", "call_id": None, "execution": "server"},
        {"type": "tool_search_output", "id": "o", "call_id": None, "execution": "server", "tools": []},
    ],
    [
        {"type": "shell_call", "id": "s", "call_id": "c", "action": {"commands": ["ls"]}},
        {"type": "shell_call_output", "id": "o", "call_id": "c", "output": [{"stdout": "a"}]},
    ],
]


@pytest.mark.parametrize("ran", SERVER_RUNS, ids=lambda ran: str(ran[0]["type"]))
def test_what_the_provider_ran_goes_back_as_part_of_its_answer(ran: list[dict[str, Any]]) -> None:
    """The conversation goes on from that answer, of which nothing is stored twice."""
    chain = Chain()
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done"}]}
    output = [*ran, said]
    sent = chain.send({"model": "m", "input": [user("Hi")]}, RESPONSES)
    [answer] = chain.receive(sent, {"role": "assistant", "content": output})
    _, leaf = chain.send({"model": "m", "input": [user("Hi"), *output, user("more")]}, RESPONSES)
    assert [message["message_id"] for message in chain.path(leaf)][1] == answer
    assert len(chain.messages()) == 3
