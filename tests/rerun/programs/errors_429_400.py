"""Failures come as the SDK's own classes: a retried 429, a 400, a refused connection, a timeout."""

import anthropic
import openai
from common_openai import MODEL, ask, say

client = openai.OpenAI(max_retries=2)
print(ask(client, "Once more", extra_headers={"x-lctl-fault": "status=429; times=1; retry-after=0"}))
for fault in ("status=400", "status=401", "status=500"):
    try:
        ask(client.with_options(max_retries=0), "Fail", extra_headers={"x-lctl-fault": fault})
    except openai.APIStatusError as error:
        print(type(error).__name__, error.status_code, error.message, error.request_id)
try:
    ask(client.with_options(max_retries=0, timeout=0.2), "Hang", extra_headers={"x-lctl-fault": "hang=1"})
except openai.APITimeoutError as error:
    print(type(error).__name__, type(error.__cause__).__name__)
try:
    ask(openai.OpenAI(base_url="http://127.0.0.1:9/v1", max_retries=1), "Nobody there")
except openai.APIConnectionError as error:
    print(type(error).__name__, type(error.__cause__).__name__)
try:
    anthropic.Anthropic(max_retries=0).messages.create(
        model="claude-sonnet-4-5",
        max_tokens=10,
        messages=say("Fail"),
        extra_headers={"x-lctl-fault": "status=529"},
    )
except anthropic.APIStatusError as error:
    print(type(error).__name__, error.status_code, error.body)
try:
    stream = client.chat.completions.create(
        model=MODEL, messages=say("Cut"), stream=True, extra_headers={"x-lctl-fault": "drop_after=2"}
    )
    for chunk in stream:
        print("piece", chunk.choices[0].delta.content)
except Exception as error:
    print(type(error).__module__, type(error).__name__)
