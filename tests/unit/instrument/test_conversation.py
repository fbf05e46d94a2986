"""Prompts and answers become a forest in which every message stands once."""

from __future__ import annotations

from typing import Any

import pytest

from lctl.conversation.identity import identity
from lctl.instrument.codecs import ModelAnswer
from tests.unit.instrument.chains import (
    MESSAGES,
    RESPONSES,
    Chain,
    assistant,
    system,
    tool_call,
    user,
)


class TestGrowth:
    def test_a_conversation_stores_each_message_once(self, chain: Chain) -> None:
        """Twenty turns that each send the whole history: one event per message."""
        history = [system("Be brief.")]
        for turn in range(20):
            history.append(user(f"question {turn}"))
            chain.chat(history, assistant(f"answer {turn}"))
            history.append(assistant(f"answer {turn}"))
        assert len(chain.events("message")) == 41
        assert [len(prompt) for prompt in chain.prompts()] == list(range(2, 42, 2))
        assert chain.prompts()[-1] == [message["content"] for message in history[:-1]]

    def test_ids_are_the_seq_of_the_event(self, chain: Chain) -> None:
        """`m<seq>`, also behind steps, blobs and answers."""
        chain.chat([system("s"), user("a")], assistant("b"))
        chain.chat([system("s"), user("a"), assistant("b"), user("c")], assistant("d"))
        for event in chain.events("message"):
            assert event["data"]["message_id"] == f"m{event['seq']}"

    def test_a_message_keeps_every_key_the_provider_gave(self, chain: Chain) -> None:
        """Verbatim, after the four keys every message has."""
        chain.chat([{"role": "user", "name": "ann", "content": "hi", "x": 1}], assistant("b", refusal=None))
        first, second = (event["data"] for event in chain.events("message"))
        assert first == {
            "message_id": "m1",
            "parent_id": None,
            "role": "user",
            "content": "hi",
            "name": "ann",
            "x": 1,
        }
        assert second == {
            "message_id": "m3",
            "parent_id": "m1",
            "role": "assistant",
            "content": "b",
            "refusal": None,
            "sampled": True,
            "status": "complete",
        }
        assert list(second)[:4] == ["message_id", "parent_id", "role", "content"]

    def test_a_providers_key_never_replaces_ours(self, chain: Chain) -> None:
        """Keys with our names are kept apart, under `wire`."""
        chain.chat([{"role": "user", "content": "a", "status": "x", "message_id": "evil", "sampled": 1}])
        data = chain.events("message")[0]["data"]
        assert data["message_id"] == "m1"
        assert data["wire"] == {"message_id": "evil", "sampled": 1, "status": "x"}
        assert "sampled" not in data

    def test_a_request_without_messages_has_no_leaf(self, chain: Chain) -> None:
        """Legacy completions: the answer is a root of its own."""
        sent = chain.send({"model": "m", "prompt": "once"}, "http://localhost/v1/completions")
        assert sent[1] is None
        (id,) = chain.receive(sent, assistant(" upon a time"))
        assert chain.messages()[id]["parent_id"] is None


