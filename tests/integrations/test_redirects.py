"""What HTTP clients do for one call made without an SDK: redirects, turns of an authentication, hooks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.integrations.rerunning import Rerun

ASK = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
PATH = "/v1/chat/completions"


def redirected_by_httpx(url: str) -> Any:
    httpx = pytest.importorskip("httpx", reason="needs: pip install 'lctl[test]'")
    return httpx.post(url, json=ASK, follow_redirects=True).json()


def redirected_by_httpx2_async(url: str) -> Any:
    httpx2 = pytest.importorskip("httpx2")

    async def main() -> Any:
        async with httpx2.AsyncClient(follow_redirects=True) as client:
            return (await client.post(url, json=ASK)).json()

    return asyncio.run(main())


def redirected_by_requests(url: str) -> Any:
    return (
        pytest.importorskip("requests", reason="needs: pip install 'lctl[test]'").post(url, json=ASK).json()
    )


def redirected_by_urllib3(url: str) -> Any:
    urllib3 = pytest.importorskip("urllib3")
    headers = {"content-type": "application/json"}
    with urllib3.PoolManager() as pool:
        return json.loads(pool.request("POST", url, body=json.dumps(ASK), headers=headers).data)


REDIRECTED = [redirected_by_httpx, redirected_by_httpx2_async, redirected_by_requests, redirected_by_urllib3]


@pytest.mark.parametrize("post", REDIRECTED)
def test_redirects(server: Any, make: Any, log: Any, post: Callable[[str], Any]) -> None:
    """A redirect is another exchange of the same call."""
    server.replies = [make.Reply({}, 307, {"location": f"{server.url}/other{PATH}"})]
    assert post(server.url + PATH)["choices"][0]["message"]["content"] == "echo: Hi"
    [(_, end)] = log.steps()
    assert end["outcome"] == "success"
    assert [(one["status"], one["attempt"]) for one in log.of("exchange")] == [(307, 1), (200, 2)]
    assert log.of("error") == []


@pytest.mark.parametrize("post", REDIRECTED)
def test_redirects_run_again(server: Any, make: Any, tmp_path: Path, post: Callable[[str], Any]) -> None:
    """A rerun serves both exchanges, and records the same."""
    server.replies = [make.Reply({}, 307, {"location": f"{server.url}/other{PATH}"})]
    answer = Rerun(tmp_path)(lambda url: post(url + PATH), server.url)
    assert answer["choices"][0]["message"]["content"] == "echo: Hi"


def redirected_by_openai(url: str) -> Any:
    openai = pytest.importorskip("openai", reason="needs: pip install 'lctl[test]'")
    with openai.OpenAI(base_url=url.removesuffix("/chat/completions"), api_key="k") as client:
        return client.chat.completions.create(**ASK).model_dump()


def redirected_by_aiohttp(url: str) -> Any:
    aiohttp = pytest.importorskip("aiohttp", reason="needs: pip install 'lctl[test]'")

    async def main() -> Any:
        async with aiohttp.ClientSession() as client, client.post(url, json=ASK) as response:
            return await response.json()

    return asyncio.run(main())


WITHOUT_BODY = [*REDIRECTED, redirected_by_openai, redirected_by_aiohttp]


@pytest.mark.parametrize("status", [301, 302, 303])
@pytest.mark.parametrize("post", WITHOUT_BODY)
def test_redirects_that_lose_the_body(
    server: Any, make: Any, log: Any, post: Callable[[str], Any], status: int
) -> None:
    """What a client asks by GET then, wherever that is, brings the answer of the call."""
    if post is redirected_by_urllib3 and status != 303:
        pytest.skip("urllib3 asks by POST again after any other redirect")
    moved = make.Reply({}, status, {"location": "/moved?to=here"})
    server.replies = [moved, make.Reply(make.chat("from there"))]
    assert post(server.url + PATH)["choices"][0]["message"]["content"] == "from there"
    [(_, end)] = log.steps()
    assert (end["outcome"], end["response_id"]) == ("success", "chatcmpl-1")
    assert [said["content"] for said in log.of("message")] == ["Hi", "from there"]
    exchanges = [(one["method"], one["status"], one["attempt"]) for one in log.of("exchange")]
    assert exchanges == [("POST", status, 1), ("GET", 200, 2)]


@pytest.mark.parametrize("post", WITHOUT_BODY)
def test_redirects_that_lose_the_body_run_again(
    server: Any, make: Any, tmp_path: Path, post: Callable[[str], Any]
) -> None:
    """A rerun serves both exchanges, and records the same."""
    # Without a body, of which aiohttp may not have all when it asks at the other place.
    moved = make.Reply(b"", 303, {"location": "/moved"})
    server.replies = [moved, make.Reply(make.chat("from there"))]
    answer = Rerun(tmp_path)(lambda url: post(url + PATH), server.url, full=True)
    assert answer["choices"][0]["message"]["content"] == "from there"


def test_a_redirect_to_a_place_that_takes_no_get(server: Any, make: Any, log: Any) -> None:
    """As where `http:` is asked and `https:` is meant: its refusal is the call's."""
    httpx = pytest.importorskip("httpx", reason="needs: pip install 'lctl[test]'")
    moved = make.Reply({}, 301, {"location": f"{server.url}{PATH}"})
    server.replies = [moved, make.Reply({"detail": "Method Not Allowed"}, 405)]
    assert httpx.post(server.url + PATH, json=ASK, follow_redirects=True).status_code == 405
    [(_, end)] = log.steps()
    assert end["outcome"] == "error"
    assert [error["message"] for error in log.of("error")] == ["Method Not Allowed"]


