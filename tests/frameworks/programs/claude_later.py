"""A sub-agent that works in the background, and an answer of a given shape."""

import asyncio

from claude_agent_sdk import ClaudeAgentOptions, query

SHAPE = {"type": "json_schema", "schema": {"type": "object"}}


async def main():
    for prompt, more in (("later", {}), ("shaped", {"output_format": SHAPE})):
        async for message in query(prompt=prompt, options=ClaudeAgentOptions(cli_path="./claude", **more)):
            print(type(message).__name__, str(message)[:300])


asyncio.run(main())
