"""Sessions of the Codex CLI: JSON Lines of `{timestamp, type, payload}`, the items of OpenAI's Responses API.

What the model gave without a tool's result between is one answer. Its tokens are told by the `token_count`
after it. Events that repeat items for the screen are passed over. A compaction begins anew, with its summary.
Turns that were rolled back are a branch: what follows goes on from before them.
"""

from __future__ import annotations

from typing import Any

from lctl.conversation.items import assistant, group
from lctl.errors import NotImportable
from lctl.importing.draft import Call, Draft
from lctl.importing.source import Row, Source
from lctl.importing.values import dicts, mapping, text, tokens, without

_MARKS = frozenset({"session_meta", "response_item"})
#: Events that say what an item says, too, or how the screen was drawn.
_REPEATED = frozenset(
    {
        "agent_message",
        "agent_reasoning",
        "agent_reasoning_raw_content",
        "agent_reasoning_section_break",
        "task_started",
        "task_complete",
        "turn_started",
        "turn_complete",
        "context_compacted",
        "token_count",
    }
)
_PROVIDERS = {"openai": "openai", "azure": "azure"}


def sees(source: Source) -> str:
    kinds = {
        text(row.value.get("type")) for row in source.rows[:20] if isinstance(row.value.get("payload"), dict)
    }
    if kinds & _MARKS:
        return "rows with type and payload, as Codex writes them"
    return ""


def read(source: Source, draft: Draft) -> None:
    if not any(isinstance(row.value.get("payload"), dict) for row in source.rows):
        raise NotImportable(f"{source.name}: no rows with a type and a payload, as Codex writes them")
    draft.agent = "codex"
    reading = _Items(draft)
    for row in source.rows:
        reading.take(row)
    reading.end()


class _Items:
    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._leaf: str | None = None
        self._answer: list[Row] = []  # items of the answer that is being read
        self._call: Call | None = None  # of the newest answer, until its tokens are told
        self._model: str | None = None
        self._provider: str | None = None
        self._turns: list[str | None] = []  # what was the leaf before each of the user's turns

    def take(self, row: Row) -> None:
        payload = mapping(row.value.get("payload"))
        match text(row.value.get("type")):
            case "session_meta":
                self._session(payload)
            case "turn_context":
                self._model = text(payload.get("model")) or self._model
            case "response_item":
                self._item(row, payload)
            case "event_msg":
                self._event(row, payload)
            case "compacted":
                self._compacted(row, payload)
            case kind:
                self._draft.lose(f"{kind or 'untyped'} row: no message", row.where)

    def _session(self, payload: dict[str, Any]) -> None:
        self._draft.about.setdefault("session", without(payload, "instructions", "base_instructions"))
        self._provider = text(payload.get("model_provider")) or self._provider
        if payload.get("instructions") or payload.get("base_instructions"):
            self._draft.about["session"]["instructions"] = payload.get("instructions") or mapping(
                payload.get("base_instructions")
            ).get("text")

    def _compacted(self, row: Row, payload: dict[str, Any]) -> None:
        """What the model reads from here on: the items that were kept, else the summary alone."""
        self.end()
        self._leaf = None
        self._turns.clear()
        kept = dicts(payload.get("replacement_history"))
        for message in group(kept)[0] if kept else [{"role": "user", "content": payload.get("message")}]:
            self._add(row, message, {"compacted": True})

    def _item(self, row: Row, item: dict[str, Any]) -> None:
        kind = text(item.get("type"))
        if kind == "message" and item.get("role") != "assistant":
            self.end()
            self._add(row, {"role": text(item.get("role")) or "user", "content": item.get("content")})
        elif kind.endswith("_output"):
            self.end()
            self._add(row, group([item])[0][0])
        elif kind in ("message", "reasoning") or kind.endswith("_call"):
            self._answer.append(row)
        else:
            self._draft.lose(f"{kind or 'untyped'} item: no message", row.where)

    def _event(self, row: Row, payload: dict[str, Any]) -> None:
        kind = text(payload.get("type"))
        if kind == "token_count":
            self.end()
            used = mapping(mapping(payload.get("info")).get("last_token_usage"))
            if self._call is not None and used:
                self._call.tokens = tokens(
                    input=used.get("input_tokens"),
                    output=used.get("output_tokens"),
                    cache_read=used.get("cached_input_tokens"),
                    reasoning=used.get("reasoning_output_tokens"),
                )
                self._call = None
        elif kind == "user_message":
            self._turn()
        elif kind == "thread_rolled_back":
            self._roll_back(row, payload.get("num_turns"))
        elif kind not in _REPEATED:
            self._draft.lose(f"{kind or 'untyped'} event: no message", row.where)

    def _turn(self) -> None:
        """The user's message that was told last begins a turn; what the program says as the user does not."""
        leaf = self._leaf
        if leaf is not None and self._draft.message(leaf).message["role"] == "user":
            self._turns.append(self._draft.message(leaf).parent)

    def _roll_back(self, row: Row, count: object) -> None:
        self.end()
        if not isinstance(count, int) or not 0 < count <= len(self._turns):
            self._draft.lose("rollback of turns that are not in the file", row.where)
            return
        self._leaf = self._turns[-count]
        del self._turns[-count:]

    def end(self) -> None:
        """The answer is whole: something else follows it."""
        if not self._answer:
            return
        rows, self._answer = self._answer, []
        items = [mapping(row.value.get("payload")) for row in rows]
        self._call = Call(
            model=self._model, provider=_PROVIDERS.get(self._provider or "openai", self._provider)
        )
        self._add(rows[-1], assistant(items), call=self._call)

    def _add(
        self,
        row: Row,
        message: dict[str, Any],
        details: dict[str, Any] | None = None,
        call: Call | None = None,
    ) -> None:
        id = f"m{len(self._draft) + 1}"
        self._draft.add(
            id,
            message,
            self._leaf,
            at=row.value.get("timestamp"),
            call=call,
            details=details,
            where=row.where,
        )
        self._leaf = id