class TestBranches:
    def test_a_changed_message_begins_a_branch_there(self, chain: Chain) -> None:
        """What came before stays shared; what came after is sent, and so stored, again below it."""
        chain.chat([system("s"), user("a"), assistant("b"), user("c")], assistant("d"))
        chain.chat([system("s"), user("A"), assistant("b"), user("c")], assistant("d"))
        assert chain.tree() == ["s", ["a", ["b", ["c", ["d*"]]], "A", ["b", ["c", ["d*"]]]]]

    def test_a_regeneration_is_a_sibling(self, chain: Chain) -> None:
        """The same prompt twice: two answers below one message, equal or not."""
        chain.chat([user("a")], assistant("b"))
        chain.chat([user("a")], assistant("b2"))
        chain.chat([user("a")], assistant("b"))
        assert chain.tree() == ["a", ["b*", "b2*", "b*"]]

    def test_going_on_from_equal_samples_takes_the_latest(self, chain: Chain) -> None:
        """Ties prefer sampled messages, then the latest; once chosen, the conversation stays there."""
        first = chain.chat([user("a")], assistant("b"))
        second = chain.chat([user("a")], assistant("b"))
        assert first != second
        (third,) = chain.chat([user("a"), assistant("b"), user("c")], assistant("d"))
        chain.chat([user("a")], assistant("b"))
        (fourth,) = chain.chat([user("a"), assistant("b"), user("c")], assistant("e"))
        assert chain.path(third)[1]["message_id"] == second[0]
        assert chain.path(fourth)[1]["message_id"] == second[0]

    def test_a_sampled_message_is_preferred_to_one_the_program_wrote(self, chain: Chain) -> None:
        """A prompt's own copy and a real sample at one place: going on is going on from the sample."""
        chain.chat([user("a"), assistant("b"), user("x")])
        (sampled,) = chain.chat([user("a")], assistant("b"))
        (end,) = chain.chat([user("a"), assistant("b"), user("c")], assistant("d"))
        assert chain.path(end)[1]["message_id"] == sampled

    def test_choices_are_siblings(self, chain: Chain) -> None:
        """n > 1: every choice is a child of the prompt's last message."""
        ids = chain.chat([user("a")], assistant("1"), assistant("2"), assistant("1"))
        assert len(set(ids)) == 3
        assert chain.tree() == ["a", ["1*", "2*", "1*"]]

    def test_interleaved_agents_keep_their_own_branches(self, chain: Chain) -> None:
        """A1, B1, A2, B2 with calls in flight at once: two straight conversations."""
        a: list[dict[str, Any]] = [system("agent a"), user("a0")]
        b: list[dict[str, Any]] = [system("agent b"), user("b0")]
        for turn in range(3):
            sent = [chain.send({"model": "m", "messages": list(side)}) for side in (a, b)]
            for side, name, one in ((b, "b", sent[1]), (a, "a", sent[0])):
                chain.receive(one, assistant(f"{name} says {turn}"))
                side += [assistant(f"{name} says {turn}"), user(f"{name}{turn + 1}")]
        known = chain.messages()
        children = [[data["parent_id"] for data in known.values()].count(id) for id in known]
        assert max(children) == 1
        assert len(known) == 14

    def test_a_shortened_history_is_found_again(self, chain: Chain) -> None:
        """Going back to an earlier point stores nothing and continues from there."""
        chain.chat([user("a"), assistant("b"), user("c")], assistant("d"))
        before = len(chain.events("message"))
        (id,) = chain.chat([user("a")], assistant("b2"))
        assert len(chain.events("message")) == before + 1
        assert chain.texts(id) == ["a", "b2"]


