"""An application of plain ASGI, for uvicorn with workers, or reloading itself."""

from common_openai import ask_async
from openai import AsyncOpenAI

client = AsyncOpenAI()


async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    said = await ask_async(client, f"question {scope['path']}")
    said = await ask_async(client, f"question {scope['path']}", said, "go on")
    print("asked for", scope["path"])
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": said.encode()})
