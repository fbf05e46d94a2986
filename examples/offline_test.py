"""A test of an agent, without network: `pytest examples/offline_test.py`.

The agent under test is `summarize`. The model server says what the model says, also when it fails; the
recording says what the agent did.
"""

from pathlib import Path

from openai import OpenAI

from lctl import LCTLSession
from lctl.codec import open_log
from lctl.testing import ModelServer


def summarize(client: OpenAI, text: str) -> str:
    """The agent: asks again when the summary is longer than the text."""
    prompt = f"Summarize: {text}"
    for _ in range(3):
        answer = client.chat.completions.create(
            model="gpt-4.1-mini", messages=[{"role": "user", "content": prompt}]
        )
        summary = str(answer.choices[0].message.content)
        if len(summary) < len(text):
            return summary
        prompt = f"Shorter! {prompt}"
    return text


def test_it_asks_again_and_survives_a_rate_limit(tmp_path: Path) -> None:
    """Two calls of the agent, three requests on the wire, one error that was recovered from."""
    with ModelServer() as server, LCTLSession(path=tmp_path / "run.lctl.json"):
        server.fault(429, retry_after=0)
        server.script(["A summary that goes on and on and on.", "Short."])
        with OpenAI(base_url=server.openai_url, api_key="test") as client:
            assert summarize(client, "A text of some length.") == "Short."

    assert server.count == 3
    assert "Shorter!" in server.requests[-1].last_text

    events = list(open_log(tmp_path / "run.lctl.json").events())
    assert [e.type for e in events].count("exchange") == 3
    errors = [e.data for e in events if e.type == "error"]
    assert [(e["type"], e["recoverable"]) for e in errors] == [("rate_limited", True)]
    assert [e.data["outcome"] for e in events if e.type == "step_end"] == ["success", "success"]
