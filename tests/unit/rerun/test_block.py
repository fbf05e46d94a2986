"""`with lctl.rerun(path):` serves a program from its recording, exactly, and says so."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

import lctl
from lctl.errors import RerunError
from lctl.rerun.tape.tape import Tape


def ask(client: Any, *texts: str) -> str:
    roles = ("user", "assistant")
    messages = [{"role": roles[n % 2], "content": text} for n, text in enumerate(texts)]
    answer = client.chat.completions.create(model="gpt-4o", messages=messages)
    return str(answer.choices[0].message.content)


def chat(url: str) -> list[str]:
    from openai import OpenAI

    client = OpenAI(base_url=f"{url}/v1", max_retries=1)
    first = ask(client, "one")
    second = ask(client, "one", first, "two")
    stream = client.chat.completions.create(
        model="gpt-4o", messages=[{"role": "user", "content": "three"}], stream=True
    )
    return [first, second, "".join(part.choices[0].delta.content or "" for part in stream if part.choices)]


def claude(url: str) -> list[str]:
    from anthropic import Anthropic

    client = Anthropic(base_url=url)
    made = client.messages.create(
        model="claude-x", max_tokens=50, messages=[{"role": "user", "content": "one"}]
    )
    with client.messages.stream(
        model="claude-x", max_tokens=50, messages=[{"role": "user", "content": "two"}]
    ) as stream:
        return [str(made.content[0]), "".join(stream.text_stream)]


def chat_async(url: str) -> list[str]:
    from openai import AsyncOpenAI

    async def main() -> list[str]:
        async with AsyncOpenAI(base_url=f"{url}/v1") as client:
            first = await client.chat.completions.create(
                model="gpt-4o", messages=[{"role": "user", "content": "one"}]
            )
            stream = await client.chat.completions.create(
                model="gpt-4o", messages=[{"role": "user", "content": "two"}], stream=True
            )
            text = "".join([part.choices[0].delta.content or "" async for part in stream if part.choices])
            return [str(first.choices[0].message.content), text]

    return asyncio.run(main())


@pytest.mark.slow
@pytest.mark.interpreter
@pytest.mark.parametrize("program", [chat, claude, chat_async])
def test_twenty_reruns_give_the_same_values_and_the_same_events(program: Any, record: Any) -> None:
    recorded = record(program)
    for _ in range(20):
        value, certificate = recorded.again()
        assert value == recorded.value
        assert certificate.ok, certificate
        assert list(lctl.Chain.load(certificate.log).log.lines()) == recorded.lines
    assert recorded.connects == 0


def test_the_new_log_names_its_recording_and_carries_the_certificate(record: Any) -> None:
    recorded = record(chat)
    _, certificate = recorded.again()
    log = lctl.Chain.load(certificate.log).log
    assert log.chain["rerun"] == {"of": "recorded"}
    assert log.id != "recorded"
    assert log.tail is not None
    assert log.tail["rerun"]["ok"] is True
    assert log.tail["rerun"]["exact"] == 3
    before = lctl.Chain.load(recorded.path).log.tail
    assert before is not None
    assert log.tail["hash"]["events"] == before["hash"]["events"]


def test_a_rerun_can_be_run_again(record: Any) -> None:
    recorded = record(chat)
    _, first = recorded.again()
    with lctl.rerun(first.log) as block:
        assert chat(recorded.url) == recorded.value
    assert block.certificate.ok
    assert block.certificate.of == lctl.Chain.load(first.log).id


def test_the_recording_is_never_written_to(record: Any, tmp_path: Path) -> None:
    path = tmp_path / "own.lctl.json"

    def opens_its_own(url: str) -> list[str]:
        with lctl.LCTLSession("own", path) as session:
            session.add_fact("F1", chat(url)[0])
        return []

    record(opens_its_own)
    before = path.read_bytes()
    with lctl.rerun(path) as block:
        opens_its_own("http://127.0.0.1:1")
    assert path.read_bytes() == before
    assert block.certificate.ok, block.certificate


def test_errors_and_retries_are_served_as_recorded(record: Any) -> None:
    from openai import BadRequestError, OpenAI

    def program(url: str) -> list[str]:
        client = OpenAI(base_url=f"{url}/v1", max_retries=2)
        said = [ask(client, "one")]
        try:
            ask(client, "bad")
        except BadRequestError as error:
            said.append(f"{type(error).__name__} {error}")
        return said

    def prepare(server: Any) -> None:
        server.fault(429, retry_after=0)
        server.reply("after a retry")
        server.fault(400)

    recorded = record(program, prepare)
    assert recorded.value[0] == "after a retry"
    value, certificate = recorded.again()
    assert value == recorded.value
    assert certificate.ok, certificate
    assert certificate.exact == 3


def test_equal_prompts_get_their_own_answers(record: Any) -> None:
    from openai import OpenAI

    def program(url: str) -> list[str]:
        client = OpenAI(base_url=f"{url}/v1")
        return [ask(client, "the same") for _ in range(5)]

    recorded = record(program)
    assert len(set(recorded.value)) == 5
    value, certificate = recorded.again()
    assert value == recorded.value
    assert certificate.ok


def test_a_secret_in_a_prompt_does_not_stop_the_rerun(record: Any) -> None:
    from openai import OpenAI

    secret = "sk-proj-" + "a1B2" * 10

    def program(url: str) -> str:
        return ask(OpenAI(base_url=f"{url}/v1"), f"my key is {secret}, is it safe?")

    recorded = record(program)
    assert secret.encode() not in recorded.path.read_bytes()
    value, certificate = recorded.again()
    assert value == recorded.value
    assert certificate.ok, certificate


def test_another_server_address_is_the_same_request(record: Any) -> None:
    recorded = record(chat)
    with lctl.rerun(recorded.path) as block:
        assert chat("https://models.example.com") == recorded.value
    assert block.certificate.ok, block.certificate


def test_stops_at_an_event(record: Any) -> None:
    recorded = record(chat)
    went_on = []

    def program(url: str) -> None:
        chat(url)
        went_on.append(1)

    with lctl.rerun(recorded.path, to=8) as block:
        program(recorded.url)
    assert not went_on
    assert block.certificate.ok
    assert block.certificate.until == 8
    assert block.certificate.standing[-1].startswith("tests/unit/rerun/test_block.py")
    assert list(lctl.Chain.load(block.certificate.log).log.lines()) == recorded.lines[:8]


def test_a_crashed_recording_reruns_as_far_as_it_goes(record: Any, tmp_path: Path) -> None:
    recorded = record(chat)
    lines = recorded.path.read_bytes().split(b"\n")
    for kept in range(2, len(lines) - 2):
        cut = tmp_path / f"cut-{kept}.lctl.json"
        cut.write_bytes(b"\n".join([*lines[:kept], lines[kept][:20]]))
        block = lctl.rerun(cut)
        try:
            with block:
                chat(recorded.url)
        except BaseException as error:
            raise AssertionError(f"{kept} lines: {error}") from error
        certificate = block.certificate
        assert certificate.ok, certificate
        assert kept - 2 <= certificate.events <= kept - 1  # an answer may be cut off behind its exchange


def test_a_log_without_exchanges_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "stripped.lctl.json"
    with lctl.LCTLSession("stripped", path) as session:
        session.emit("step_start", {"kind": "llm", "operation": "chat.completions", "model": "gpt-4o"})
        session.emit("step_end", {}, step=1)
    with pytest.raises(RerunError, match="its 1 model call cannot be served"):
        lctl.rerun(path)
    assert len(Tape.empty().entries) == 0


def test_reruns_do_not_nest(record: Any) -> None:
    recorded = record(chat)
    with lctl.rerun(recorded.path):
        chat(recorded.url)
        with pytest.raises(RerunError, match="under way"), lctl.rerun(recorded.path):
            pass


def test_recording_goes_on_as_before_after_a_rerun(record: Any, tmp_path: Path) -> None:
    recorded = record(chat)
    outer = tmp_path / "outer.lctl.json"
    with lctl.LCTLSession("outer", outer) as session:
        session.add_fact("F1", "before")
        recorded.again()
        session.add_fact("F2", "after")
    assert [event.type for event in lctl.Chain.load(outer).events] == ["fact_added", "fact_added"]


@pytest.mark.slow
def test_whoever_takes_the_recording_away_between_reruns_need_not_sleep(record: Any) -> None:
    """What a rerun puts in the place of Python's functions does not depend on what recording had on them
    before."""

    def program(url: str) -> list[str]:
        time.sleep(2)
        return chat(url)

    lctl.auto_instrument(record="full")
    recorded = record(program)
    lctl.uninstrument()
    began = time.monotonic()
    for again in (lctl.auto_instrument, None, lctl.auto_instrument, None):
        if again is not None:
            again(record="full")
        with lctl.rerun(recorded.path):
            program(recorded.url)
        lctl.uninstrument()
    assert time.monotonic() - began < 2
