"""Model calls LangChain's callbacks tell of: recorded if no wire tells of them. Imports langchain-core."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from langchain_core.callbacks.base import BaseCallbackHandler  # pyright: ignore[reportMissingImports]

from lctl.instrument.structure import ModelCall, guarded
from lctl.session import LCTLSession
from lctl_integrations import langchain_values as values
from lctl_integrations.langchain_runs import runs

#: Those that have begun and not ended, by run.
calls: dict[UUID, ModelCall] = {}


class ModelCallbacks(BaseCallbackHandler):
    """What a handler is told of models."""

    _session: LCTLSession | None

    @guarded("LangChain's on_chat_model_start")
    def on_chat_model_start(
        self,
        serialized: dict[str, Any] | None,
        messages: list[list[Any]],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        metadata: dict[str, Any] | None = None,
        **more: Any,
    ) -> None:
        prompt = messages[0] if messages else []
        self._begin_call(
            run_id, parent_run_id, metadata, serialized, more, lambda: [values.message(one) for one in prompt]
        )

    @guarded("LangChain's on_llm_start")
    def on_llm_start(
        self,
        serialized: dict[str, Any] | None,
        prompts: list[str],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        metadata: dict[str, Any] | None = None,
        **more: Any,
    ) -> None:
        prompt = prompts[0] if prompts else ""
        self._begin_call(run_id, parent_run_id, metadata, serialized, more, prompt)

    def _begin_call(
        self,
        run_id: UUID,
        parent_run_id: UUID | None,
        metadata: dict[str, Any] | None,
        serialized: dict[str, Any] | None,
        more: dict[str, Any],
        prompt: Any,
    ) -> None:
        if run_id in calls:
            return
        meta = metadata or {}
        model = meta.get("ls_model_name") or (more.get("invocation_params") or {}).get("model")
        model = model or next(reversed((serialized or {}).get("id") or ["unknown"]))
        frame = runs.frame(parent_run_id)
        if frame is None and self._session is not None:
            runs.begin(run_id, kind="chain", intent=str(more.get("name") or "model"), session=self._session)
            frame = runs.frame(run_id)
        calls[run_id] = ModelCall.begin(
            str(model),
            prompt,
            frame=frame,
            provider=meta.get("ls_provider"),
        )

    @guarded("LangChain's on_llm_end")
    def on_llm_end(self, response: Any, *, run_id: UUID, **more: Any) -> None:
        call = calls.pop(run_id, None)
        if call is not None:
            generation = next((one for some in response.generations for one in some), None)
            answer = getattr(generation, "message", None)
            usage = getattr(answer, "usage_metadata", None) or {}
            cached: dict[str, Any] = {"cached": True} if usage.get("total_cost") == 0 else {}

            def said() -> Any:
                return getattr(generation, "text", None) if answer is None else values.message(answer)

            call.end(said, usage=None if cached else usage, **cached)
        runs.end(run_id)

    @guarded("LangChain's on_llm_error")
    def on_llm_error(self, error: BaseException, *, run_id: UUID, **more: Any) -> None:
        call = calls.pop(run_id, None)
        if call is not None:
            call.end(error=error)
        runs.end(run_id)
