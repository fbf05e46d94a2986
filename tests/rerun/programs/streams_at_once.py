"""Threads that read streams put their pieces into one list: between its arrival and the list each is in a race."""

import threading

from common_openai import MODEL, say
from openai import OpenAI

order, lock = [], threading.Lock()
texts = {}


def stream(client, n):
    pieces = []
    for chunk in client.chat.completions.create(model=MODEL, messages=say(f"Stream {n}"), stream=True):
        if chunk.choices and chunk.choices[0].delta.content:
            pieces.append(chunk.choices[0].delta.content)
            with lock:
                order.append(n)
    texts[n] = "".join(pieces)


with OpenAI() as client:
    threads = [threading.Thread(target=stream, args=(client, n)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(*(texts[n] for n in range(4)), sep="\n")
    print(order)
