"""A tool nobody decorated writes to a file: a rerun must not do that again."""

import os

from common_openai import ask
from openai import OpenAI


def pay(amount):
    with open(os.environ["LEDGER"], "a") as file:
        file.write(f"{amount}\n")
    return "paid"


client = OpenAI()
print(ask(client, "How much?"))
print(pay(7))
print(ask(client, "Thanks."))
