"""ADK: tools that save artifacts, alone, in an agent that is a tool, and before they fail; who looks for them later."""

import asyncio
import json
import warnings

from google.adk.agents import LlmAgent
from google.adk.apps.app import App
from google.adk.runners import InMemoryRunner
from google.adk.tools import ToolContext
from google.adk.tools.agent_tool import AgentTool
from google.genai import types

warnings.filterwarnings("ignore")


async def write(name: str, tool_context: ToolContext) -> dict:
    """Write two versions of a file."""
    await tool_context.save_artifact(name, types.Part(text="A draft."))
    picture = types.Part.from_bytes(data=b"\x89PNG\x00", mime_type="image/png")
    return {"version": await tool_context.save_artifact(name, picture, {"by": "write"})}


async def lose(name: str, tool_context: ToolContext) -> dict:
    """Write a file, and fail."""
    await tool_context.save_artifact(name, types.Part(text="Lost?"))
    raise OSError("no paper")


async def look(name: str, tool_context: ToolContext) -> dict:
    """Look at a file."""
    part = await tool_context.load_artifact(name)
    return {"has": part.inline_data.mime_type if part.inline_data else part.text}


def agent(name, *tools):
    return LlmAgent(
        name=name,
        model="gemini-2.5-flash",
        description=name,
        instruction=f"You are {name}.",
        tools=list(tools),
    )


async def asked(root):
    runner = InMemoryRunner(app=App(name="app", root_agent=root))
    ids = {"user_id": "u", "session_id": root.name}
    await runner.session_service.create_session(app_name="app", **ids)
    message = types.Content(role="user", parts=[types.Part(text="Go.")])
    told = []
    try:
        async for event in runner.run_async(new_message=message, **ids):
            told += [part.text for part in event.content.parts if part.text] if event.content else []
    except OSError as error:
        told.append(str(error))
    kept, here = runner.artifact_service, {"app_name": "app", **ids}
    for name in sorted(await kept.list_artifact_keys(**here)):
        part = await kept.load_artifact(**here, filename=name)
        said = part.text or part.inline_data.data.hex()
        told.append([name, len(await kept.list_versions(**here, filename=name)), said])
    return told


async def everything():
    author = agent("author", write, look)
    return [await asked(root) for root in (author, agent("editor", AgentTool(author)), agent("loser", lose))]


def main():
    return asyncio.run(everything())


if __name__ == "__main__":
    print(json.dumps(main()))
