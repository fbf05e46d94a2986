"""What codecs have in common whose requests are one JSON document, and whose answers are read as one body."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from lctl.instrument.codecs.bodies import read_error_body, read_object
from lctl.instrument.codecs.model import ModelAnswer, ModelRequest


class DocumentCodec(ABC):
    """Reads a request by `read_document`, an answer by `read_body`, a refusal (status 400 and up) by
    `read_refusal`."""

    def conversation_key(self, operation: str) -> str | None:
        return None

    def read_request(self, operation: str, url: str, body: bytes) -> ModelRequest:
        return self.read_document(operation, url, read_object(body))

    @abstractmethod
    def read_document(self, operation: str, url: str, document: dict[str, Any]) -> ModelRequest: ...

    def read_answer(
        self, operation: str, status: int, headers: Mapping[str, str], chunks: Sequence[bytes]
    ) -> ModelAnswer:
        body = b"".join(chunks)
        if status >= 400:
            return ModelAnswer(error=self.read_refusal(status, headers, body))
        return self.read_body(operation, status, headers, body)

    def read_refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
        return read_error_body(status, body)

    @abstractmethod
    def read_body(
        self, operation: str, status: int, headers: Mapping[str, str], body: bytes
    ) -> ModelAnswer: ...
