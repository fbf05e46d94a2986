"""OpenAI Agents and Pydantic AI: results, items and messages printed whole."""

import asyncio

import agents
import pydantic_ai

agents.set_default_openai_api("chat_completions")


@agents.function_tool
def turn(text: str) -> str:
    """Turn a text round."""
    return text[::-1]


class Spans(agents.TracingProcessor):
    """Prints each span as it ends."""

    def on_trace_start(self, trace):
        print(trace.export())

    def on_span_end(self, span):
        print(span.export())

    def on_span_start(self, span): ...
    def on_trace_end(self, trace): ...
    def shutdown(self): ...
    def force_flush(self): ...


agents.set_trace_processors([Spans()])
one = agents.Agent(name="one", tools=[turn])
helper = pydantic_ai.Agent("openai-chat:gpt-4.1", name="helper")


@helper.tool_plain(name="turn")
def turned(text: str) -> str:
    """Turn a text round."""
    return text[::-1]


async def main():
    with agents.trace("work") as trace:
        result = await agents.Runner.run(one, "use the tool")
        print(trace.trace_id, result, result.new_items, result.raw_responses)
    streamed = agents.Runner.run_streamed(one, "use the tool")
    async for event in streamed.stream_events():
        print(event)
    run = await helper.run("use the tool")
    print(run.all_messages(), run.run_id)
    async with helper.iter("use the tool") as steps:
        async for node in steps:
            print(node)


asyncio.run(main())
