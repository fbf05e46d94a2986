"""Strands: tools of every kind, agents given as tools, a human asked, a graph, a swarm, a model of one's own."""

import asyncio
import json

from pydantic import BaseModel
from strands import Agent, ToolContext, tool
from strands.models.model import Model
from strands.models.openai import OpenAIModel
from strands.multiagent import GraphBuilder, Swarm


@tool
def weather(city: str) -> str:
    """The weather of a city."""
    with open("asked.txt", "a") as file:
        file.write(city + "\n")
    if city == "Atlantis":
        raise LookupError("no such city")
    return f"Sunny in {city}."


@tool
async def distance(city: str) -> dict:
    """How far a city is."""
    await asyncio.sleep(0.01)
    return {"km": len(city) * 100, "city": city}


@tool
async def search(question: str):
    """Search, telling how it goes."""
    await asyncio.sleep(0.03)  # not within a millisecond of what threads give
    yield "searching"
    yield f"found nothing on {question}"


@tool(context=True)
def remember(fact: str, tool_context: ToolContext) -> str:
    """Remember a fact."""
    facts = tool_context.agent.state.get("facts") or []
    tool_context.agent.state.set("facts", [*facts, fact])
    tool_context.invocation_state["notes"].append(fact)
    return f"{len(facts) + 1} facts"


@tool(context=True)
def launch(rocket: str, tool_context: ToolContext) -> str:
    """Launch a rocket; somebody has to agree."""
    agreed = tool_context.interrupt("launch", reason={"rocket": rocket})
    return f"{rocket} launched: {agreed}"


class City(BaseModel):
    """A city."""

    name: str
    people: int


class Parrot(Model):
    """Says what it heard last; asks nobody."""

    def update_config(self, **config):
        pass

    def get_config(self):
        return {"model_id": "parrot"}

    def structured_output(self, output_model, prompt, system_prompt=None, **more):
        raise NotImplementedError

    async def stream(self, messages, tool_specs=None, system_prompt=None, **more):
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": {}}}
        yield {"contentBlockDelta": {"delta": {"text": f"You said {messages[-1]['content'][0]['text']}"}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}
        usage = {"inputTokens": 3, "outputTokens": 4, "totalTokens": 7}
        yield {"metadata": {"usage": usage, "metrics": {"latencyMs": 0}}}


def made(name, tools=(), **more):
    model = more.pop("model", None) or OpenAIModel(model_id="gpt-4.1-mini")
    told = {"system_prompt": f"You are {name}.", "callback_handler": None, "description": f"The {name}"}
    return Agent(name=name, model=model, tools=list(tools), **{**told, **more})


def said(result):
    return [str(result).strip(), result.stop_reason, result.metrics.accumulated_usage["totalTokens"]]


def asks_a_human():
    pilot = made("pilot", [launch])
    paused = pilot("Launch it")
    asked = [(one.name, one.reason) for one in paused.interrupts]
    answers = [{"interruptResponse": {"interruptId": one.id, "response": "yes"}} for one in paused.interrupts]
    return [paused.stop_reason, asked, said(pilot(answers))]


async def at_once():
    scout = made("scout", [weather, distance, search])
    results = [said(await scout.invoke_async("Is it sunny?"))]
    seen = [
        event["data"]
        async for event in made("scout", [weather]).stream_async("Is it sunny?")
        if "data" in event
    ]
    results.append("".join(seen))
    agents = [made(name, [weather]) for name in ("left", "right")]
    results += [
        said(one) for one in await asyncio.gather(*(agent.invoke_async("Is it sunny?") for agent in agents))
    ]
    return results


def of_many():
    graph = GraphBuilder()
    graph.add_node(made("research", [weather]), "research")
    graph.add_node(made("check"), "check")
    graph.add_node(made("write"), "write")
    for before, after in (("research", "write"), ("check", "write")):
        graph.add_edge(before, after)
    graph.set_entry_point("research")
    graph.set_entry_point("check")
    found = graph.build()("Is it sunny?")
    order = sorted(node.node_id for node in found.execution_order)
    results = [found.status.value, order, str(found.results["write"].result).strip()]
    swarm = Swarm([made("planner"), made("builder")])
    done = swarm("Build it")
    return [*results, done.status.value, [node.node_id for node in done.node_history]]


def main():
    boss = made("boss", [made("expert", [weather]).as_tool(name="ask_expert")])
    results = [said(boss("Is it sunny?"))]
    keeper = made("keeper", [remember])
    notes = []
    results += [said(keeper("Keep it", invocation_state={"notes": notes})), keeper.state.get(), notes]
    results += [asks_a_human(), said(made("parrot", model=Parrot())("Hello"))]
    results.append(made("namer")("Name a city.", structured_output_model=City).structured_output.model_dump())
    results.append(boss.tool.ask_expert(input="Directly?")["content"])
    results.append(said(boss("And again?")))  # what was called directly is among the messages
    return [*results, asyncio.run(at_once()), of_many()]


if __name__ == "__main__":
    print(json.dumps(main()))
