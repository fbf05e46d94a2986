"""A bundle holds what its messages name: large content stands beside them."""

from __future__ import annotations

from pathlib import Path

import lctl
from lctl.codec import open_log


def test_pictures_go_with_their_messages(tmp_path: Path) -> None:
    address = "data:image/png;base64," + "QUJD" * 2000
    asked = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": address}}]}
    log, bundle = tmp_path / "log.lctl.json", tmp_path / "bundle.lctl.json"
    with (
        lctl.Session.start(log=log, session_id="s", model="m") as session,
        session.step("look"),
    ):
        graph = lctl.MessageGraph()
        graph.append(asked)
        session.record({"role": "assistant", "content": "A cat."})
    lctl.Session.hydrate(log, "s").export(bundle)
    for path in (log, bundle):
        blobs = [event.data for event in open_log(path).events() if event.type == "blob"]
        assert len(blobs) == 1
        assert blobs[0]["hash"].encode() in path.read_bytes().split(b'"$blob":"', 1)[1]