def test_a_redirect_that_is_not_followed(server: Any, make: Any, log: Any) -> None:
    """It ends the call."""
    httpx = pytest.importorskip("httpx", reason="needs: pip install 'lctl[test]'")
    server.replies = [make.Reply({}, 307, {"location": f"{server.url}/other{PATH}"})]
    assert httpx.post(server.url + PATH, json=ASK).status_code == 307
    assert httpx.post(server.url + PATH, json=ASK).status_code == 200
    assert len(log.steps()) == len(log.of("exchange")) == 2


def digest_by_httpx(url: str) -> Any:
    httpx = pytest.importorskip("httpx", reason="needs: pip install 'lctl[test]'")
    return httpx.post(url, json=ASK, auth=httpx.DigestAuth("me", "secret")).json()


def digest_by_requests(url: str) -> Any:
    requests = pytest.importorskip("requests", reason="needs: pip install 'lctl[test]'")
    return requests.post(url, json=ASK, auth=requests.auth.HTTPDigestAuth("me", "secret")).json()


@pytest.mark.parametrize("post", [digest_by_httpx, digest_by_requests])
def test_authentication_in_turns(server: Any, make: Any, log: Any, post: Callable[[str], Any]) -> None:
    """A 401 that the client answers with its credentials is a failed attempt of the call."""
    challenge = {"www-authenticate": 'Digest realm="r", nonce="n", qop="auth"'}
    server.replies = [make.Reply({"error": {"message": "who?"}}, 401, challenge)]
    post(server.url + PATH)
    [(_, end)] = log.steps()
    assert end["outcome"] == "success"
    assert [one["status"] for one in log.of("exchange")] == [401, 200]
    assert [error["type"] for error in log.of("error")] == ["authentication_failed"]


GUARD = {"model": "guard", "messages": [{"role": "user", "content": "May I?"}]}


def hooked_httpx(url: str) -> None:
    httpx = pytest.importorskip("httpx", reason="needs: pip install 'lctl[test]'")
    with httpx.Client(event_hooks={"request": [lambda _: httpx.post(url, json=GUARD)]}) as client:
        client.post(url, json=ASK)


def hooked_requests(url: str) -> None:
    requests = pytest.importorskip("requests", reason="needs: pip install 'lctl[test]'")
    with requests.Session() as session:

        def check(response: Any, **_: Any) -> None:
            session.post(url, json=GUARD)

        session.post(url, json=ASK, hooks={"response": check})


@pytest.mark.parametrize("post", [hooked_httpx, hooked_requests])
def test_a_call_within_a_call(server: Any, log: Any, post: Callable[[str], Any]) -> None:
    """What a client's hook asks a model is a call of its own."""
    post(server.url + PATH)
    assert sorted(start["model"] for start, _ in log.steps()) == ["guard", "m"]
    assert [end["outcome"] for _, end in log.steps()] == ["success", "success"]
    assert [one["attempt"] for one in log.of("exchange")] == [1, 1]


def test_a_model_call_of_an_application_in_the_process(server: Any, log: Any) -> None:
    """What asks the application is no model call; what it asks is a call of its own."""
    httpx, requests = (
        pytest.importorskip("httpx", reason="needs: pip install 'lctl[test]'"),
        pytest.importorskip("requests", reason="needs: pip install 'lctl[test]'"),
    )

    def app(environ: Any, start_response: Any) -> list[bytes]:
        answer = requests.post(server.url + PATH, json=ASK)
        start_response("200 OK", [("content-type", "application/json")])
        return [answer.content]

    with httpx.Client(transport=httpx.WSGITransport(app=app)) as client:
        client.post("http://app/ask", json={"question": "?"})
    [(_, end)] = log.steps()
    assert end["outcome"] == "success"
    assert [one["http"] for one in log.of("exchange")] == ["requests"]
