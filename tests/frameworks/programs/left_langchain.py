"""LangChain: chains whose streams nobody reads to their end, sync and async, collected and closed."""

import asyncio

from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableGenerator
from langchain_openai import ChatOpenAI


def shouted(pieces):
    for piece in pieces:
        yield piece.upper()


async def whispered(pieces):
    async for piece in pieces:
        yield piece.lower()


prompt = ChatPromptTemplate.from_messages([("system", "Be brief."), ("user", "{question}")])
chain = prompt | ChatOpenAI(model="gpt-4.1") | StrOutputParser() | RunnableGenerator(shouted, whispered)


def asked(what):
    return {"question": f"Tell me a story of {what}"}


for piece in chain.stream(asked("one")):
    if piece:
        print(piece)
        break
pieces = chain.stream(asked("two"))
print(next(piece for piece in pieces if piece))
pieces.close()


async def main():
    async for piece in chain.astream(asked("three")):
        if piece:
            print(piece)
            break
    pieces = chain.astream(asked("four"))
    async for piece in pieces:
        if piece:
            print(piece)
            break
    await pieces.aclose()


asyncio.run(main())
print(chain.invoke({"question": "And now?"}))


def counted(pieces):
    for piece in pieces:
        yield from (f"{piece}{number}" for number in range(3))


numbers = (RunnableGenerator(counted) | RunnableGenerator(shouted)).with_config(run_name="numbers")
print(next(numbers.stream("n")))
print(list(numbers.stream("m")))
