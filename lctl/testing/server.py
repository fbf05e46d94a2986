"""`ModelServer`: wires of OpenAI, Anthropic, Google and others on a loopback port, with answers you write."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import TracebackType
from typing import Any, Self

from lctl.clock import Clock, system_clock
from lctl.errors import UsageError
from lctl.testing.accepting import answer_of, listed
from lctl.testing.answering import Answering
from lctl.testing.connection import Connection, Outgoing
from lctl.testing.faults import Fault
from lctl.testing.listener import Listener
from lctl.testing.request import Request
from lctl.testing.script import Rule, Script, matcher
from lctl.testing.seeded import Seeded


class ModelServer:
    """A model provider on 127.0.0.1, in a background thread, for tests without network or keys.

        with ModelServer(seed=1) as server:
            client = OpenAI(base_url=server.openai_url, api_key="test")
            server.reply("Hello.")

    Requests that no `when` rule and no queued `reply` answers get a seeded answer: a pure function of
    the seed and of what the request says, so concurrent programs stay reproducible.

    Args:
        seed: chooses the answers nobody wrote, and all ids.
        random_answers: make those answers and all ids new at every call instead.
        latency: bounds in seconds of the wait before each answer, drawn by the seed.
        chunk_delay: wait in seconds before each event of a stream.
        gzip: compress answers for clients that accept it.
        strict: refuse (400) what no rule and no queued reply answers.
        clock: source of `Request.at`.
    """

    def __init__(
        self,
        seed: int = 0,
        *,
        random_answers: bool = False,
        latency: tuple[float, float] = (0.0, 0.0),
        chunk_delay: float = 0.0,
        gzip: bool = False,
        strict: bool = False,
        clock: Clock = system_clock,
    ) -> None:
        self.seed = seed
        self.latency = latency
        self.chunk_delay = chunk_delay
        self.gzip = gzip
        self._script = Script()
        self._answering = Answering(
            self._script, Seeded(seed, fresh=random_answers), strict=strict, clock=clock
        )
        self._listener: Listener | None = None

    # -- life -----------------------------------------------------------------------------

    def start(self) -> Self:
        """Listen. `with ModelServer() as server:` does it for you."""
        if self._listener is None:
            self._listener = Listener(partial(_Connection, self))
        return self

    def close(self) -> None:
        """Stop, cutting the connections that are still open. The requests stay readable."""
        if self._listener is not None:
            self._listener.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- where ----------------------------------------------------------------------------

    @property
    def url(self) -> str:
        """`http://127.0.0.1:<port>`."""
        if self._listener is None:
            raise UsageError(
                "the model server is not running; use `with ModelServer() as server:` or start()"
            )
        return f"http://127.0.0.1:{self._listener.port}"

    @property
    def openai_url(self) -> str:
        """`base_url` of an OpenAI client."""
        return f"{self.url}/v1"

    @property
    def anthropic_url(self) -> str:
        """`base_url` of an Anthropic client."""
        return self.url

    @property
    def environ(self) -> dict[str, str]:
        """Environment variables that point clients made without arguments here, also in a child process."""
        return {
            "OPENAI_BASE_URL": self.openai_url,
            "OPENAI_API_KEY": "test",
            "ANTHROPIC_BASE_URL": self.anthropic_url,
            "ANTHROPIC_API_KEY": "test",
            "GOOGLE_GEMINI_BASE_URL": self.url,
            "GEMINI_API_KEY": "test",
            "OLLAMA_HOST": self.url,
            "CO_API_URL": self.url,
            "CO_API_KEY": "test",
            "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": self.url,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1",
        }

    # -- what to answer -------------------------------------------------------------------

    def reply(self, answer: Any = None, /, *, times: int | None = 1, **options: Any) -> Self:
        """Queue an answer: a text, a `Reply`, a `Fault` or a function of the request.

        Queued answers are used in order, each `times` times (None: for ever). Options are those of
        `Reply`: `reply(tool_calls=[("grep", {"pattern": "exec"})])`. A function gets the `Request` and
        returns a text, a `Reply` or a `Fault`, or None to leave the request to the next answer.
        """
        self._script.add(answer_of(answer, options), times)
        return self

    def script(self, answers: Iterable[Any]) -> Self:
        """Queue these answers, each once (a `Fault` as often as it says), in order."""
        for answer in listed(answers):
            self.reply(answer, times=answer.times if isinstance(answer, Fault) else 1)
        return self

    def fault(self, status: int | None = None, /, **options: Any) -> Self:
        """Queue a failure: `fault(429, retry_after=0)`, `fault(drop_after=3)`; see `Fault`."""
        fault = Fault(status, **options)
        return self.reply(fault, times=fault.times)

    def when(
        self,
        *,
        model: str | None = None,
        contains: str | None = None,
        operation: str | None = None,
        where: Callable[[Request], object] | None = None,
    ) -> Rule:
        """Answers for the requests that satisfy everything given; rules go before the queue.

        Of several rules that match, the one written first answers. `contains` looks in the whole prompt,
        tool results included, and ignores case; `where` is any function of the request.
        """
        return Rule(self._script, matcher(model, contains, operation, where))

    # -- what happened --------------------------------------------------------------------

    @property
    def requests(self) -> list[Request]:
        """Every request so far, in order of arrival, those that failed included."""
        return self._answering.requests

    @property
    def count(self) -> int:
        """How many requests arrived."""
        return len(self._answering.requests)

    @property
    def pending(self) -> int:
        """Answers that were written for a number of uses and not used up."""
        return self._script.pending

    def reset(self) -> None:
        """Forget requests, rules, queue and stored responses; the port and the seed stay."""
        self._script.clear()
        self._answering.forget()

    def _respond(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Outgoing:
        out, digest = self._answering.answer(method, path, headers, body)
        low, high = self.latency
        out.delay = low + (high - low) * int.from_bytes(digest[:4], "big") / 2**32
        out.chunk_delay = self.chunk_delay
        return out


class _Connection(Connection):
    """A connection of one `ModelServer`."""

    def __init__(self, models: ModelServer, *args: Any) -> None:
        self.models = models
        self.gzip = models.gzip
        super().__init__(*args)

    def respond(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Outgoing:
        return self.models._respond(method, path, headers, body)
