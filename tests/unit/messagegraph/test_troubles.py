"""What else a graph meets: branches, other lists, threads, forks, full disks, closed sessions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from lctl.errors import UsageError
from lctl.session import LCTLSession
from lctl.session.messagegraph.graph import MessageGraph
from tests.unit.messagegraph.calling import assistant, call, events, system, told, user


def test_branches_share_nothing_that_can_be_changed(session: LCTLSession) -> None:
    parts = [{"type": "text", "text": "one"}, {"type": "text", "text": "x"}]
    graph = MessageGraph(session, messages=[user(parts)])
    call(session, graph, assistant("a"))
    graph.append(assistant("a"))
    graph.insert(0, system("s"))
    previous, copy = graph.previous(), graph.copy()
    assert previous is not None and session.tree["m1"].message == user(parts)
    previous[0]["content"][0]["text"] = "two"
    copy[1]["content"][0]["text"] = "three"
    assert session.tree["m1"].message == graph[1] == user(parts)
    assert session.tree.transcript(call(session, copy)) == copy
    assert session.tree.transcript(call(session, previous)) == previous


def test_a_copy_of_the_graph_is_a_branch(session: LCTLSession) -> None:
    graph = MessageGraph(session, messages=[user("u")])
    other = graph.copy()
    assert isinstance(other, MessageGraph) and len(told(session)) == 1
    graph.append(user("one"))
    other.append(user("two"))
    assert [event["parent_id"] for event in told(session)] == [None, "m1", "m1"]
    assert graph == [user("u"), user("one")] and other == [user("u"), user("two")]


def test_messages_where_the_session_belongs() -> None:
    """Taken for a session they would be lost: the graph would be empty, and record nothing."""
    with pytest.raises(UsageError, match=r"messages are given as messages=\[...\]"):
        MessageGraph([user("u")])  # type: ignore[arg-type]


def test_two_graphs_that_say_the_same_are_two(session: LCTLSession) -> None:
    one, two = (MessageGraph(session, messages=[user("u")]) for _ in range(2))
    assert call(session, two) == "m2" and call(session, one) == "m1"
    assert call(session, list(two)) == "m2"


def test_a_list_that_is_not_the_graph_is_not_taken_for_it(session: LCTLSession) -> None:
    graph = MessageGraph(session, messages=[system("s"), user("u"), user("v")])
    leaf = call(session, [message for message in graph if message["role"] == "user"])
    assert session.tree.transcript(leaf) == [user("u"), user("v")]
    assert graph.tip is not None and graph.tip.id != leaf and graph.breaks == []


def test_an_answer_while_the_list_has_changed(session: LCTLSession) -> None:
    """The answer belongs to the prompt that was sent, whatever the list says by then."""
    from lctl.instrument.codecs.model import ModelAnswer, ModelRequest
    from lctl.instrument.recordings import recording_of

    graph = MessageGraph(session, messages=[user("u")])
    leaf = call(session, graph)
    graph.insert(0, system("meanwhile"))
    request = ModelRequest("openai", "chat.completions", "llm", "m")
    conversations = recording_of(session).conversations
    session.emit_many(
        lambda first: conversations.plan_answer(
            ModelAnswer(messages=[assistant("a")]), request, leaf, first, "main", None
        )[0]
    )
    [sampled] = [node for node in session.tree if node.sampled]
    assert sampled.parent is not None and sampled.parent.id == leaf
    graph.append(assistant("a"))
    assert graph.tip is not None and not graph.tip.sampled


@pytest.mark.skipif(sys.platform == "win32", reason="needs RLIMIT_FSIZE")
def test_what_a_full_disk_refused_is_written_when_there_is_room(tmp_path: Path) -> None:
    code = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from lctl.session import LCTLSession
from lctl.session.messagegraph.graph import MessageGraph
from tests.unit.messagegraph.calling import assistant, call, user
with LCTLSession("c", sys.argv[1]) as session:
    graph = MessageGraph(session, messages=[user("u")])
    most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (session.path.stat().st_size, most))
    graph.append(user("refused " * 99))
    graph[0]["content"] = "edited"
    call(session, graph, assistant("a"))
    graph.append(assistant("a"))
    assert session.lost and len(session.tree) == 1, session.lost
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    graph.append(user("w"))
    assert len(graph) == 4 and session.tree.transcript(graph.tip.id) == graph
    leaf = call(session, graph, assistant("b"))
    assert leaf == graph.tip.id and session.tree.transcript(leaf) == graph
    graph.append(assistant("b"))
    assert graph.tip.sampled
"""
    root = str(Path(__file__).parents[3])
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "c.lctl.json")],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": root},
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("could not record") == 1


def test_a_closed_session_leaves_a_list(tmp_path: Path) -> None:
    with LCTLSession("closed", tmp_path / "closed.lctl.json") as session:
        graph = MessageGraph(session, messages=[user("u")])
    graph.append(user("v"))
    graph[0]["content"] = "w"
    assert graph == [user("w"), user("v")]
    assert session.lost == 0


def test_threads_append_to_one_graph(session: LCTLSession) -> None:
    graph = MessageGraph(session)

    def append(name: int) -> None:
        for n in range(50):
            graph.append(user(f"{name}.{n}"))

    threads = [threading.Thread(target=append, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    leaf = call(session, graph)
    assert len(graph) == 200 and session.tree.transcript(leaf) == graph


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork() is of POSIX")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_records_the_graph_into_its_own_log(session: LCTLSession, tmp_path: Path) -> None:
    graph = MessageGraph(session, messages=[user("u")])
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            graph.append(user("in the child"))
            session.close()
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    graph.append(user("in the parent"))
    [log] = [path for path in tmp_path.glob("*.lctl.json") if path != session.path]
    said = [e["data"]["content"] for e in json.loads(log.read_text())["events"] if e["type"] == "message"]
    assert said == ["u", "in the child"]
    assert [event["content"] for event in told(session)] == ["u", "in the parent"]


def test_large_images_are_stored_once(session: LCTLSession) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "QUJD" * 2000}}
    graph = MessageGraph(session, messages=[user([image]), user("u")])
    graph[0]["content"].append({"type": "text", "text": "look"})
    call(session, graph)
    blobs = [event for event in events(session) if event["type"] == "blob"]
    assert len(blobs) == 1 and len(told(session)) == 3


def test_a_message_with_keys_of_the_log(session: LCTLSession) -> None:
    odd = {"role": "user", "content": "u", "status": "odd", "carry": [1], "wire": "w", "details": {}}
    graph = MessageGraph(session, messages=[odd, user("v")])
    del graph[1]
    graph.insert(0, system("s"))
    assert graph.tip is not None
    assert session.tree.transcript(graph.tip.id) == graph == [system("s"), odd]


def test_prompts_of_plain_lists_stand_where_they_say_too(session: LCTLSession) -> None:
    """Readers chain the results of one turn's tools; a prompt that leaves them out is not below them."""
    calls = [
        {"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}} for id in ("c1", "c2")
    ]
    asked = [user("u"), assistant(None, tool_calls=calls)]
    results = [{"role": "tool", "tool_call_id": id, "content": id} for id in ("c1", "c2")]
    for prompt in ([*asked, *results], [*asked, user("never mind")], [*asked, results[1], user("one")]):
        leaf = call(session, prompt, assistant("answer"))
        assert session.tree.transcript(leaf) == prompt
        [answer] = session.tree[leaf].children
        assert answer.sampled and answer.path[-2].id == leaf
