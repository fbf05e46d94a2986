"""Vectors as base64 and as numbers; bytes that are no text."""

import hashlib
import os

import httpx
from openai import OpenAI

client = OpenAI()
for form in ("base64", "float"):
    answer = client.embeddings.create(model="text-embedding-3-small", input=["a", "b"], encoding_format=form)
    print([item.embedding[:20] for item in answer.data])
print(
    [item.embedding[:3] for item in client.embeddings.create(model="text-embedding-3-small", input="c").data]
)
sound = httpx.get(os.environ["PLAIN_URL"] + "/bytes").content
print(len(sound), hashlib.sha256(sound).hexdigest())
