"""boto3 and botocore: one logical call above botocore's retries, for what asks a model.

What was asked and answered is read on the wire, below botocore's session: its HTTP is urllib3's.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any
from urllib.parse import quote

from lctl.instrument.patches import PatchSet, Wrapper
from lctl.instrument.sdks import logical_call

#: Services, and the operations of them that ask a model -> end of their path.
_SERVICES = frozenset({"bedrock-runtime", "bedrock-agent-runtime"})
_OPERATIONS = {
    "Converse": "converse",
    "ConverseStream": "converse-stream",
    "InvokeModel": "invoke",
    "InvokeModelWithResponseStream": "invoke-with-response-stream",
    "InvokeAgent": "text",
    "InvokeInlineAgent": "",
}


class Botocore:
    """botocore 1.34 and later, and with it boto3."""

    name = "botocore"
    supported = ">=1.34,<2"
    modules = ("botocore.client",)

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        patches.wrap(module, "BaseClient._make_api_call", _of_models(logical_call(_describe)))


def _of_models(call: Wrapper) -> Wrapper:
    """Every service's calls pass here; all others' just run."""

    def wrapper(wrapped: Any, client: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        name = args[0] if args else kwargs.get("operation_name")
        if name not in _OPERATIONS or client.meta.service_model.service_name not in _SERVICES:
            return wrapped(*args, **kwargs)
        return call(wrapped, client, args, kwargs)

    return wrapper


def _describe(client: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, str] | None:
    name = args[0] if args else kwargs["operation_name"]
    given = args[1] if len(args) > 1 else kwargs.get("api_params")
    if not isinstance(given, dict):
        return None
    if name == "InvokeInlineAgent":
        return "POST", f"{client.meta.endpoint_url}/agents/{_quoted(given, 'sessionId')}"
    if name == "InvokeAgent":
        of = f"agents/{_quoted(given, 'agentId')}/agentAliases/{_quoted(given, 'agentAliasId')}"
        at = f"sessions/{_quoted(given, 'sessionId')}/{_OPERATIONS[name]}"
        return "POST", f"{client.meta.endpoint_url}/{of}/{at}"
    model = given.get("modelId")
    if not isinstance(model, str):
        return None
    return "POST", f"{client.meta.endpoint_url}/model/{quote(model, safe='')}/{_OPERATIONS[name]}"


def _quoted(given: dict[str, Any], name: str) -> str:
    return quote(str(given.get(name)), safe="")
