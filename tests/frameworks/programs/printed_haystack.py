"""Haystack: streamed pieces and their answer, printed whole."""

from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage

generator = OpenAIChatGenerator(model="gpt-4.1", streaming_callback=print)
print(generator.run([ChatMessage.from_user("What is it?")]))
