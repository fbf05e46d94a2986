"""Logs of Inspect: an evaluation's samples, each a conversation; `.eval` (a zip) or `.json`.

What a sample's events tell of model calls (usage, time) goes to the messages they gave; scores become
facts about the last message.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lctl.errors import NotImportable
from lctl.importing.draft import Call, Draft
from lctl.importing.source import Source
from lctl.importing.values import as_json, dicts, function_call, items, mapping, text, tokens, whole, without

_ATTACHED = "attachment://"


def sees(source: Source) -> str:
    if "header.json" in source.entries or "_journal/start.json" in source.entries:
        return "an archive of samples with header.json"
    whole = mapping(source.document)
    return "eval and samples" if "eval" in whole and "samples" in whole else ""


def read(source: Source, draft: Draft) -> None:
    header = _header(source)
    about = mapping(header.get("eval"))
    draft.about["eval"] = {
        key: about[key] for key in ("task", "task_id", "run_id", "model", "created") if key in about
    }
    samples = list(_samples(source))
    if not samples:
        raise NotImportable(f"{source.name}: an Inspect log without samples")
    for place, sample in samples:
        name = f"{sample.get('id')}_epoch_{sample.get('epoch', 1)}"
        _Sample(draft, place, sample, None if len(samples) == 1 else name, text(about.get("model"))).read()


def _header(source: Source) -> dict[str, Any]:
    for name in ("header.json", "_journal/start.json"):
        if name in source.entries:
            return mapping(source.entry(name))
    return mapping(source.document)


def _samples(source: Source) -> Iterator[tuple[str, dict[str, Any]]]:
    if source.entries:
        names = [name for name in source.entries if name.startswith("samples/") and name.endswith(".json")]
        for name in sorted(names, key=lambda name: (len(name), name)):
            yield name, mapping(source.entry(name))
    else:
        for n, sample in enumerate(dicts(mapping(source.document).get("samples")), 1):
            yield f"sample {n}", sample


class _Sample:
    def __init__(
        self, draft: Draft, where: str, sample: dict[str, Any], name: str | None, model: str
    ) -> None:
        self._draft, self._where, self._sample, self._name, self._model = draft, where, sample, name, model
        self._attached = mapping(sample.get("attachments"))
        self._calls = [
            event
            for event in dicts(sample.get("events"))
            if event.get("event") == "model" and event.get("output")
        ]
        self._used = 0
        self._failed = [
            event
            for event in dicts(sample.get("events"))
            if event.get("event") == "model" and text(event.get("error"))
        ]
        self._calls = [event for event in self._calls if event not in self._failed]

    def read(self) -> None:
        parent: str | None = None
        for n, own in enumerate(dicts(self._sample.get("messages")), 1):
            parent = self._message(n, own, parent)
        if self._used < len(self._calls):
            self._draft.lose(
                "model call whose answer is in no message (a grader's, or replaced)", self._where,
                count=len(self._calls) - self._used,
            )  # fmt: skip
        if parent is not None:
            self._fail(parent)
            self._scores(parent)
        else:
            self._draft.lose("sample without messages", self._where)

    def _message(self, n: int, own: dict[str, Any], parent: str | None) -> str:
        prefix = "" if self._name is None else f"{self._name}/"
        id = prefix + (text(own.get("id")) or f"m{n}")
        role = text(own.get("role"))
        message: dict[str, Any] = {"role": role, "content": self._resolved(own.get("content"))}
        details = without(own, "role", "content", "tool_calls", "tool_call_id", "id")
        if dicts(own.get("tool_calls")):
            message["tool_calls"] = [
                function_call(
                    text(call.get("id")), text(call.get("function")), self._resolved(call.get("arguments"))
                )
                for call in dicts(own["tool_calls"])
            ]
            details["tool_calls"] = own["tool_calls"]
        if role == "tool":
            message["tool_call_id"] = own.get("tool_call_id")
            if own.get("function"):
                message["name"] = own["function"]
            if own.get("error"):
                message["is_error"] = True
        if parent is None:
            details["sample"] = {
                key: self._sample[key] for key in ("id", "epoch", "target") if key in self._sample
            }
        call, at = self._call(own) if role == "assistant" else (None, None)
        self._draft.add(
            id, message, parent, at=at, call=call, conversation=self._name, details=details,
            where=f"{self._where}, message {n}",
        )  # fmt: skip
        return id

    def _call(self, own: dict[str, Any]) -> tuple[Call | None, Any]:
        """The model call that gave a message (by its id, else by what it says), and its time."""
        for n in range(self._used, len(self._calls)):
            event = self._calls[n]
            output = mapping(event["output"])
            for choice in dicts(output.get("choices")):
                if self._is(mapping(choice.get("message")), own):
                    self._used = n + 1
                    return self._told(event, output, choice), event.get("completed") or event.get("timestamp")
        if own.get("source") == "generate":
            return Call(model=text(own.get("model")) or self._model or None), None
        return None, None

    def _is(self, answer: dict[str, Any], own: dict[str, Any]) -> bool:
        if answer.get("id") and own.get("id"):
            return bool(answer["id"] == own["id"])
        same = self._resolved(answer.get("content")) == self._resolved(own.get("content"))
        return same and len(items(answer.get("tool_calls"))) == len(items(own.get("tool_calls")))

    def _told(self, event: dict[str, Any], output: dict[str, Any], choice: dict[str, Any]) -> Call:
        usage = mapping(output.get("usage"))
        seconds = output.get("time")
        return Call(
            model=text(output.get("model")) or text(event.get("model")) or None,
            provider=text(event.get("model")).partition("/")[0] or None,
            tokens=tokens(
                input=_all_read(usage),
                output=usage.get("output_tokens"),
                cache_read=usage.get("input_tokens_cache_read"),
                cache_write=usage.get("input_tokens_cache_write"),
                reasoning=usage.get("reasoning_tokens"),
            ),
            finish_reason=text(choice.get("stop_reason")) or None,
            duration_ms=round(seconds * 1000, 3)
            if isinstance(seconds, int | float) and seconds >= 0
            else None,
            params=without(mapping(event.get("config"))) or None,
        )

    def _fail(self, last: str) -> None:
        """Its model calls that failed, below what had been said when the sample ended."""
        for event in self._failed:
            model = text(event.get("model"))
            provider, _, name = model.rpartition("/")
            call = Call(
                model=name, provider=provider.partition("/")[0] or None, error=self._resolved(event["error"])
            )
            self._draft.fail(last, call, at=event.get("completed") or event.get("timestamp"))

    def _scores(self, last: str) -> None:
        for name, score in mapping(self._sample.get("scores")).items():
            told = mapping(score)
            value = told.get("value")
            id = f"score:{self._name}:{name}" if self._name else f"score:{name}"
            words = f"{name}: {as_json(value)}"
            if isinstance(told.get("explanation"), str) and told["explanation"]:
                words += f" ({self._resolved(told['explanation'])})"
            self._draft.fact(id, words, last, value=value, source="inspect")

    def _resolved(self, value: Any) -> Any:
        """The value with attachments in their place."""
        if isinstance(value, str):
            if not value.startswith(_ATTACHED):
                return value
            key = value[len(_ATTACHED) :]
            if key not in self._attached:
                self._draft.lose("attachment that is not in the log", self._where)
            return self._attached.get(key, value)
        if isinstance(value, list):
            return [self._resolved(one) for one in value]
        if isinstance(value, dict):
            return {key: self._resolved(one) for key, one in value.items()}
        return value


def _all_read(usage: dict[str, Any]) -> Any:
    """Tokens of the prompt with those of a cache, which Inspect counts beside them: the total says so."""
    read = usage.get("input_tokens")
    cached = whole(usage.get("input_tokens_cache_read")) + whole(usage.get("input_tokens_cache_write"))
    is_beside = whole(read) + whole(usage.get("output_tokens")) + cached == usage.get("total_tokens")
    return whole(read) + cached if cached and is_beside else read
