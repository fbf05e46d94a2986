"""Small programs in each dialect: they ask, call the tool the model asks for, and ask again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import anthropic
import openai

import lctl
from lctl.testing import ModelServer

Said = list[Any]

PARAMETERS = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
SYSTEM = "You read files."
MODELS = {"chat": "gpt-4.1", "responses": "gpt-4.1", "messages": "claude-sonnet-4-6"}

#: (tool, input) of every call of the tool that was really made.
executed: list[str] = []


@lctl.tool
def read_file(path: str) -> dict[str, Any]:
    executed.append(path)
    return {"text": f"content of {path}"}


def teach(server: ModelServer) -> None:
    """One round of tools, then words."""
    server.when(where=lambda r: not r.tool_results).reply(tool_calls=[("read_file", {"path": "a.txt"})])
    server.when(where=lambda r: bool(r.tool_results)).reply(lambda r: f"It says: {r.tool_results[-1]}")


def chat(server: ModelServer, stream: bool = False) -> Said:
    said: Said = []
    with openai.OpenAI(base_url=server.openai_url, api_key="test", max_retries=0) as client:
        messages: list[Any] = [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": "Read a.txt"},
        ]
        function = {"name": "read_file", "description": "Reads.", "parameters": PARAMETERS}
        for _ in range(3):
            arguments: dict[str, Any] = {
                "model": MODELS["chat"],
                "messages": messages,
                "tools": [{"type": "function", "function": function}],
                "temperature": 0.7,
                "max_tokens": 100,
            }
            if stream:
                with client.chat.completions.stream(**arguments) as events:
                    for _ in events:
                        pass
                    choice = events.get_final_completion().choices[0]
            else:
                choice = client.chat.completions.create(**arguments).choices[0]
            message = choice.message
            said.append((message.content, [c.function.arguments for c in message.tool_calls or []]))
            messages.append(message.model_dump(exclude_none=True, exclude={"parsed"}))
            for call in message.tool_calls or []:
                found = read_file(**json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": json.dumps(found)})
            if not message.tool_calls:
                break
    return said


def chat_async(server: ModelServer) -> Said:
    async def main() -> Said:
        said: Said = []
        async with openai.AsyncOpenAI(base_url=server.openai_url, api_key="test", max_retries=0) as client:
            stream = await client.chat.completions.create(
                model=MODELS["chat"],
                messages=[{"role": "system", "content": SYSTEM}, {"role": "user", "content": "Read a.txt"}],
                stream=True,
                stream_options={"include_usage": True},
            )
            usage = None
            text = ""
            async for chunk in stream:
                usage = chunk.usage or usage
                text += "".join(choice.delta.content or "" for choice in chunk.choices)
            said.append((text, usage is not None))
        return said

    return asyncio.run(main())


def responses(server: ModelServer, stream: bool = False) -> Said:
    said: Said = []
    with openai.OpenAI(base_url=server.openai_url, api_key="test", max_retries=0) as client:
        items: list[Any] = [{"role": "user", "content": "Read a.txt"}]
        for _ in range(3):
            arguments: dict[str, Any] = {
                "model": MODELS["responses"],
                "instructions": SYSTEM,
                "input": items,
                "tools": [{"type": "function", "name": "read_file", "description": "Reads.",
                           "parameters": PARAMETERS, "strict": False}],
                "temperature": 0.7,
                "max_output_tokens": 100,
            }  # fmt: skip
            if stream:
                with client.responses.stream(**arguments) as events:
                    for _ in events:
                        pass
                    answer: Any = events.get_final_response()
            else:
                answer = client.responses.create(**arguments)
            calls = [item for item in answer.output if item.type == "function_call"]
            said.append((answer.output_text or None, [call.arguments for call in calls]))
            items += [
                item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in answer.output
            ]
            for call in calls:
                found = read_file(**json.loads(call.arguments))
                items.append(
                    {"type": "function_call_output", "call_id": call.call_id, "output": json.dumps(found)}
                )
            if not calls:
                break
    return said


def messages(server: ModelServer, stream: bool = False, blocks: bool = False) -> Said:
    said: Said = []
    system: Any = (
        [{"type": "text", "text": SYSTEM, "cache_control": {"type": "ephemeral"}}] if blocks else SYSTEM
    )
    with anthropic.Anthropic(base_url=server.anthropic_url, api_key="test", max_retries=0) as client:
        turns: list[Any] = [{"role": "user", "content": "Read a.txt"}]
        for _ in range(3):
            arguments: dict[str, Any] = {
                "model": MODELS["messages"],
                "system": system,
                "messages": turns,
                "tools": [{"name": "read_file", "description": "Reads.", "input_schema": PARAMETERS}],
                "extra_body": {"temperature": 0.7},
                "max_tokens": 100,
            }
            if stream:
                with client.messages.stream(**arguments) as events:
                    answer: Any = events.get_final_message()
            else:
                answer = client.messages.create(**arguments)
            calls = [block for block in answer.content if block.type == "tool_use"]
            text = "".join(block.text for block in answer.content if block.type == "text")
            said.append((text or None, [json.dumps(call.input) for call in calls]))
            turns.append(
                {"role": "assistant", "content": [b.model_dump(exclude_none=True) for b in answer.content]}
            )
            results = [
                {
                    "type": "tool_result",
                    "tool_use_id": call.id,
                    "content": json.dumps(read_file(**call.input)),
                }
                for call in calls
            ]
            if not calls:
                break
            turns.append({"role": "user", "content": results})
    return said


PROGRAMS: dict[str, Callable[..., Said]] = {"chat": chat, "responses": responses, "messages": messages}
