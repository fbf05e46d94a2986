"""Four threads and a pool, each a chain of calls; what they share depends on who was answered first."""

import threading
from concurrent.futures import ThreadPoolExecutor, as_completed

from common_openai import ask
from openai import OpenAI

client = OpenAI()
shared = []
lock = threading.Lock()


def chain(n):
    text, place = "go", 0
    for _ in range(3):
        text = ask(client, "Continue.", text, f"Next, after answer {place}.")
        with lock:
            shared.append((n, text))
            place = len(shared)
    return text


threads = [threading.Thread(target=chain, args=(n,)) for n in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
with ThreadPoolExecutor(3) as pool:
    for future in as_completed([pool.submit(chain, 10 + n) for n in range(5)]):
        print(future.result())
for item in shared:
    print(*item)
