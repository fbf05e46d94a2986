"""Payloads of the tape: what entered the program from outside, for running it again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lctl.payloads.fields import Count, Milliseconds, Payload, Turn
from lctl.values import items


class Request(Payload, frozen=True):
    """The request of an exchange; its content is in the messages of the step.

    Attributes:
        hash: "sha256:" and the hex digest of the body (of a multipart body, with its boundary replaced).
        size: bytes of the body.
        body: of plain traffic; as the exchange's own.
    """

    hash: str | None = None
    size: Count | None = None
    headers: dict[str, Any] | None = None
    body: str | dict[str, Any] | list[Any] | None = None


class TransportError(Payload, frozen=True):
    """The exception that took the place of a response: class name, module and text.

    Attributes:
        cause: the exception beneath it, of the same form.
        sent: false if the request had not left; absent where it had or nobody knows.
    """

    type: str | None = None
    module: str | None = None
    message: str | None = None
    cause: dict[str, Any] | None = None
    sent: bool | None = None


class Exchange(Payload, frozen=True):
    """One request and its response on the wire: one attempt of a model call.

    Attributes:
        attempt: 1, 2, ... within its step.
        http: the client library: httpx, httpx2, requests, aiohttp, ...
        status: HTTP status, absent when no response came.
        reason: that was sent with the status, where it is not the usual one.
        headers: the response headers an SDK reads; never a secret.
        names: of `headers`, those that were not sent in lower case, as they were.
        body: the response's text, {"base64": ...} or {"blob": hash}; or a list of texts and references
            {"$content": message id, "at"?: path, "as"?: encoding} to values of a message that are not
            stored twice: joined, they are the exact bytes.
        around: what every chunk given as [ms, [text]] begins and ends with.
        chunks: of a stream instead of `body`: [milliseconds since the request, text] each; [ms, [text]]
            where the text stands between the two of `around`.
        encoded: the content-encoding in which the program itself read the body, which is undone here.
        dropped: bytes of the body beyond what is kept; such an exchange cannot be served.
        complete: the response was read to its end.
        closed_early: the program left the stream before its end.
        left: nor did it close it: the stream was collected, or open when the recording ended.
        lane: where in the program's structure the request was made (see `Tape fields` in the spec's
            annex D); absent in lane "0".
        at: milliseconds from the beginning of the recording to the request's leaving; absent where
            nothing else was under way.
        turn: where its end reached an event loop, how many turns of that after what reached it before;
            99 of more and where that is not known, -1 of what was there when the program asked for it. Absent
            elsewhere, and of streams without `turns`.
        behind: how many of the program's own callbacks ran behind it in that turn; absent for none.
        with_head: of aiohttp, the body came with the head: that is the turn in which the program went on, one
            later. Absent of bodies that came later, and in older logs: it is that in which the end came.
        counted: it is the first of its event loop, from whose start on turns of that are counted.
        turns: of each of `chunks`, as `turn`.
        head_ms: from the request's leaving to the head of a stream, or (aiohttp) of what came before its
            body, where `at` or `lane` is given.
        head_turn: of that, as `turn`.
        behinds: of the head (0) and of `chunks` (from 1), as `behind`: pairs of which and how many; in older
            logs absent, as is of `behind` what was done between the pieces of a stream.
        match: in a rerun or fork, how it was answered: drift, moved or live; absent where exact.
    """

    attempt: Count | None = None
    method: str | None = None
    url: str | None = None
    http: str | None = None
    request: Request | None = None
    status: Count | None = None
    reason: str | None = None
    headers: dict[str, Any] | None = None
    names: list[str] | None = None
    body: str | dict[str, Any] | list[Any] | None = None
    around: list[str] | None = None
    chunks: list[Any] | None = None
    error: TransportError | None = None
    encoded: str | None = None
    dropped: Count | None = None
    complete: bool | None = None
    closed_early: bool | None = None
    left: bool | None = None
    duration_ms: Milliseconds | None = None
    lane: str | None = None
    at: Milliseconds | None = None
    turn: Turn | None = None
    behind: Count | None = None
    with_head: bool | None = None
    counted: bool | None = None
    turns: list[Turn] | None = None
    head_ms: Milliseconds | None = None
    head_turn: Turn | None = None
    behinds: list[list[Count]] | None = None
    match: str | None = None


class Ambient(Payload, frozen=True):
    """A value the program read from its surroundings, or several, read one after another.

    Attributes:
        source: clock, random, uuid, environment, traceback, id, mcp, ...; "log" of times that libraries show,
            gathered until the session closes; "several" of reads that differ in it; "timer" of a timer of an
            event loop that went off, the `value`th set in `lane`; "overdue" of a limit of time that was over
            as it was set, the `value`th of `lane`; "request" of one that came from outside
            to a server of the program's (the `value`: all of it), "websocket" of what was said over a
            WebSocket that one opened, "signal" of how that server was ended; "keys" of
            what was typed at a program that draws a whole screen; "wake" of a thread's result
            that reached an event loop: of the pool job or last call made in `lane`; "resumed" and "jobs",
            once at the close, of what threads did to each other's order.
        key: which one: the function's or the variable's name; of a "command" that the program's own code had
            run, its line.
        value: what it gave: of a clock nanoseconds, or the wall's date and time; of a command code, output.
        place: of the program's code, `agent.py:12`.
        reads: of several: [source, key, place] of each kind of read among them.
        order: which of `reads` each was, as an index; absent where there is one kind.
        values: what each gave.
        steps: instead of `values` where all are integers: the first, then the differences.
        duration_ms: of a sleep (source "sleep", whose value is the seconds asked for): how long it took.
        pieces: of a command whose streams an event loop read: `[ms, turn, behind, which, bytes]` of each
            (1 stdout, 2 stderr; no bytes: its end; 0: that of the process).
        late: of a command, for each wait for it that ran out of time: `[bytes of stdout by then, of stderr,
            seconds]`.
        polls: how often it had not ended when the program asked.
        pid: its number, if the program was given one.
        cancelled: of a sleep that the program ended before its time.
        lane: as in an exchange.
        at: as in an exchange.
        turn: as in an exchange, of a sleep, timer or wake.
        ahead: of a wake, in older logs: how many callbacks of the loop's turn ran before it.
        behind: as in an exchange.
        counted: as in an exchange.
        match: as in an exchange.
    """

    source: str | None = None
    key: str | None = None
    value: Any = None
    place: str | None = None
    reads: list[Any] | None = None
    order: list[Count] | None = None
    values: list[Any] | None = None
    steps: list[int] | None = None
    pieces: list[list[Any]] | None = None
    late: list[list[Any]] | None = None
    polls: Count | None = None
    pid: Count | None = None
    cancelled: bool | None = None
    duration_ms: Milliseconds | None = None
    lane: str | None = None
    at: Milliseconds | None = None
    turn: Count | None = None
    ahead: Count | None = None
    behind: Count | None = None
    counted: bool | None = None
    match: str | None = None


def reads_of(data: Mapping[str, Any]) -> Iterator[tuple[str, str, Any, str | None]]:
    """The reads an `ambient` event stands for, in order: (source, key, value, place)."""
    kinds = data.get("reads")
    if not isinstance(kinds, list):
        yield str(data.get("source")), str(data.get("key")), data.get("value"), data.get("place")
        return
    values = data.get("values")
    if not isinstance(values, list):
        values, total = [], 0
        for step in items(data.get("steps")):
            total += step if isinstance(step, int) else 0
            values.append(total)
    order = items(data.get("order")) or [0] * len(values)
    for number, value in zip(order, values, strict=False):
        kind = items(kinds[number]) if type(number) is int and 0 <= number < len(kinds) else []
        if len(kind) == 3:
            yield str(kind[0]), str(kind[1]), value, kind[2]


class Output(Payload, frozen=True):
    """What the program wrote to a standard stream, for comparing a rerun with it.

    Attributes:
        stream: stdout or stderr.
        hash: "sha256:" and the hex digest of all its bytes, but that `0x` stands for an object's address (of
            ` at 0x7f3a10>`, six to sixteen digits).
        size: how many.
        text: its beginning.
        on: "terminal" where it was one: hash, size and text are of what stands there in the end, without what
            was drawn over, and without colours.
        by: "libraries" where they wrote it (to stderr); absent of what the program wrote.
        lanes: where threads wrote at once, who wrote in which order: lane, how many texts and characters.
    """

    stream: str | None = None
    hash: str | None = None
    size: Count | None = None
    text: str | None = None
    on: str | None = None
    by: str | None = None
    lanes: list[Any] | None = None


class Blob(Payload, frozen=True):
    """Large or binary content, once per hash; elsewhere {"$blob": hash} stands for it.

    Attributes:
        hash: "sha256:" and the hex digest of the content's bytes.
        encoding: "utf8" or "base64".
        size: bytes of the content.
    """

    hash: str
    content: str
    encoding: str | None = None
    media_type: str | None = None
    size: Count | None = None
