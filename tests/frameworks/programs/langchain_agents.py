"""LangChain: an agent that asks another one as a tool, a tool that fails, chains, a fake model, a retriever."""

import asyncio
import json

from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import ToolException, tool
from langchain_openai import ChatOpenAI

LOOP = asyncio.new_event_loop()  # langchain-openai keeps its client for as long as the process lives


@tool
def weather(city: str) -> str:
    """The weather of a city."""
    if city == "Atlantis":
        raise ToolException("no such city")
    return f"Sunny in {city}."


weather.handle_tool_error = True


class Library(BaseRetriever):
    def _get_relevant_documents(self, query, *, run_manager):
        return [Document(f"All about {query}", metadata={"page": 1})]


def agents():
    model = ChatOpenAI(model="gpt-4.1-mini")
    expert = create_agent(model, [weather], name="expert")

    @tool
    def ask_expert(question: str) -> str:
        """Ask the expert."""
        return expert.invoke({"messages": [("user", question)]})["messages"][-1].content

    @tool
    async def ask_expert_later(question: str) -> str:
        """Ask the expert."""
        return (await expert.ainvoke({"messages": [("user", question)]}))["messages"][-1].content

    ask_expert_later.name = "ask_expert"
    return (
        create_agent(model, [ask_expert], name="boss"),
        create_agent(model, [ask_expert_later], name="boss"),
        model,
    )


def told(state):
    return [(m.type, m.content) for m in state["messages"]]


def main():
    boss, later, model = agents()
    prompt = ChatPromptTemplate.from_template("Say {word}")
    chain = prompt | model | StrOutputParser()
    question = {"messages": [("user", "Is it sunny?")]}
    fake = prompt | FakeListChatModel(responses=["fake"])
    results = [
        told(boss.invoke(question)),
        [sorted(update) for update in boss.stream(question, stream_mode="updates")],
        chain.invoke({"word": "hello"}),
        "".join(chain.stream({"word": "hello"})),
        fake.invoke({"word": "hello"}).content,
        [document.page_content for document in Library().invoke("rivers")],
    ]

    async def run():
        results.append(told(await later.ainvoke(question)))
        async for update in later.astream(question, stream_mode="updates"):
            results.append(sorted(update))
        results.append(await chain.ainvoke({"word": "hello"}))
        spoken = [piece.content async for piece in (prompt | model).astream({"word": "hello"})]
        results.append("".join(spoken))

    LOOP.run_until_complete(run())
    return results


if __name__ == "__main__":
    print(json.dumps(main()))
