"""The border: everything that enters the program from outside passes here, and may be served instead.

Transports, tools and ambient reads ask `player()` before they touch the world. Without a player (every
recording) they go on as they are; in a rerun or fork the floor above has put one here.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from lctl.errors import RerunStopped

if TYPE_CHECKING:
    from types import FrameType

    from lctl.session.concurrency.jobshares import Taken
    from lctl.session.concurrency.lane import Lane
    from lctl.session.concurrency.pooljobs import Ended
    from lctl.session.concurrency.queueorder import Turns
    from lctl.session.session import LCTLSession
    from lctl.session.tooling.served import Served
    from lctl.session.tooling.toolcalls import ToolCall


class WireRequest(NamedTuple):
    """A request about to leave; one attempt, as its transport sees it.

    Attributes:
        http: the client library: httpx, httpx2, requests, urllib3, aiohttp, http.client.
        headers: names in lower case; credentials included (never to be written or hashed).
        body: None where it cannot be known without consuming what is to be sent.
        provider: of a model call, else None; with its `operation`.
        lane: the lane it is made in, and its `number` among that lane's exchanges; 0 if a recording set up
            as this process is would not hold it (see `kind`).
        editable: whether the transport can send another body in its place.
        kind: "model"; "http" for plain traffic; "telemetry" or "suppressed" for what is never recorded,
            "websocket" for what opens one beneath a layer that sees none.
    """

    http: str
    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None
    provider: str | None
    operation: str
    lane: Lane
    number: int
    editable: bool
    kind: str = "model"

    def hash(self) -> str | None:
        """What `request.hash` of its exchange would be."""
        return None if self.body is None else digest_of(self.body, self.headers.get("content-type", ""))


def digest_of(body: bytes, content_type: str) -> str:
    """SHA-256 of a request's body as exchanges hold it (see `settled`)."""
    return "sha256:" + sha256(settled(body, content_type)[0]).hexdigest()


def settled(body: bytes, content_type: str) -> tuple[bytes, str]:
    """A request's body and content type without what is random: the boundary of a multipart body."""
    if not content_type.startswith("multipart/"):
        return body, content_type
    boundary = content_type.partition("boundary=")[2].partition(";")[0].strip().strip('"')
    if not boundary:
        return body, content_type
    made = body.replace(boundary.encode("latin-1", "replace"), b"boundary")
    return made, content_type.replace(boundary, "boundary")


class RecordedError(NamedTuple):
    """An exception a transport raised: its class by module and qualified name, and its text.

    Attributes:
        cause: the one it was raised from.
        sent: False if the request had not left yet; None where the transport cannot tell.
    """

    module: str
    type: str
    message: str
    cause: RecordedError | None = None
    sent: bool | None = None

    @classmethod
    def of(cls, error: Mapping[str, Any]) -> RecordedError:
        """From the `error` of an exchange."""
        beneath = error.get("cause")
        return cls(
            str(error.get("module") or ""),
            str(error.get("type") or ""),
            str(error.get("message") or ""),
            cls.of(beneath) if isinstance(beneath, dict) else None,
            error.get("sent"),
        )


class Answer(Protocol):
    """A recorded response, given to the transport in the recorded order.

    A transport waits, then raises `error` if there is no `status`, else makes its library's own response
    of status, headers and the chunks; `error` is raised after the last chunk then. Bodies have their
    content-encoding undone. `wait` may never return: a call that the program cancelled stays pending, and
    so do `chunks` of a body whose reading it cancelled; `error` is never a cancellation. `match` goes into
    the event. `headers` hold a list where one was sent several times. `encoding` (absent: None) is the
    `encoded` of the exchange; `reason`, `names` (absent: none), `with_head` and `closed_early` (absent:
    False) are its own: of one closed early nobody knows what followed the chunks. `unsent` (absent: False):
    its request never left, whoever ended it.
    """

    status: int | None
    headers: Mapping[str, Any]
    error: RecordedError | None
    match: str | None

    def wait(self) -> None: ...
    async def wait_async(self) -> None: ...
    def chunks(self) -> Iterator[bytes]: ...
    def chunks_async(self) -> AsyncIterator[bytes]: ...

    async def left_async(self) -> None:
        """Return when the program left the stream, which it does now, in the recording."""
        ...

    def rest(self) -> list[bytes]:
        """The chunks that were not given yet, now, whoever's turn it is."""
        ...

    def whole(self) -> list[bytes]:
        """All chunks at once, given or not, in nobody's order."""
        ...


