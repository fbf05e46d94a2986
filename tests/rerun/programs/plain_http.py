"""One plain GET and one POST through every client library."""

import asyncio
import os
import urllib.request

import aiohttp
import httpx
import requests

URL = os.environ["PLAIN_URL"]

print(httpx.get(URL + "/random").json())
print(requests.get(URL + "/random", timeout=5).json())
print(requests.post(URL + "/echo", json={"n": 1}, timeout=5).json())
print(urllib.request.urlopen(URL + "/random").read())
request = urllib.request.Request(
    URL + "/echo", data=b'{"n": 2}', headers={"content-type": "application/json"}
)
with urllib.request.urlopen(request) as response:
    print(response.status, response.headers["x-random"], response.read())
try:
    urllib.request.urlopen(URL + "/missing")
except urllib.error.HTTPError as error:
    print(error.code, error.read())


async def asynchronous():
    async with aiohttp.ClientSession() as session:
        async with session.get(URL + "/random") as response:
            print(response.status, await response.json())
        async with session.post(URL + "/echo", json={"n": 3}) as response:
            print(response.headers["x-random"], await response.text())
    async with httpx.AsyncClient() as client:
        print((await client.get(URL + "/random")).text)


asyncio.run(asynchronous())
