"""What is not exact is served or refused as the policy says, and never silently."""

from __future__ import annotations

from typing import Any

import lctl
from tests.unit.rerun.test_block import ask


def program(*questions: str) -> Any:
    def run(url: str) -> list[str]:
        from openai import OpenAI

        client = OpenAI(base_url=f"{url}/v1")
        return [ask(client, f"Answer in one sentence, please: {question}") for question in questions]

    return run


def test_a_changed_prompt_stops_with_the_difference(record: Any) -> None:
    recorded = record(program("where is Oslo", "where is Rome"))
    why, certificate = recorded.stopped(program("where is Oslo", "where is Bonn"))
    assert "this call is not the recorded one (policy strict)" in why
    assert "asked     call 2 of lane 0: chat.completions, gpt-4o" in why
    assert "tests/unit/rerun/test_block.py" in why
    assert "recorded  call 2 of lane 0: event 8" in why
    assert "-  Answer in one sentence, please: where is Rome" in why
    assert "+  Answer in one sentence, please: where is Bonn" in why
    assert "call 1 of lane 0     87% alike, already served" in why
    assert (certificate.exact, certificate.unmatched, certificate.ok) == (1, 1, False)
    assert recorded.connects == 0


def test_of_a_long_line_what_differs_is_shown(record: Any) -> None:
    before = "word " * 60
    why, _ = record(program(f"{before}in Rome {before}")).stopped(program(f"{before}in Bonn {before}"))
    gone, come = (line for line in why.splitlines() if line.startswith(("  -...", "  +...")))
    assert "word in Rome word" in gone
    assert "word in Bonn word" in come
    assert len(gone) == len(come) < 170


def test_where_an_object_is_in_memory_makes_no_difference(record: Any) -> None:
    """A prompt that holds the `repr` of an object is another text in each run."""

    recorded = record(program("what is <function where at 0x7f0a1b2c3d40>", "Rome"))
    value, certificate = recorded.again(program("what is <function where at 0x7f99999999a0>", "Rome"))
    assert value == recorded.value
    assert certificate.ok
    recorded.stopped(program("what is <function here at 0x7f99999999a0>", "Rome"))


def test_what_was_stopped_stays_stopped(record: Any) -> None:
    recorded = record(program("a", "b"))

    def stubborn(url: str) -> None:
        for _ in range(3):
            try:
                program("c")(url)
            except BaseException:
                continue
        program("a")(url)

    _, certificate = recorded.stopped(stubborn)
    assert certificate.unmatched == 1
    assert certificate.exact == 0


def test_one_call_too_many(record: Any) -> None:
    recorded = record(program("a", "b"))
    why, certificate = recorded.stopped(program("a", "b", "c"))
    assert "the program made more of them here than in the recording" in why
    assert certificate.exact == 2


def test_calls_not_made_are_unused(record: Any) -> None:
    recorded = record(program("a", "b", "c"))
    value, certificate = recorded.again(program("a", "b"))
    assert value == recorded.value[:2]
    assert certificate.unused == ("event 13: call 3 of lane 0",)
    assert not certificate.ok
    assert certificate.first_difference.now is None


def test_pin_serves_by_place_and_marks_it(record: Any) -> None:
    recorded = record(program("where is Oslo", "where is Rome", "and Paris"))
    value, certificate = recorded.again(program("where is Oslo", "where is Bonn", "and Paris"), policy="pin")
    assert value == recorded.value
    assert (certificate.exact, certificate.drift) == (2, 1)
    assert not certificate.ok
    exchanges = [e for e in lctl.Chain.load(certificate.log).events if e.type == "exchange"]
    assert [event.data.get("match") for event in exchanges] == [None, "drift", None]


def test_a_removed_call_moves_those_after_it(record: Any) -> None:
    recorded = record(program("a", "b", "c", "d"))
    value, certificate = recorded.again(program("a", "c", "d"), policy="pin")
    assert value == [recorded.value[n] for n in (0, 2, 3)]
    assert (certificate.exact, certificate.moved) == (1, 2)
    assert certificate.unused == ("event 8: call 2 of lane 0",)


def test_an_inserted_call_is_named_and_those_after_it_are_still_found(record: Any) -> None:
    recorded = record(program("where is Oslo", "where is Rome"))

    def inserted(url: str) -> list[str]:
        from openai import OpenAI

        client = OpenAI(base_url=f"{url}/v1", max_retries=0)
        try:
            ask(client, "something else entirely")
        except Exception as error:  # the network, which is blocked
            assert "onnection" in str(error)
        return program("where is Oslo", "where is Rome")(url)  # type: ignore[no-any-return]

    value, certificate = recorded.again(inserted, policy="pin", on_miss="live")
    assert value == recorded.value
    assert (certificate.live, certificate.moved) == (1, 2)
    why, _ = recorded.stopped(inserted)
    assert "this call is not the recorded one" in why
    why, _ = recorded.stopped(inserted, policy="pin")
    assert "something else entirely" in why


