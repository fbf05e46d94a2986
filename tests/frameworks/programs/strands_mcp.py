"""Strands: tools of an MCP server, in the client's own thread, which has been asked before."""

import sys

from mcp import StdioServerParameters, stdio_client
from strands import Agent
from strands.models.openai import OpenAIModel
from strands.tools.mcp import MCPClient

SERVER = """
from mcp.server.fastmcp import FastMCP

server = FastMCP("echoes", log_level="ERROR")


@server.tool()
def echo(text: str) -> str:
    with open("asked.txt", "a") as file:
        file.write(text)
    return "echo " + text


server.run()
"""

started = StdioServerParameters(command=sys.executable, args=["-c", SERVER])
with MCPClient(lambda: stdio_client(started)) as client:
    tools = client.list_tools_sync()
    model = OpenAIModel(model_id="gpt-4.1")
    print(Agent(name="caller", model=model, tools=tools, callback_handler=None)("Call it"))
