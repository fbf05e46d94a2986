"""The values of environment variables that are secrets, however a text has them."""

from __future__ import annotations

import json
import re
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