class TestIdentity:
    """An assistant's reply that the program sends back is the sampled message."""

    def goes_on(self, chain: Chain, answer: dict[str, Any], returned: dict[str, Any]) -> bool:
        (sampled,) = chain.chat([user("a")], answer)
        sent = chain.send({"model": "m", "messages": [user("a"), returned, user("next")]})
        return bool(chain.path(sent[1])[1]["message_id"] == sampled)

    @pytest.mark.parametrize(
        "extra",
        [
            {},
            {"refusal": None},
            {"annotations": [], "audio": None, "function_call": None, "tool_calls": None, "parsed": {"x": 1}},
            {"tool_calls": [], "provider_specific_fields": {"a": 1}, "name": None},
        ],
    )
    def test_what_sdks_add_or_drop_does_not_count(self, chain: Chain, extra: dict[str, Any]) -> None:
        """Nulls, empty lists, parsed copies: on either side."""
        assert self.goes_on(chain, assistant("b", refusal=None, annotations=[]), assistant("b", **extra))

    def test_empty_content_is_null_beside_tool_calls(self, chain: Chain) -> None:
        """And arguments are compared as JSON, ids as they are."""
        answer = assistant(None, tool_calls=[tool_call("c1", "look", '{"a": 1, "b": [2]}')])
        returned = assistant("", tool_calls=[tool_call("c1", "look", '{"b":[2],"a":1}')])
        assert self.goes_on(chain, answer, returned)

    @pytest.mark.parametrize(
        "returned",
        [
            assistant("b "),
            assistant(None),
            assistant("b", tool_calls=[tool_call("c1", "look", "{}")]),
            assistant("b", reasoning_content="because"),
            assistant("b", name="bob"),
            {"role": "user", "content": "b"},
        ],
    )
    def test_what_the_model_sees_counts(self, chain: Chain, returned: dict[str, Any]) -> None:
        """Text, tool calls, reasoning, name, role: a difference is another message."""
        assert not self.goes_on(chain, assistant("b"), returned)

    @pytest.mark.parametrize(
        "changed", [("c2", "look", "{}"), ("c1", "see", "{}"), ("c1", "look", '{"a":null}')]
    )
    def test_every_part_of_a_tool_call_counts(self, chain: Chain, changed: tuple[str, str, str]) -> None:
        """Id, name and arguments."""
        answer = assistant(None, tool_calls=[tool_call("c1", "look", "{}")])
        assert not self.goes_on(chain, answer, assistant(None, tool_calls=[tool_call(*changed)]))

    def test_one_text_part_is_its_text(self, chain: Chain) -> None:
        """A list of one bare text part and the text alone are the same to the model."""
        assert self.goes_on(chain, assistant([{"type": "text", "text": "b"}]), assistant("b"))

    def test_a_tool_result_is_told_apart_by_its_call(self, chain: Chain) -> None:
        """Equal outputs of two calls are two messages."""
        for id in ("c1", "c2"):
            chain.chat([user("a"), {"role": "tool", "tool_call_id": id, "content": "ok"}])
        assert len(chain.events("message")) == 3

    def test_caching_marks_do_not_count(self, chain: Chain) -> None:
        """Anthropic's cache_control wanders from message to message while a conversation grows."""

        def marked(text: str) -> dict[str, Any]:
            return user([{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}])

        history: list[dict[str, Any]] = []
        for turn in range(5):
            body = {"model": "m", "system": "s", "messages": [*history, marked(f"q{turn}")]}
            reply = assistant([{"type": "text", "text": f"a{turn}", "citations": None}])
            chain.receive(chain.send(body, MESSAGES), reply)
            history += [user([{"type": "text", "text": f"q{turn}"}]), assistant(f"a{turn}")]
        assert len(chain.events("message")) == 1 + 2 * 5

    def test_thinking_is_part_of_the_message(self, chain: Chain) -> None:
        """Sent back whole it is the sample; without its thinking it is another message."""
        blocks = [
            {"type": "thinking", "thinking": "hm", "signature": "sig"},
            {"type": "tool_use", "id": "t1", "name": "f", "input": {}},
        ]
        for content, same in ((blocks, True), (blocks[1:], False)):
            chain = Chain()
            sent = chain.send({"model": "m", "messages": [user("a")]}, MESSAGES)
            (sampled,) = chain.receive(sent, assistant(blocks))
            back = [user("a"), assistant(content), user("b")]
            leaf = chain.send({"model": "m", "messages": back}, MESSAGES)[1]
            assert (chain.path(leaf)[1]["message_id"] == sampled) is same

    def test_absurd_nesting_is_equal_to_nothing(self) -> None:
        """Deeper than we compare: a message of its own each time, nothing raised."""
        content: Any = "x"
        for _ in range(900):
            content = [content]
        assert identity(user(content)) != identity(user(content))


class TestSpelling:
    def test_arguments_that_were_dumped_again_are_told(self, chain: Chain) -> None:
        """The same message; which calls' arguments its model had written in other characters is said."""
        written, dumped = '{"x":1}', '{"x": 1}'
        asked = assistant(None, tool_calls=[tool_call("c1", "f", written)])
        chain.chat([user("a")], asked)
        result = {"role": "tool", "tool_call_id": "c1", "content": "r"}
        for text in (written, dumped):
            back = assistant(None, tool_calls=[tool_call("c1", "f", text)])
            chain.chat([user("a"), back, result], assistant("b"))
        told = [event["data"].get("reserialized") for event in chain.events("step_start")]
        assert told == [None, None, ["c1"]]
        assert len(chain.messages()) == 5

    def test_arguments_of_the_responses_api_are_told(self, chain: Chain) -> None:
        call = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": '{"x":1}'}
        sent = chain.send({"input": "a"}, RESPONSES)
        chain.receive(sent, assistant([call]), id="resp_1")
        output = {"type": "function_call_output", "call_id": "c1", "output": "r"}
        chain.send({"input": [user("a"), {**call, "arguments": '{ "x": 1 }'}, output]}, RESPONSES)
        assert chain.events("step_start")[-1]["data"]["reserialized"] == ["c1"]


class TestToolDefinitions:
    def test_definitions_are_stored_once(self, chain: Chain) -> None:
        """A hash on every step, the definitions with its first use; key order does not matter."""
        look = {"type": "function", "function": {"name": "look", "parameters": {"a": 1, "b": 2}}}
        same = {"function": {"parameters": {"b": 2, "a": 1}, "name": "look"}, "type": "function"}
        for tools in ([look], [same], [look, look], None):
            chain.send({"messages": [user("a")], "tools": tools})
        steps = [event["data"] for event in chain.events("step_start")]
        assert steps[0]["tools"] == steps[1]["tools"] != steps[2]["tools"]
        assert steps[0]["tool_definitions"] == [look]
        assert ["tool_definitions" in step for step in steps] == [True, False, True, False]
        assert "tools" not in steps[3]


