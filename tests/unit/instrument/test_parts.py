"""Digests, traffic, headers and URLs: the small tables of capture."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lctl.instrument import traffic
from lctl.instrument.digests import BodyDigests
from lctl.instrument.entries import satisfies
from lctl.instrument.headers import kept_headers, sent_headers, without_secrets
from lctl.instrument.registry import OURS, TRANSPORTS, Registry
from lctl.trust import taxonomy


class TestDigests:
    @given(
        st.lists(st.tuples(st.integers(0, 5), st.integers(0, 200_000), st.binary(max_size=50)), max_size=12)
    )
    def test_is_sha256_whatever_came_before(self, bodies: list[tuple[int, int, bytes]]) -> None:
        """Bodies that grow, shrink, repeat and interleave all get their own SHA-256."""
        digests = BodyDigests()
        for seed, size, end in bodies:
            body = (b"%d" % seed) * size + end
            assert digests.digest(body) == "sha256:" + hashlib.sha256(body).hexdigest()

    def test_a_growing_conversation(self) -> None:
        """Each turn's body, 100 kB and more, is hashed right from the shared beginning."""
        digests = BodyDigests()
        text = b'{"messages":['
        for turn in range(60):
            text += b'{"role":"user","content":"%s"},' % (b"%d " % turn * 900)
            body = text + b'],"model":"m"}'
            assert digests.digest(body) == "sha256:" + hashlib.sha256(body).hexdigest()


class TestFailures:
    @pytest.mark.parametrize(
        ("status", "error", "expected"),
        [
            (429, {}, ("rate_limited", True)),
            (429, {"code": "insufficient_quota"}, ("resource_exhausted", False)),
            (400, {"message": "prompt is too long: 9 > 8"}, ("resource_exhausted", False)),
            (400, None, ("invalid_format", False)),
            (418, None, ("invalid_format", False)),
            (500, None, ("server_error", True)),
            (599, None, ("server_error", True)),
            (529, None, ("overloaded", True)),
            (200, {"message": "broke"}, ("generation_failed", True)),
            (400, {"code": "content_filter"}, ("unsafe_content", False)),
            (200, {"code": 429, "message": "Provider returned error"}, ("rate_limited", True)),
            (200, {"code": 502, "message": "Provider returned error"}, ("server_error", True)),
        ],
    )
    def test_statuses(self, status: int, error: Any, expected: tuple[str, bool]) -> None:
        """The provider's own words come before the status."""
        kind = taxonomy.of_status(status, error)
        assert (kind.type, kind.recoverable) == expected

    @pytest.mark.parametrize(
        ("error", "kind"),
        [
            (TimeoutError(), "timeout"),
            (ConnectionRefusedError(), "connection_failed"),
            (ConnectionResetError(), "connection_lost"),
            (ValueError(), "request_failed"),
        ],
    )
    def test_exceptions(self, error: Exception, kind: str) -> None:
        """Built-in exceptions are known by their classes."""
        assert taxonomy.of_exception(error).type == kind

    def test_names(self) -> None:
        """Exceptions are named as their users import them."""
        cls = type("APIError", (Exception,), {"__module__": "openai._exceptions"})
        assert taxonomy.name_of(cls()) == "openai.APIError"
        assert taxonomy.name_of(ValueError()) == "ValueError"


def asked_by(file: str, url: str) -> bool:
    """Whether code of that file sends telemetry there."""
    names: dict[str, Any] = {"ask": traffic.is_telemetry, "url": url, "__file__": file}
    exec(compile("found = ask('POST', url)", file, "exec"), names)
    return bool(names["found"])


class TestTraffic:
    @pytest.mark.parametrize(
        "url",
        [
            "https://api.openai.com/v1/traces/ingest",
            "https://api.smith.langchain.com/runs/multipart",
            "http://localhost:4318/v1/traces",
            "https://o1.ingest.sentry.io/api/1/envelope/",
            "http://sentry.our.own:9000/api/1/envelope/",
            "http://opik:5173/api/v1/private/spans/batch",
        ],
    )
    def test_telemetry(self, url: str) -> None:
        """Uploads of traces and analytics are known by host or path."""
        assert traffic.is_telemetry("POST", url)

    @pytest.mark.parametrize(
        "asked",
        [
            "GET https://api.openai.com/v1/models",
            "POST https://notsentry.io/x",
            "GET https://cloud.langfuse.com/api/public/v2/prompts/greeting",
            "POST https://eu.i.posthog.com/flags/?v=2",
        ],
    )
    def test_other(self, asked: str) -> None:
        """Other traffic is not; nor are questions whose answers the program goes on with."""
        assert not traffic.is_telemetry(*asked.split())

    @pytest.mark.parametrize(
        "url",
        [
            "https://logs.our.own/v1/logs",
            "http://smith.our.own/api/v1/runs/batch",
            "https://api.datadoghq.com/api/v2/logs/events/search",
            "https://eu.i.posthog.com/batch/",
        ],
    )
    def test_whose_code_asks(self, url: str) -> None:
        """What an agent asks of a service is the program's, though tools of observability send there."""
        assert not asked_by("agent.py", url)
        assert asked_by("site-packages/posthog/request.py", url)


