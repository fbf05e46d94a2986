"""A transport of the program's own: the command line is started by other means, and sessions have many turns."""

import asyncio
import json
import subprocess

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, Transport, query


class Elsewhere(Transport):
    """Claude's process, as another machine may have it."""

    def __init__(self, *words):
        self.words = words
        self.process = None

    async def connect(self):
        self.process = await asyncio.create_subprocess_exec(
            "./claude", *self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    async def write(self, data):
        self.process.stdin.write(data.encode())
        await self.process.stdin.drain()

    async def read_messages(self):
        while line := await self.process.stdout.readline():
            yield json.loads(line)

    async def close(self):
        self.process.stdin.close()
        await self.process.wait()
        with open("closed.txt", "a") as file:
            file.write("closed\n")

    def is_ready(self):
        return self.process is not None

    async def end_input(self):
        self.process.stdin.write_eof()


async def main():
    async for message in query(prompt="work", options=ClaudeAgentOptions(), transport=Elsewhere()):
        print(type(message).__name__, str(message)[:300])
    async with ClaudeSDKClient(transport=Elsewhere("--include-partial-messages")) as client:
        for prompt in ("simple one", "crash", "simple two"):
            await client.query(prompt)
            async for message in client.receive_response():
                print(type(message).__name__, str(message)[:300])


asyncio.run(main())