class LinesAnswer(Answer, Protocol):
    """Of a WebSocket, whose chunks are lines, each with a turn of its own."""

    def part(self, number: int) -> None:
        """Return when it is the turn of a chunk, the first of which is 1."""
        ...

    async def part_async(self, number: int) -> None:
        """As `part`; it may be cancelled, and waited for again."""
        ...

    def skip(self, number: int) -> None:
        """Nobody waits for that chunk."""
        ...

    def left(self) -> None:
        """As `left_async`."""
        ...

    def never(self) -> None:
        """Nothing comes any more: return never, or raise the end of the rerun."""
        ...

    async def never_async(self) -> None: ...

    def nothing_more(self) -> None:
        """Raise the end of the rerun where that is the end of a recording that was cut off."""
        ...

    def blob(self, hash: str) -> bytes:
        """What the recording has under that hash."""
        ...


class Live(NamedTuple):
    """Let the request out. `body` and `url` replace what is sent and where to, unless None; `match` goes
    into the event."""

    body: bytes | None = None
    match: str | None = "live"
    url: str | None = None


class Command(NamedTuple):
    """One that ran in the recording.

    Attributes:
        data: of its event.
        await_end: returns when it ended there.
        await_part: likewise, or (from 1) when that piece came.
    """

    data: Mapping[str, Any]
    await_end: Callable[[], None]
    await_part: Callable[[int], Awaitable[None]]


