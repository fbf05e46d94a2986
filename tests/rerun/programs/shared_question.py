"""What a model is, libraries ask once and keep; threads that come to it before they know ask as well. How many do
is chance: here what the C library finds in the environment, which nobody records."""

import ctypes
import os
import threading

import httpx
from common_openai import ask
from openai import OpenAI

URL = os.environ["OLLAMA_HOST"]
getenv = ctypes.CDLL(None).getenv
getenv.restype = ctypes.c_char_p
askers = getenv(b"ASKERS").decode()
known = threading.Condition()  # in no order, as what a library has
kept = {}
told = {}


def what_it_is(name):
    if name in askers:
        found = httpx.post(f"{URL}/api/show", json={"model": "llama3.2"}).json()
        with known:
            kept.update(found)
            known.notify_all()
    with known:
        known.wait_for(lambda: kept)  # who does not ask comes later
    return sorted(kept)


def work(name, client):
    said = ask(client, f"Tell {name}.")
    told[name] = said, what_it_is(name), ask(client, f"Tell {name} more.")


client = OpenAI(max_retries=0)
threads = [threading.Thread(target=work, args=(name, client)) for name in "ABC"]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sorted(told.items()))
