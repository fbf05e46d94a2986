"""Model calls without an SDK: the same request through each HTTP library."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Callable
from typing import Any

import pytest

ASK = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
PATH = "/v1/chat/completions"


def by_httpx(url: str, ask: dict[str, Any]) -> Any:
    httpx = pytest.importorskip("httpx")
    with httpx.Client() as client:
        return client.post(url, json=ask).json()


def by_httpx2(url: str, ask: dict[str, Any]) -> Any:
    httpx2 = pytest.importorskip("httpx2")
    with httpx2.Client() as client:
        return client.post(url, json=ask).json()


def by_httpx_async(url: str, ask: dict[str, Any]) -> Any:
    httpx = pytest.importorskip("httpx")

    async def main() -> Any:
        async with httpx.AsyncClient() as client:
            return (await client.post(url, json=ask)).json()

    return asyncio.run(main())


def by_requests(url: str, ask: dict[str, Any]) -> Any:
    requests = pytest.importorskip("requests")
    with requests.Session() as session:
        return session.post(url, json=ask).json()


def by_urllib3(url: str, ask: dict[str, Any]) -> Any:
    urllib3 = pytest.importorskip("urllib3")
    with urllib3.PoolManager() as pool:
        headers = {"content-type": "application/json"}
        return json.loads(pool.request("POST", url, body=json.dumps(ask), headers=headers).data)


def by_urllib(url: str, ask: dict[str, Any]) -> Any:
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    headers = {"content-type": "application/json"}
    try:
        with urlopen(Request(url, json.dumps(ask).encode(), headers), timeout=5) as response:
            body = response.read()
    except HTTPError as error:
        with error:
            body = error.read()
    return json.loads(gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body)


def by_aiohttp(url: str, ask: dict[str, Any]) -> Any:
    aiohttp = pytest.importorskip("aiohttp")

    async def main() -> Any:
        async with aiohttp.ClientSession() as session, session.post(url, json=ask) as response:
            return await response.json()

    return asyncio.run(main())


LIBRARIES = [by_httpx, by_httpx2, by_httpx_async, by_requests, by_urllib3, by_urllib, by_aiohttp]
Library = Callable[[str, dict[str, Any]], Any]