class TestWhatIsKept:
    def test_headers(self) -> None:
        """Only headers that say something, names in lower case; never a credential."""
        pairs = [
            (b"Content-Type", b"application/json"),
            ("X-Request-ID", "r1"),
            ("Authorization", "Bearer x"),
        ]
        more = [("x-ratelimit-remaining-tokens", "5"), ("Set-Cookie", "a=b"), ("x-api-key", "k")]
        assert kept_headers([*pairs, *more]) == {
            "content-type": "application/json",
            "x-request-id": "r1",
            "x-ratelimit-remaining-tokens": "5",
        }

    @pytest.mark.parametrize(
        ("url", "kept"),
        [
            ("https://h/v1/x", "https://h/v1/x"),
            ("https://user:pw@h:1/x", "https://h:1/x"),
            ("https://h/x?api-version=2&API_KEY=s", "https://h/x?api-version=2&API_KEY=[redacted]"),
            ("https://h/x?beta=true", "https://h/x?beta=true"),
        ],
    )
    def test_urls(self, url: str, kept: str) -> None:
        """User, password and credential parameters are taken out."""
        assert without_secrets(url) == kept


class TestRegistry:
    def test_our_table_is_pyprojects(self) -> None:
        """The static table and the entry points of the distribution are the same."""
        import tomllib

        project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())
        assert project["project"]["entry-points"]["lctl.integrations"] == OURS

    def test_every_entry_loads_without_its_library(self) -> None:
        """Importing an integration imports no library, and it has what the protocol asks."""
        import subprocess
        import sys

        code = (
            "import sys, importlib\n"
            f"for target in {[*TRANSPORTS.values(), *OURS.values()]!r}:\n"
            "    module, _, name = target.partition(':')\n"
            "    it = getattr(importlib.import_module(module), name)()\n"
            "    assert it.name and it.supported and it.modules and callable(it.patch)\n"
            "print(sorted({'openai','anthropic','httpx','httpx2','aiohttp','requests','urllib3','wrapt'}"
            " & set(sys.modules)))"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "[]"

    def test_status(self) -> None:
        """Each library's version, whether it is supported, and what is patched."""
        pytest.importorskip("openai._base_client")
        registry = Registry()
        registry.install()
        by_key = {entry.key: entry for entry in registry.status()}
        assert by_key["openai"].state == "patched"
        assert by_key["openai"].is_supported is True
        assert by_key["openai"].points == [
            "openai._base_client:SyncAPIClient.request",
            "openai._base_client:AsyncAPIClient.request",
            "openai._base_client:BaseClient._calculate_retry_timeout",
        ]
        registry.uninstall()
        assert not registry.installed

    def test_a_broken_integration_is_shown_not_raised(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """One integration that cannot be set up leaves the others working and says why."""
        from lctl.guard import guard

        monkeypatch.setattr(guard, "policy", "report")
        monkeypatch.setattr(guard, "_report", lambda place: None)
        registry = Registry({"json": "lctl.nowhere:Nothing"})
        registry.install()
        [entry] = registry.status()
        assert entry.state == "failed"
        assert entry.failure and "lctl.nowhere" in entry.failure
        registry.uninstall()

    @pytest.mark.parametrize(
        ("version", "ranges", "fits"),
        [
            ("2.11.0", ">=2,<3", True),
            ("3.0", ">=2,<3", False),
            ("1.30", ">=1.30.0,<4", True),
            ("1.29.9", ">=1.30,<4", False),
            ("3.0.0rc1", ">=3", True),
            ("2", "==2.0.0", True),
            ("1", "", True),
        ],
    )
    def test_ranges(self, version: str, ranges: str, fits: bool) -> None:
        """Version ranges are compared number by number."""
        assert satisfies(version, ranges) is fits


def test_a_requests_headers_are_the_same_in_every_run() -> None:
    """botocore tells what it was used for in the order of a set."""
    for features in ("m/b,N,E,g,Z", "m/b,g,E,N,Z"):
        agent = f"Boto3/1.44 ua/2.1 md/pyimpl#CPython {features} cfg/retry-mode#standard Botocore/1.44"
        kept = "Boto3/1.44 ua/2.1 md/pyimpl#CPython cfg/retry-mode#standard Botocore/1.44"
        assert sent_headers([("User-Agent", agent)]) == {"user-agent": kept}
