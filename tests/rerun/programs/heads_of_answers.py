"""What programs print of the heads of answers, by every client library; and answers that are not read at once."""

import asyncio
import json
import os
import urllib.request

import aiohttp
import httpx
import requests
import urllib3

URL = os.environ["PLAIN_URL"] + "/heads"

for answer in (requests.get(URL, timeout=5), urllib3.PoolManager().request("GET", URL)):
    print(answer.status if hasattr(answer, "status") else answer.status_code, answer.reason, answer.headers)
try:
    urllib.request.urlopen(URL)
except urllib.error.HTTPError as error:
    print(error, error.headers.items())
answer = httpx.get(URL)
print(answer.reason_phrase, answer.headers.raw)


async def asynchronous():
    async with aiohttp.ClientSession() as session, session.get(URL) as response:
        print(response.reason, response.headers, response.raw_headers)


asyncio.run(asynchronous())


def random():
    return urllib.request.urlopen(os.environ["PLAIN_URL"] + "/random")


left, first, second = random(), random(), random()
print(left.status, json.load(second), json.load(first))
print(random().status, random().status, json.load(random()))
