"""Workers that ask one after the other, each waited for with a limit that it does not need."""

from concurrent.futures import ThreadPoolExecutor

from openai import OpenAI

client = OpenAI()


def ask(text):
    messages = [{"role": "user", "content": text}]
    return client.chat.completions.create(model="gpt-4.1", messages=messages).choices[0].message.content


def work(number):
    return sum(bool(ask(f"{number} {n}")) for n in range(10))


def limited(number):
    with ThreadPoolExecutor(1) as pool:
        try:
            return pool.submit(work, number).result(timeout=30)
        except TimeoutError:
            return "late"


print(bool(ask("first")), [limited(number) for number in range(12)])
