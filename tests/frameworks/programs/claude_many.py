"""Several clients at once, each of two turns, with hooks, sub-agents and a tool of its own; one's tool raises."""

import asyncio
import random
import time

from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    HookMatcher,
    ResultMessage,
    UserMessage,
    create_sdk_mcp_server,
    tool,
)


def options(name):
    @tool("add", "Add two numbers", {"a": int, "b": int})
    async def add(args):
        began, _ = time.time(), random.random()
        await asyncio.sleep(0.01 * (3 - len(name) % 3))
        with open("added.txt", "a") as file:
            file.write("added\n")
        if name == "faulty":
            raise ValueError(f"cannot add for {name}")
        return {
            "content": [{"type": "text", "text": f"{name}: {args['a'] + args['b']}, {time.time() >= began}"}]
        }

    async def before(input, tool_use_id, context):
        await asyncio.sleep(0.005)
        if "rm" not in input["tool_input"]["command"]:
            return {}
        deny = {"permissionDecision": "deny", "permissionDecisionReason": f"not that, says {name}"}
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **deny}}

    return ClaudeAgentOptions(
        cli_path="./claude",
        mcp_servers={"calc": create_sdk_mcp_server("calc", tools=[add])},
        hooks={"PreToolUse": [HookMatcher(matcher="Bash", hooks=[before])]},
    )


async def chat(name):
    told = []
    async with ClaudeSDKClient(options(name)) as client:
        for prompt in (f"work for {name}", f"simple {name}"):
            await client.query(prompt)
            async for message in client.receive_response():
                if isinstance(message, ResultMessage):
                    told.append(message.result)
                elif isinstance(message, UserMessage | AssistantMessage):
                    told += [str(part) for part in message.content]
    return told


async def main():
    for told in await asyncio.gather(*map(chat, ("left", "right", "faulty", "fourth"))):
        print(*told, sep="\n")


asyncio.run(main())
