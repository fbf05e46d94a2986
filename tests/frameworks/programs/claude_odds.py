"""What goes otherwise: prompts one after the other, permissions, callbacks that fail, two tools at once, an
interruption, a process that dies and one that says nonsense, an answer left early."""

import asyncio

from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    HookMatcher,
    PermissionResultAllow,
    PermissionResultDeny,
    create_sdk_mcp_server,
    query,
    tool,
)


@tool("add", "Add two numbers", {"a": int, "b": int})
async def add(args):
    with open("added.txt", "a") as file:
        file.write("added\n")
    await asyncio.sleep(0.02 if args["a"] > 0 else 0.01)
    if args["a"] < 0:
        raise ValueError(f"no negative numbers: {args['a']}")
    return {"content": [{"type": "text", "text": str(args["a"] + args["b"])}]}


def options(**more):
    return ClaudeAgentOptions(cli_path="./claude", **more)


async def prompts():
    for words in ("simple one", "simple two"):
        message = {"role": "user", "content": words}
        yield {"type": "user", "message": message, "parent_tool_use_id": None, "session_id": "s"}
        await asyncio.sleep(0.01)


async def deny(name, input, context):
    return PermissionResultDeny(message="never " + input["command"])


async def allow(name, input, context):
    return PermissionResultAllow(updated_input={"command": "ls"})


async def broken(*_):
    raise RuntimeError("the callback is broken")


async def show(messages):
    try:
        async for message in messages:
            print(type(message).__name__, str(message)[:400])
    except Exception as error:
        print(type(error).__module__, type(error).__name__, error)


async def ask(prompt, **more):
    async with ClaudeSDKClient(options(**more)) as client:
        await client.query(prompt)
        async for message in client.receive_response():
            if "long" in prompt and isinstance(message, AssistantMessage):
                await client.interrupt()
            yield message


async def main():
    await show(query(prompt=prompts(), options=options()))
    for callback in (deny, allow, broken):
        await show(ask("permission", can_use_tool=callback))
    await show(ask("long one"))
    servers = {"calc": create_sdk_mcp_server("calc", tools=[add])}
    await show(query(prompt="both", options=options(mcp_servers=servers)))
    await show(query(prompt="die now", options=options()))
    await show(query(prompt="garble it", options=options()))
    hooks = {"PreToolUse": [HookMatcher(matcher="Bash", hooks=[broken])]}
    await show(query(prompt="work", options=options(hooks=hooks)))
    async for message in query(prompt="simple to leave", options=options()):
        print(type(message).__name__)
        break


asyncio.run(main())
