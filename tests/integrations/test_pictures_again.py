"""Large content that the log holds beside a message is in it again where a provider is to read it."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

import lctl
from lctl.cli import main
from lctl.codec import open_log
from lctl.testing import ModelServer
from lctl.training import samples

openai = pytest.importorskip("openai")

ADDRESS = "data:image/png;base64," + base64.b64encode(bytes(range(256)) * 40).decode()
ASKED: Any = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": ADDRESS}}]}


def test_views_graphs_transcripts_and_samples_have_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.lctl.json"
    with ModelServer() as server, openai.OpenAI(base_url=server.openai_url, api_key="t") as client:
        server.script(["a cat", "yes", "more"])
        create = client.chat.completions.create

        def last() -> Any:
            return server.requests[-1].body["messages"][0]

        with lctl.LCTLSession("pictures", path) as session:
            create(model="m", messages=[ASKED])
            view = session.tree.view()
            view.send("sure?")
            create(model="m", messages=view.messages())
            assert last() == ASKED
        with lctl.LCTLSession("pictures", path) as session:
            tip = session.tree.tip()
            assert tip is not None
            graph = lctl.MessageGraph.resume(tip)
            graph.append({"role": "user", "content": "more"})
            create(model="m", messages=graph)
            assert last() == ASKED
    tree = lctl.load(path).tree
    tip = tree.tip()
    assert tip is not None
    assert tree.transcript(tip.id)[0] == ASKED
    assert [row.messages[0] for row in samples(tree)] == [ASKED]
    kinds = [event.type for event in open_log(path).events()]
    assert kinds.count("blob") == 1
    assert len(tree) == 6
    assert main(["transcript", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["messages"][0] == ASKED
