"""The chunks of one streamed answer, each in the file beside the log before the program has it.

No secret comes into that file. An event is written when it is whole: nobody can look at a part, and nobody
can read it. It is looked at as it stands, and each text in it with what that text said before; the rest of
a long word is kept back until the word has ended. Once there is a secret, what there is of the stream is
written anew without; what comes of it into the log is redacted as all is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from lctl.clock import monotonic_ns
from lctl.guard import guard
from lctl.instrument import concealment, encodings
from lctl.interrupts import let_through
from lctl.session.redaction.growing import Growing

if TYPE_CHECKING:
    from lctl.instrument.attempts import Attempt
    from lctl.instrument.openstreams import OpenStreams
    from lctl.session.redaction.redact import Redactor

#: `in` finds a number in bytes five times as fast as bytes of one.
_QUOTE, _BACKSLASH = b'"\\'
#: A stream with a secret is written anew at each of so many pieces, then only when it has grown by a quarter.
_EACH = 64
#: Chunks that say nothing of a text whose last word is waited for, before it is taken to have ended.
_PATIENCE = 8
#: Another in each event, and too short for a key: OpenAI counts events, and pads them to hide their size.
_VARYING = re.compile(rb'"(?:sequence_number": ?\d+|obfuscation": ?"[A-Za-z0-9]{0,19}")')


class Pieces(list[tuple[int, bytes]]):
    """`Attempt.chunks` of an answer that is kept as it comes."""

    def __init__(self, streams: OpenStreams, number: int, attempt: Attempt) -> None:
        super().__init__(attempt.chunks)
        self._streams = streams
        self._add = partial(streams.add, number)
        self._number = number
        self._attempt = attempt
        self._decode: Callable[[bytes], bytes] | None = None
        self._ended = False
        # Bedrock's frames hold their text in base64: nobody can look at it for secrets.
        self._sealed = "amazon" in attempt.headers.get("content-type", "")
        self._unsure: list[bytes] = []  # events in which a text ends in a word that is waited for
        self._cut: list[bytes] = []  # what there is of an event that has not ended
        self._is_plain = False  # the next chunk begins an event, and is as it was sent
        # What the last event of one text has before and after it, and the text; in what way it varies.
        self._around = b"", b""
        self._varies = False
        self._texts: dict[Any, Growing] = {}
        self._text: Growing | None = None
        self._waited: dict[Growing, int] = {}  # for their last words, so many chunks
        self._secret = False
        self._sure = 0  # bytes of events that are in the file, or would be but for a secret
        self._due = 0  # how many pieces there are when it is written anew
        try:
            for _, chunk in self:
                self._keep(chunk)
        except Exception as error:
            self._failed(error)

    def append(self, piece: tuple[int, bytes]) -> None:
        list.append(self, piece)
        if self._ended:
            return
        chunk = piece[1]
        try:
            # Nearly every chunk is one event and says one text more: the shortest way for it.
            said, text = self._said(chunk) if self._is_plain else None, self._text
            if said is None or text is None:
                self._keep(chunk)
            elif self._waited or self._secret:
                self._weigh(chunk, ((text, said),))
            elif text.add(said):
                self._waited[text] = 0
                self._unsure.append(chunk)
            elif text.has_secret():
                self._secret = True
                self._write(chunk)
                self._conceal()
            else:
                self._sure += len(chunk)
                self._add(chunk)
        except Exception as error:
            self._failed(error)
        self[-1] = monotonic_ns(), chunk  # writing lets other threads run; the program goes on now

    def end(self) -> None:
        """What the answer said is in the log."""
        self._ended = True
        self._streams.end(self._number)

    def _failed(self, error: Exception) -> None:
        self._ended = True
        if guard.policy == "raise":
            raise error
        guard.failed("an open stream", error)

    def _said(self, chunk: bytes) -> str | None:
        """What it says, as JSON has it in a string, if it is the last event but for that; else None."""
        before, after = self._around
        if not before:
            return None
        event = _VARYING.sub(b"", chunk) if self._varies else chunk
        if len(event) < len(before) + len(after) or not event.startswith(before) or not event.endswith(after):
            return None
        said = event[len(before) : -len(after)]
        if _QUOTE in said:
            return None
        return concealment.spelled(said) if _BACKSLASH in said else said.decode("utf-8", "replace")

    def _keep(self, chunk: bytes) -> None:
        if self._decode is None:
            self._decode = encodings.decoder(self._attempt.headers.get("content-encoding", ""))
        try:
            data = self._decode(chunk)
        except Exception as error:  # damaged: the program cannot read on either
            let_through(error)
            self._ended = True
            return
        redactor = self._streams.redactor
        if redactor is None:
            self._add(data)
        elif self._sealed:
            self._ended = True
        else:
            self._read(redactor, data)

    def _read(self, redactor: Redactor, data: bytes) -> None:
        """The events that are whole now."""
        end = data.rfind(b"\n") + 1
        if end:
            events = b"".join((*self._cut, data[:end]))
            self._cut = [data[end:]] if end < len(data) else []
            self._take(redactor, events)
        else:
            self._cut.append(data)
        self._is_plain = not self._cut and self._decode is bytes

    def _take(self, redactor: Redactor, events: bytes) -> None:
        if not self._secret and concealment.suspicious(redactor, events):
            self._secret = concealment.conceal(redactor, [events]) != [events]
        said = concealment.growing_texts(events)
        texts = [(self._growing(redactor, place), text) for place, text in said]
        if len(texts) == 1:
            self._look_around(events, *texts[0])
        self._weigh(events, texts)

    def _growing(self, redactor: Redactor, place: Any) -> Growing:
        text = self._texts.get(place)
        if text is None:
            text = self._texts[place] = Growing(redactor)
        return text

    def _look_around(self, event: bytes, text: Growing, said: str) -> None:
        """What stands around the one text of an event is looked for in the next ones."""
        plain = _VARYING.sub(b"", event)
        before, quoted, after = plain.partition(b'"%b"' % said.encode())
        if quoted and quoted not in after and _BACKSLASH not in quoted:
            self._around = before + b'"', b'"' + after
            self._varies = plain != event
            self._text = text

    def _weigh(self, events: bytes, said: Sequence[tuple[Growing, str]]) -> None:
        """Write what is sure to hold no secret, or part of one."""
        waited = self._waited
        for text, more in said:
            if text.add(more):
                waited[text] = 0
                continue
            if waited:
                waited.pop(text, None)
            if text.has_secret():
                self._secret = True
        if waited:
            self._lose_patience(said)
        if waited:
            self._unsure.append(events)
        elif self._unsure:
            self._write(b"".join((*self._unsure, events)))
            self._unsure = []
        else:
            self._write(events)
        if self._secret:
            self._conceal()

    def _lose_patience(self, said: Sequence[tuple[Growing, str]]) -> None:
        grown = [text for text, _ in said]
        for text in [text for text in self._waited if text not in grown]:
            self._waited[text] += 1
            if self._waited[text] >= _PATIENCE:
                del self._waited[text]
                if text.has_secret():
                    self._secret = True

    def _write(self, events: bytes) -> None:
        self._sure += len(events)
        if not self._secret:
            self._add(events)

    def _conceal(self) -> None:
        redactor, count = self._streams.redactor, len(self)
        if redactor is None or count < self._due:
            return
        self._due = count + 1 if count < _EACH else count * 5 // 4
        decode = encodings.decoder(self._attempt.headers.get("content-encoding", ""))
        sure = b"".join([decode(chunk) for _, chunk in self])[: self._sure]
        self._streams.replace(self._number, b"".join(concealment.conceal(redactor, [sure])))
