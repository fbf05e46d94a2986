"""The values of environment variables that are secrets, however a text has them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lctl.session import LCTLSession


@pytest.mark.parametrize(
    "secret", ['p@ss"w\\rd/9x', "it's\\a\"secret", "zürich-mañana", "tab\there\\", "plain-word9"]
)
def test_a_value_in_json_in_a_string(folder: Path, monkeypatch: pytest.MonkeyPatch, secret: str) -> None:
    """Escaped up to three times: where the text is JSON, and where it only holds some."""
    monkeypatch.setenv("DB_PASSWORD", secret)
    texts = [secret, repr({"q": secret})]
    for spelled in (True, False):
        text = secret
        for _ in range(3):
            text = json.dumps({"q": text}, ensure_ascii=spelled)
            texts.append(text)
    recorded: list[Any] = []
    with LCTLSession("c", "x.lctl.json") as session:
        for text in texts:
            for value in (text, f"so: {text}", {"given": [text]}):
                session.emit("t", {"x": value})
    recorded = [json.dumps(event["data"], ensure_ascii=False) for event in session.to_dict()["events"]]
    assert not [told for told in recorded if "[redacted:environment:" not in told]
    assert len({re.sub(r".*(\[redacted:[^\]]*\]).*", r"\1", told) for told in recorded}) == 1


def test_a_value_in_place_of_another(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `load_dotenv(override=True)` does it: at any time, by either view, in lines like others."""
    monkeypatch.setenv("ACME_API_KEY", "changeme")
    monkeypatch.setenv("ACME_TOKEN", "changeme-too")
    with LCTLSession("c", "x.lctl.json") as session, LCTLSession("d", "y.lctl.json") as other:
        for one in (session, other):
            one.emit("t", {"x": "using zebra/quilt/Mango77 now"})
        os.environ["ACME_API_KEY"] = "zebra/quilt/Mango77"
        for one in (session, other):
            one.emit("t", {"x": "using zebra/quilt/Mango77 now"})
        os.environ.update(ACME_TOKEN="Quince/apple/31")
        session.emit("t", {"x": "using Quince/apple/31 now"})
        os.environb[b"ACME_TOKEN"] = b"plum/cherry/31"
        session.emit("t", {"x": "using plum/cherry/31 now"})
        del os.environ["ACME_TOKEN"]
        os.environ["ACME_SECRET"] = "fig/melon/31"
        session.emit("t", {"x": "using fig/melon/31 now"})
    monkeypatch.delenv("ACME_SECRET")
    told = [event["data"]["x"] for event in session.to_dict()["events"]]
    assert told[0] == "using zebra/quilt/Mango77 now"
    assert all(re.fullmatch(r"using \[redacted:environment:....\] now", text) for text in told[1:])
    assert "redacted" in other.to_dict()["events"][1]["data"]["x"]


def test_the_environment_is_as_it_was(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both views of it say the same, children have it, and what it refuses it refuses itself."""
    with LCTLSession("c", "x.lctl.json"):
        monkeypatch.setenv("LATER", "one")
        assert os.environb[b"LATER"] == b"one" and os.getenv("LATER") == "one"
        os.environb[b"LATER"] = b"two"
        assert os.environ["LATER"] == "two" and dict(os.environ) == os.environ.copy()
        shown = [sys.executable, "-c", "import os; print(os.environ['LATER'])"]
        assert subprocess.run(shown, capture_output=True, text=True).stdout == "two\n"
        with pytest.raises(TypeError) as refused:
            os.environ["LATER"] = 1  # type: ignore[assignment]
        assert not any("lctl" in str(entry.path) for entry in refused.traceback[1:])
