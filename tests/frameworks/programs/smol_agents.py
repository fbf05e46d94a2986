"""smolagents: agents that call tools and agents that write code, a manager of both, a stream."""

import json
import os

from smolagents import CodeAgent, OpenAIModel, Tool, ToolCallingAgent, tool


@tool
def weather(city: str) -> str:
    """The weather of a city.

    Args:
        city: The city.
    """
    if city == "Atlantis":
        raise LookupError("no such city")
    return f"Sunny in {city}."


class Distance(Tool):
    name = "distance"
    description = "The distance to a city in kilometres."
    inputs = {"city": {"type": "string", "description": "The city."}}  # noqa: RUF012
    output_type = "integer"

    def forward(self, city: str):
        return len(city) * 100


def agent(kind, name, **options):
    model = OpenAIModel("gpt-4.1-mini", api_base=os.environ["OPENAI_BASE_URL"], api_key="test")
    return kind(
        model=model,
        name=name,
        description=name,
        instructions=f"You are {name}.",
        verbosity_level=-1,
        **options,
    )


def scout(**options):
    return agent(ToolCallingAgent, "scout", tools=[weather, Distance()], max_tool_threads=2, **options)


def coder():
    return agent(CodeAgent, "coder", tools=[weather, Distance()])


def main():
    manager = agent(ToolCallingAgent, "manager", tools=[], managed_agents=[scout(), coder()])
    leader = agent(CodeAgent, "leader", tools=[], managed_agents=[scout()])
    streamed = list(scout(stream_outputs=True).run("Stream Rome.", stream=True))
    return [
        scout().run("Scout Rome."),
        coder().run("Reckon the way."),
        manager.run("Manage it."),
        leader.run("Lead them."),
        [(type(item).__name__, getattr(item, "content", None)) for item in streamed],
    ]


if __name__ == "__main__":
    print(json.dumps(main()))
