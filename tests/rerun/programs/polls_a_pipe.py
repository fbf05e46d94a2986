"""What comes through a pipe is read by the event loop, which no recording holds; meanwhile somebody polls."""

import asyncio
import sys

from common_limits import ask


async def read(lines: asyncio.Queue[str]) -> None:
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        await lines.put(line.decode().strip())


async def poll(over: asyncio.Event) -> None:
    while not over.is_set():
        try:
            await asyncio.wait_for(over.wait(), 0.05)
        except TimeoutError:
            pass


async def main() -> None:
    lines: asyncio.Queue[str] = asyncio.Queue()
    over = asyncio.Event()
    others = [asyncio.create_task(read(lines)), asyncio.create_task(poll(over))]
    while (line := await lines.get()) != "end":
        print(line, await ask(line))
    over.set()
    await asyncio.gather(*others)


asyncio.run(main())
