"""What programs with limits of time share: a computation that takes as long as it is told to, and a call."""

import hashlib
import random
import time

from common_openai import MODEL
from openai import AsyncOpenAI

client = AsyncOpenAI(max_retries=0)


def _derive(rounds: int) -> None:
    hashlib.pbkdf2_hmac("sha256", b"x", b"y", rounds)


_start = time.perf_counter()
_derive(20_000)
_A_SECOND = 20_000 / (time.perf_counter() - _start)


def compute(seconds: float) -> None:
    _derive(int(_A_SECOND * seconds))


async def ask(what: str) -> str:
    said = [{"role": "user", "content": f"{what} {random.random()}"}]
    answer = await client.chat.completions.create(model=MODEL, messages=said)
    return answer.choices[0].message.content
