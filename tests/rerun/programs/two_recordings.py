"""Two sessions of the program's own, one after the other and nested."""

from common_openai import ask
from openai import OpenAI

import lctl

client = OpenAI()
with lctl.LCTLSession("first", "first.lctl.json"):
    print(ask(client, "In the first"))
with lctl.LCTLSession("second", "second.lctl.json"):
    print(ask(client, "In the second"))
    print(ask(client, "Again in the second"))
print(ask(client, "Outside"))
