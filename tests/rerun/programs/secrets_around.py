"""Secrets in a prompt, in headers, in the environment, and in what a model says."""

import os

from common_openai import ask
from openai import OpenAI

SECRET = os.environ["SERVICE_API_KEY"]

client = OpenAI(api_key=SECRET, default_headers={"x-api-key": SECRET})
first = ask(client, f"My key is {SECRET}, keep it.")
print(first)
print(ask(client, f"My key is {SECRET}, keep it.", first, "Now forget it."))