class TestFailedWrites:
    def test_messages_of_a_failed_write_are_new_again(self, chain: Chain) -> None:
        """Without any call: the seqs of the lost plan come again, so it cannot have been written."""
        with pytest.raises(OSError):
            chain.send({"messages": [user("a"), user("b")], "tools": [{"name": "t"}]}, fails=True)
        leaf = chain.send({"messages": [user("a"), user("b")], "tools": [{"name": "t"}]})[1]
        assert chain.texts(leaf) == ["a", "b"]
        assert chain.events("step_start")[0]["data"]["tool_definitions"] == [{"name": "t"}]

    def test_rollback_after_other_events_took_the_numbers(self, chain: Chain) -> None:
        """A writer that knows its write failed says so with the plan's first seq."""
        with pytest.raises(OSError):
            chain.send({"messages": [user("a")]}, fails=True)
        chain.conversations.rollback(1)
        chain.recorder.record("fact_added", "main", {"id": "f", "text": "t"})
        assert chain.texts(chain.send({"messages": [user("a")]})[1]) == ["a"]

    def test_rollback_names_its_plan(self, chain: Chain) -> None:
        """What was written stays: a rollback of another seq does nothing."""
        chain.send({"messages": [user("a")]})
        chain.conversations.rollback(40)
        chain.send({"messages": [user("a")]})
        assert len(chain.events("message")) == 1

    def test_everything_a_plan_changed_is_changed_back(self, chain: Chain) -> None:
        """Tool results, blobs and response ids of a lost write come again too."""
        picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "iVBORw0K" * 1000}}
        answer = assistant(None, tool_calls=[tool_call("c1", "look", "{}")])
        chain.chat([user("a")], answer)
        back = [user("a"), answer, {"role": "tool", "tool_call_id": "c1", "content": "x"}, user([picture])]
        with pytest.raises(OSError):
            chain.send({"messages": back}, fails=True)
        chain.send({"messages": back})
        assert len(chain.events("tool_call")) == 1
        assert len(chain.events("blob")) == 1


class TestAnswers:
    @pytest.mark.parametrize(
        ("answer", "status"),
        [
            (ModelAnswer(messages=[assistant("b")]), "complete"),
            (ModelAnswer(messages=[assistant("b")], complete=False), "aborted"),
            (ModelAnswer(messages=[assistant("b")], complete=False, error={"type": "x"}), "error"),
        ],
    )
    def test_status_tells_how_the_answer_ended(self, chain: Chain, answer: ModelAnswer, status: str) -> None:
        """Complete, left early, or broken by an error."""
        chain.answer(chain.send({"messages": [user("a")]}), answer)
        assert chain.events("message")[1]["data"]["status"] == status

    def test_an_error_without_words_adds_no_message(self, chain: Chain) -> None:
        """And the same prompt sent again is found."""
        chain.answer(chain.send({"messages": [user("a")]}), ModelAnswer(error={"status": 500}))
        chain.send({"messages": [user("a")]})
        assert len(chain.events("message")) == 1


class TestBlobs:
    def test_an_image_is_stored_once_in_a_chain(self, chain: Chain) -> None:
        """The part names it; the blob comes before the first message that does."""
        url = "data:image/png;base64," + "iVBORw0K" * 1000
        message = user([{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": url}}])
        chain.chat([message], assistant("a cat"))
        chain.chat([message, assistant("a cat"), user("sure?")], assistant("yes"))
        chain.chat([system("other"), message], assistant("a dog"))
        (blob,) = chain.events("blob")
        stored = [data for data in chain.messages().values() if isinstance(data["content"], list)]
        assert [data["content"][1]["image_url"]["url"]["$blob"] for data in stored] == [
            blob["data"]["hash"]
        ] * 2
        assert blob["seq"] == 1
        assert blob["data"]["content"] == "iVBORw0K" * 1000

    def test_note_blob_is_true_once(self, chain: Chain) -> None:
        """For blobs that others write."""
        assert chain.conversations.note_blob("sha256:1")
        assert not chain.conversations.note_blob("sha256:1")
