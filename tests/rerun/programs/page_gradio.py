"""A chat on a page of Gradio's, whose answers are streamed."""

import sys

import gradio as gr
from common_openai import MODEL
from openai import OpenAI

client = OpenAI()


def answer(message, history):
    said = ""
    messages = [{"role": "user", "content": message}]
    for chunk in client.chat.completions.create(model=MODEL, messages=messages, stream=True):
        if chunk.choices:
            said += chunk.choices[0].delta.content or ""
            yield said


gr.ChatInterface(answer).launch(server_port=int(sys.argv[1]), quiet=True)
