"""An agent of the framework named, with the tools of an MCP server; twice where it puts a name before theirs."""

import asyncio
import sys

ARGS = ["shop.py"]  # where it is run: CrewAI takes the whole for the name of the server


async def agents():
    from agents import Agent, OpenAIResponsesModel, Runner, set_tracing_disabled
    from agents.mcp import MCPServerStdio
    from openai import AsyncOpenAI

    set_tracing_disabled(True)
    model = OpenAIResponsesModel("gpt-4.1", AsyncOpenAI())
    async with MCPServerStdio({"command": sys.executable, "args": ARGS}, name="shop") as server:
        for prefix in (False, True):
            config = {"include_server_in_tool_names": prefix}
            agent = Agent(name="buyer", mcp_servers=[server], model=model, mcp_config=config)
            yield (await Runner.run(agent, "buy")).final_output


async def ag2():
    from ag2 import Agent
    from ag2.config import OpenAIConfig
    from ag2.tools.toolkits.mcp_server import MCPStdioServerConfig, MCPToolkit

    for prefix in ("", "shop_"):
        server = MCPStdioServerConfig(command=sys.executable, args=ARGS, tool_name_prefix=prefix)
        agent = Agent("buyer", config=OpenAIConfig(model="gpt-4.1"), tools=[MCPToolkit(server)])
        yield (await agent.ask("buy")).body


async def fastmcp():
    from fastmcp.client.transports import StdioTransport
    from pydantic_ai import Agent
    from pydantic_ai.mcp import MCPToolset
    from pydantic_ai.models.openai import OpenAIChatModel

    for prefix in (False, True):
        tools = MCPToolset(StdioTransport(sys.executable, ARGS))
        given = [tools.prefixed("shop") if prefix else tools]
        agent = Agent(OpenAIChatModel("gpt-4.1"), name="buyer", toolsets=given, retries=3)
        yield (await agent.run("buy")).output


async def agent_framework():
    from agent_framework import MCPStdioTool
    from agent_framework.openai import OpenAIChatClient

    for prefix in (None, "shop"):
        tools = MCPStdioTool(name="shop", command=sys.executable, args=ARGS, tool_name_prefix=prefix)
        async with tools:
            agent = OpenAIChatClient(model="gpt-4.1").as_agent(name="buyer", tools=[tools])
            yield (await agent.run("buy")).text


async def agno():
    from agno.agent import Agent
    from agno.models.openai import OpenAIChat
    from agno.tools.mcp import MCPTools
    from mcp import StdioServerParameters

    server = StdioServerParameters(command=sys.executable, args=ARGS)
    for prefix in (None, "shop"):
        async with MCPTools(server_params=server, tool_name_prefix=prefix) as tools:
            agent = Agent(name="buyer", model=OpenAIChat(id="gpt-4.1"), tools=[tools], telemetry=False)
            yield (await agent.arun("buy")).content


async def langchain_mcp_adapters():
    from langchain.agents import create_agent
    from langchain_mcp_adapters.client import MultiServerMCPClient
    from langchain_openai import ChatOpenAI

    shop = {"command": sys.executable, "args": ARGS, "transport": "stdio"}
    for prefix in (False, True):
        client = MultiServerMCPClient({"shop": shop}, tool_name_prefix=prefix)
        agent = create_agent(ChatOpenAI(model="gpt-4.1"), await client.get_tools(), name="buyer")
        yield (await agent.ainvoke({"messages": "buy"}))["messages"][-1].content


async def semantic_kernel():
    from semantic_kernel.agents import ChatCompletionAgent
    from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion
    from semantic_kernel.connectors.mcp import MCPStdioPlugin

    async with MCPStdioPlugin(name="shop", command=sys.executable, args=ARGS) as tools:
        service = OpenAIChatCompletion(ai_model_id="gpt-4.1")
        agent = ChatCompletionAgent(service=service, name="buyer", plugins=[tools])
        yield str(await agent.get_response("buy"))


async def crewai():
    from crewai import LLM, Agent, Crew, Task
    from crewai.mcp import MCPServerStdio

    server = MCPServerStdio(command="python", args=ARGS)
    about = {"role": "buyer", "goal": "buy", "backstory": "b"}
    agent = Agent(llm=LLM(model="openai/gpt-4.1"), mcps=[server], **about)
    crew = Crew(agents=[agent], tasks=[Task(description="Buy", expected_output="x", agent=agent)])
    yield (await asyncio.to_thread(crew.kickoff)).raw


async def main(framework):
    async for said in globals()[framework]():
        print(said)


asyncio.run(main(sys.argv[1]))
