"""The order of a set goes into the prompt."""

from common_openai import ask
from openai import OpenAI

words = {"apple", "pear", "plum", "fig", "quince", "medlar", "cherry", "grape"}
print(ask(OpenAI(), " ".join(words)))
print(" ".join(words))
