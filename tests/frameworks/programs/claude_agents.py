"""A query with a tool of its own, hooks and a sub-agent; a client of two turns; a query that fails.

Arguments: "partial" asks for partial messages, too.
"""

import asyncio
import sys

from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    HookMatcher,
    ResultMessage,
    create_sdk_mcp_server,
    query,
    tool,
)


@tool("add", "Add two numbers", {"a": int, "b": int})
async def add(args):
    with open("added.txt", "a") as file:
        file.write("added\n")
    return {"content": [{"type": "text", "text": str(args["a"] + args["b"])}]}


async def before(input, tool_use_id, context):
    print("hook", input["tool_input"], tool_use_id)
    if "rm" not in input["tool_input"]["command"]:
        return {}
    deny = {"permissionDecision": "deny", "permissionDecisionReason": "not that"}
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **deny}}


def options(**more):
    return ClaudeAgentOptions(
        cli_path="./claude",
        mcp_servers={"calc": create_sdk_mcp_server("calc", tools=[add])},
        hooks={"PreToolUse": [HookMatcher(matcher="Bash", hooks=[before])]},
        include_partial_messages="partial" in sys.argv,
        **more,
    )


async def chat(name):
    async with ClaudeSDKClient(options(model="claude-sonnet-4-5")) as client:
        for prompt in (f"simple {name} one", f"simple {name} two"):
            await client.query(prompt)
            async for message in client.receive_response():
                if isinstance(message, ResultMessage):
                    yield message


async def chats(name):
    return [(m.result, m.total_cost_usd, m.usage) async for m in chat(name)]


async def main():
    async for message in query(prompt="work on it", options=options()):
        print(type(message).__name__, message)
    print(await chats("left"), await chats("right"))
    try:
        async for message in query(prompt="crash please", options=options()):
            print(type(message).__name__)
    except Exception as error:
        print(type(error).__name__, error)


asyncio.run(main())