class Player(Protocol):
    """What serves the program; those that derive from it say only what they serve.

    Its methods may raise `lctl.errors.RerunStopped`, which ends the rerun.

    Attributes:
        compares_stderr: it wants to know, too, that libraries wrote nothing to standard error.
    """

    compares_stderr: bool = False

    def exchange(self, request: WireRequest) -> Answer | Live: ...

    def tool(self, call: ToolCall, lane: Lane, number: int) -> Served | None:
        """None: run the tool."""
        ...

    def gives_agent(self, call: ToolCall, lane: Lane) -> bool:
        """Whether there is a result for the call of a tool whose body is an agent, so that `tool` is to be
        asked: a fork puts one in its place. Otherwise the agent works, on recorded answers."""
        return False

    def agent_input(self, call: ToolCall, lane: Lane) -> dict[str, Any] | None:
        """The arguments that it works with in place of those it is called with; None: with those."""
        return None

    def ambient(self, source: str, key: str, lane: Lane, number: int) -> tuple[Any] | None:
        """The recorded value in a tuple; None: read it."""
        ...

    def shown(self, session: LCTLSession) -> Sequence[dict[str, Any]] | None:
        """At the end of a session: the data of the events that say the times that libraries showed; None:
        those that they did."""
        return None

    def stopped(self, text: str) -> RerunStopped:
        """End the whole rerun, of which `text` says why; what to raise. For a transport that sees itself
        that the program left the recording."""
        return RerunStopped(text)

    def event(self, lane: Lane, number: int) -> None:
        """Return when it is the turn of what a thread reports of itself (see `lctl.session.reported`)."""
        return

    def sleep(self, lane: Lane, number: int) -> bool:
        """Return when a recorded sleep of the program ended; False at once where none was recorded."""
        return False

    async def sleep_async(self, lane: Lane, number: int) -> bool:
        return False

    def slept(self, lane: Lane, number: int) -> bool:
        """The program has slept where no sleep was recorded. Behind the end of a recording that was cut off:
        whether it sleeps on, as others have yet to come to that end, which is raised then."""
        return False

    def timer(self, lane: Lane, number: int, handle: Any) -> bool | None:
        """Whether a recorded timer of the program went off, which this one will do then: it is kept. None
        where that is not known."""
        return None

    def overdue(self, lane: Lane, number: int, when: float) -> None:
        """The program sets a limit of time, for `when` by its loop's clock. Where it was over already in the
        recording, let it be."""
        return

    async def read_async(self, source: str, lane: Lane, number: int) -> None:
        """Return when a read of the surroundings that took its time had its value."""
        return

    def resumed(self, seq: int, lane: str) -> float | None:
        """Return when the program went on with what event `seq`, of a crossing in `lane`, brought, and that
        moment; at once and None where nothing else did at that time (`lctl.session.concurrency.returns`)."""
        return None

    def again_ms(self, lane: Lane) -> float | None:
        """Milliseconds until the lane's next request is to be made, as in the recording; None where that is
        not known."""
        return None

    def is_live(self, lane: Lane) -> bool:
        """Whether it has left the recording."""
        return False

    def ended(self, lane: Lane) -> Ended | None:
        """Return when the pool job in `lane` ended; at once and None where that was not noted."""
        return None

    def has_left(self, seq: int) -> bool:
        """Whether the log of this run is the recording no more behind event `seq`, and has its own times."""
        return False

    def is_spent(self) -> bool:
        """Whether all that the recording brings in its order has come."""
        return False

    def seen(self, key: str, of: str, lane: Lane) -> list[int] | None:
        """What the program saw next of such pool jobs (`lctl.session.concurrency.pooljobs`); None: look."""
        return None

    def queue(self, lane: Lane, number: int) -> Turns | None:
        """Of the `number`th queue that the program made in `lane`; None where no order was noted of it."""
        return None

    def queue_of_parent(self, lane: str, number: int) -> Turns | None:
        """Likewise, in a forked child, of one that its parent had made in that lane."""
        return None

    def taken(self, lane: Lane) -> Taken | None:
        """Which workers of pools of processes took which jobs; None where no such thing is to be again."""
        return None

    def jobs(self, session: LCTLSession) -> dict[str, Any] | None:
        """The data of the event that says all of this, empty if there was none; None: what was noted."""
        return None

    def aside(self, path: str) -> str | None:
        """A folder for what a library keeps for itself at `path`, empty at first and gone with this run;
        None: it may write there."""
        return None

    def kept(self, hash: str) -> bytes | None:
        """What the recording has under that hash, if anything."""
        return None

    def command(self, key: str, line: str, lane: Lane) -> Command | None:
        """What the recording has of the command that the program starts next in that lane; None: start it.

        Args:
            key: as it is recorded. `line`: as the system is given it.
        """
        return None

    def beside(self, path: str, content: bytes | None, is_new: bool, frame: FrameType) -> str | None:
        """Where `frame` opens a database in the place of that; None: it opens that, or is refused.

        Args:
            content: what it was, where that is known. `is_new`: it was not there.
        """
        return None

    def store(
        self, path: str, content: bytes | None, is_new: bool, frame: FrameType, writes: bool
    ) -> str | None:
        """As `beside`, of a file or folder that a library reads and writes past Python.

        Args:
            content: an archive of its files as they were, where that is known.
            writes: whether it may write there; who only reads what it is now needs no copy of that.
        """
        return None

    def anew(self, path: str, frame: FrameType) -> bool:
        """`frame` makes a folder where there was none, and is one now: whether there is an empty one in its
        place from now on."""
        return False

    def as_recorded(self, path: str) -> None:
        """The program is given that file, or that there is none, as it was recorded and not as it is now."""
        return

    async def resumes_async(self, seq: int, lane: str) -> None:
        """Asked before `resumed`, in a task that gave others of its loop their turns here: return when they
        have had them."""
        return


#: What `player` gives, for those who ask in every model call. Set by `set_player` alone.
playing: Player | None = None


def player() -> Player | None:
    """What serves this process; None while recording."""
    return playing


def set_player(serving: Player | None) -> None:
    global playing
    playing = serving
