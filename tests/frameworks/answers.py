"""What the model says to the programs here: by who is asked and what has been said, the same in every run."""

from __future__ import annotations

from typing import Any

from lctl.testing import Reply, Request


def team(request: Request) -> Any:
    """A boss asks the expert; the expert asks for the weather, once of a city that is none; then words."""
    tools, results = request.tools, request.tool_results
    if "ask_expert" in tools:
        if not results:
            return Reply(tool_calls=[("ask_expert", {_asked(request): "Where is it sunny?"})])
        if "transfer_to_writer" in tools:
            return Reply(tool_calls=[("transfer_to_writer", {})])
        return "It is sunny, the expert says."
    if "weather" in tools:
        if not results:
            return Reply(tool_calls=[("weather", {"city": "Rome"}), ("weather", {"city": "Atlantis"})])
        return "Sunny in Rome; there is no Atlantis."
    if "transfer_to_bob" in tools and not results:
        return Reply(tool_calls=[("transfer_to_bob", {})])
    if "launch" in tools:
        if "launch" not in [name for turn in request.turns for _, name, _ in turn.calls]:
            return Reply(tool_calls=[("launch", {"rocket": "Ariane"})])
        return "It flies."
    if "final_result" in tools:
        return Reply(tool_calls=[("final_result", {"name": "Rome", "people": 2800000})])
    return f"Answered: {request.last_text[:30]}"


def _asked(request: Request) -> str:
    """The name of the expert's only argument: frameworks give it different ones."""
    for one in request.body["tools"]:
        inner = one.get("function", one)
        if inner["name"] == "ask_expert":
            return str(next(iter(inner["parameters"]["properties"])))
    return "question"
