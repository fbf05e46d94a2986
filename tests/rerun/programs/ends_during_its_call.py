"""Ends while a daemon thread waits for the only answer."""

import threading
import time

import openai

client = openai.OpenAI(max_retries=0)
client.platform_headers()  # asks child processes, once: else in the call


def ask():
    messages = [{"role": "user", "content": "Are you there?"}]
    client.chat.completions.create(
        model="gpt-4o", messages=messages, extra_headers={"x-lctl-fault": "hang=60"}
    )


threading.Thread(target=ask, daemon=True).start()
time.sleep(1)
print("nobody is there")