def test_until_divergence_goes_live_from_the_first_difference_on(record: Any) -> None:
    recorded = record(program("a", "b", "c"))

    def tolerant(url: str) -> list[str]:
        from openai import APIConnectionError, OpenAI

        client = OpenAI(base_url=f"{url}/v1", max_retries=0)
        said = []
        for question in ("a", "x", "c"):
            try:
                said.append(ask(client, f"Answer in one sentence, please: {question}"))
            except APIConnectionError:
                said.append("live")
        return said

    value, certificate = recorded.again(tolerant, policy="until-divergence")
    assert value == [recorded.value[0], "live", "live"]
    assert (certificate.exact, certificate.live) == (1, 2)
    assert recorded.connects > 0


def test_parameters_count(record: Any) -> None:
    from openai import OpenAI

    def at(temperature: float) -> Any:
        def run(url: str) -> None:
            OpenAI(base_url=f"{url}/v1").chat.completions.create(
                model="gpt-4o", messages=[{"role": "user", "content": "a"}], temperature=temperature
            )

        return run

    recorded = record(at(0.1))
    why, _ = recorded.stopped(at(0.9))
    assert "-temperature: 0.1" in why
    assert "+temperature: 0.9" in why


def test_plain_traffic_is_refused_by_name(record: Any) -> None:
    import httpx

    recorded = record(program("a"))
    why, certificate = recorded.stopped(lambda url: httpx.get("http://files.example.com/x.csv"))
    assert "this request is no model call, and this recording holds model calls only" in why
    assert "GET http://files.example.com/x.csv" in why
    assert "--allow files.example.com lets it out" in why
    assert recorded.connects == 0
    assert certificate.unmatched == 1


def test_a_key_for_the_cache_of_prompts_makes_no_difference(record: Any) -> None:
    """The Agents SDK draws one for each run."""

    def cached(key: str) -> Any:
        def run(url: str) -> str:
            from openai import OpenAI

            client = OpenAI(base_url=f"{url}/v1")
            messages: Any = [{"role": "user", "content": "one"}]
            made = client.chat.completions.create(model="gpt-4o", messages=messages, prompt_cache_key=key)
            return str(made.choices[0].message.content)

        return run

    recorded = record(cached("agents-sdk:run:0a"))
    value, certificate = recorded.again(cached("agents-sdk:run:1b"))
    assert value == recorded.value
    assert certificate.ok


def test_what_goes_on_from_a_kept_answer_is_compared_by_what_it_sends(record: Any) -> None:
    """A request of the Responses API that says the newest message, and the instructions, only."""

    def going_on(key: str) -> Any:
        def run(url: str) -> list[str]:
            from openai import OpenAI

            client, id, texts = OpenAI(base_url=f"{url}/v1"), None, []
            for question in ("where is Oslo", "and Rome", "and Bonn"):
                answer = client.responses.create(
                    model="gpt-4o",
                    instructions="Be brief.",
                    input=question,
                    previous_response_id=id,
                    prompt_cache_key=key,
                )
                id = answer.id
                texts.append(answer.output_text)
            return texts

        return run

    recorded = record(going_on("one"))
    value, certificate = recorded.again(going_on("another"))
    assert value == recorded.value
    assert certificate.ok


def test_what_goes_on_under_other_instructions_is_compared_by_what_it_sends(record: Any) -> None:
    """Agents that hand a kept conversation over, and a request without instructions."""

    def going_on(key: str) -> Any:
        def run(url: str) -> list[str]:
            from openai import OpenAI

            client, id, texts = OpenAI(base_url=f"{url}/v1"), None, []
            for question, lead in (("Oslo", "One."), ("Rome", "Two."), ("Bonn", None), ("Bern", "One.")):
                answer = client.responses.create(
                    model="gpt-4o",
                    instructions=lead,
                    input=question,
                    previous_response_id=id,
                    prompt_cache_key=key,
                )
                id = answer.id
                texts.append(answer.output_text)
            return texts

        return run

    recorded = record(going_on("one"))
    value, certificate = recorded.again(going_on("another"))
    assert value == recorded.value
    assert certificate.ok
