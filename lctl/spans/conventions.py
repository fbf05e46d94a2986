"""Every name that spans, events and metrics go by: the one table.

What is written are the names of the repository open-telemetry/semantic-conventions-genai (autumn 2026);
`ALSO` are those of the last release, written beside them because back ends still look for them. `READ` are
the names under which other writers keep the same: earlier conventions, OpenInference, OpenLLMetry, Vercel's
AI SDK, Logfire.
"""

from __future__ import annotations

SCHEMA_URL = "https://opentelemetry.io/schemas/1.41.0"
SCOPE = "lctl"

OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
CONVERSATION = "gen_ai.conversation.id"
REQUEST_MODEL = "gen_ai.request.model"
REQUEST_STREAM = "gen_ai.request.stream"
RESPONSE_MODEL = "gen_ai.response.model"
RESPONSE_ID = "gen_ai.response.id"
FINISH_REASONS = "gen_ai.response.finish_reasons"
FIRST_CHUNK = "gen_ai.response.time_to_first_chunk"
#: OpenInference's moment of a span.
FIRST_EVENT = "First Token Stream Event"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
CACHE_READ = "gen_ai.usage.cache_read.input_tokens"
CACHE_WRITE = "gen_ai.usage.cache_write.input_tokens"
REASONING = "gen_ai.usage.reasoning.output_tokens"
SYSTEM_INSTRUCTIONS = "gen_ai.system_instructions"
INPUT_MESSAGES = "gen_ai.input.messages"
OUTPUT_MESSAGES = "gen_ai.output.messages"
TOOL_DEFINITIONS = "gen_ai.tool.definitions"
TOOL_NAME = "gen_ai.tool.name"
TOOL_TYPE = "gen_ai.tool.type"
TOOL_CALL_ID = "gen_ai.tool.call.id"
TOOL_ARGUMENTS = "gen_ai.tool.call.arguments"
TOOL_RESULT = "gen_ai.tool.call.result"
AGENT_NAME = "gen_ai.agent.name"
WORKFLOW_NAME = "gen_ai.workflow.name"
EMBEDDING_DIMENSIONS = "gen_ai.embeddings.dimension.count"
QUERY = "gen_ai.retrieval.query.text"
TOKEN_TYPE = "gen_ai.token.type"
TOKEN_MODALITY = "gen_ai.token.modality"
ERROR_TYPE = "error.type"
SERVER_ADDRESS = "server.address"
SERVER_PORT = "server.port"
EXCEPTION = "exception"
EXCEPTION_TYPE = "exception.type"
EXCEPTION_MESSAGE = "exception.message"

#: Newest name -> that of the last release.
ALSO = {CACHE_WRITE: "gen_ai.usage.cache_creation.input_tokens"}

#: Events, as log records.
DETAILS_EVENT = "gen_ai.client.inference.operation.details"
EXCEPTION_EVENT = "gen_ai.client.operation.exception"

#: Attributes whose value says what was said; left out where content is not to leave the machine.
CONTENT = frozenset(
    {
        SYSTEM_INSTRUCTIONS,
        INPUT_MESSAGES,
        OUTPUT_MESSAGES,
        TOOL_DEFINITIONS,
        TOOL_ARGUMENTS,
        TOOL_RESULT,
        QUERY,
    }
)

#: Ours, for what the conventions have no word for.
CHAIN = "lctl.chain"
SEQ = "lctl.seq"
END_SEQ = "lctl.end_seq"
AGENT = "lctl.agent"
KIND = "lctl.kind"
INTENT = "lctl.intent"
LCTL_OPERATION = "lctl.operation"
OUTCOME = "lctl.outcome"
OPEN = "lctl.open"
INHERITED = "lctl.inherited"
DERIVED = "lctl.derived"
START_MORE = "lctl.start"
END_MORE = "lctl.end"
DATA = "lctl.data"
PARENT_CHAIN = "lctl.parent.chain"
PARENT_SEQ = "lctl.parent.seq"
RELATION = "lctl.relation"
#: Of a span made from a peer's export: (read, given), as messages of a provider's dialect.
MESSAGES = "lctl.messages"
DETAIL_KEYS = frozenset({START_MORE, END_MORE, DATA})

#: Parameter of a request -> its attribute, and the type it must have.
PARAMS: dict[str, tuple[str, type]] = {
    "temperature": ("gen_ai.request.temperature", float),
    "top_p": ("gen_ai.request.top_p", float),
    "top_k": ("gen_ai.request.top_k", float),
    "frequency_penalty": ("gen_ai.request.frequency_penalty", float),
    "presence_penalty": ("gen_ai.request.presence_penalty", float),
    "max_tokens": ("gen_ai.request.max_tokens", int),
    "max_completion_tokens": ("gen_ai.request.max_tokens", int),
    "max_output_tokens": ("gen_ai.request.max_tokens", int),
    "seed": ("gen_ai.request.seed", int),
    "n": ("gen_ai.request.choice.count", int),
    "stop": ("gen_ai.request.stop_sequences", list),
    "stop_sequences": ("gen_ai.request.stop_sequences", list),
    "previous_response_id": ("gen_ai.request.previous_response.id", str),
    "reasoning_effort": ("gen_ai.request.reasoning.level", str),
}

#: A step's kind -> `gen_ai.operation.name`. A kind that is not here has none.
OPERATIONS = {
    "llm": "chat",
    "embedding": "embeddings",
    "tool": "execute_tool",
    "agent": "invoke_agent",
    "retriever": "retrieval",
    "chain": "invoke_workflow",
    "workflow": "invoke_workflow",
    "plan": "plan",
}
#: A model call's operation, as its API calls it -> `gen_ai.operation.name`.
CALLS = {
    "completions": "text_completion",
    "embeddings": "embeddings",
    "generateContent": "generate_content",
    "generate_content": "generate_content",
}
#: `gen_ai.operation.name` -> a step's kind.
KINDS = {
    "chat": "llm",
    "text_completion": "llm",
    "generate_content": "llm",
    "embeddings": "embedding",
    "execute_tool": "tool",
    "invoke_agent": "agent",
    "create_agent": "agent",
    "retrieval": "retriever",
    "invoke_workflow": "chain",
    "plan": "plan",
}
#: A provider, as lctl calls it -> its well-known name in the conventions.
PROVIDERS = {
    "aws": "aws.bedrock",
    "bedrock": "aws.bedrock",
    "azure": "azure.ai.openai",
    "google": "gcp.gen_ai",
    "mistral": "mistral_ai",
    "x-ai": "x_ai",
    "moonshotai": "moonshot_ai",
}
#: And back, whichever of a provider's names is met.
OUR_PROVIDERS = {
    **{theirs: ours for ours, theirs in PROVIDERS.items() if ours != "bedrock"},
    "azure.ai.inference": "azure",
    "az.ai.openai": "azure",
    "az.ai.inference": "azure",
    "gcp.gemini": "google",
    "gcp.vertex_ai": "google",
    "vertexai": "google",
    "gemini": "google",
    "mistralai": "mistral",
    "xai": "x-ai",
    "amazon_bedrock": "aws",
}

#: What a span says of a call -> the attributes it may stand in, the first that is there counts.
READ: dict[str, tuple[str, ...]] = {
    "model": (RESPONSE_MODEL, "llm.response.model_name", "ai.response.model", "llm.model_name",
              REQUEST_MODEL, "embedding.model_name", "ai.model.id", "llm.request.model"),
    "request_model": (REQUEST_MODEL, "llm.model_name", "embedding.model_name", "ai.model.id",
                      "llm.request.model"),
    "provider": (PROVIDER, "gen_ai.system", "llm.provider", "llm.system", "ai.model.provider"),
    "finish_reason": (FINISH_REASONS, "llm.finish_reason", "ai.response.finishReason",
                      "gen_ai.completion.0.finish_reason", "llm.response.finish_reason"),
    "response_id": (RESPONSE_ID, "ai.response.id", "llm.response.id"),
    "input": (INPUT_TOKENS, "llm.token_count.prompt", "ai.usage.promptTokens", "ai.usage.inputTokens",
              "gen_ai.usage.prompt_tokens", "llm.usage.prompt_tokens"),
    "output": (OUTPUT_TOKENS, "llm.token_count.completion", "ai.usage.completionTokens",
               "ai.usage.outputTokens", "gen_ai.usage.completion_tokens", "llm.usage.completion_tokens"),
    "cache_read": (CACHE_READ, "gen_ai.usage.cache_read_input_tokens",
                   "llm.token_count.prompt_details.cache_read", "ai.usage.cachedInputTokens"),
    "cache_write": (CACHE_WRITE, ALSO[CACHE_WRITE], "gen_ai.usage.cache_creation_input_tokens",
                    "llm.token_count.prompt_details.cache_write"),
    "reasoning": (REASONING, "gen_ai.usage.reasoning_tokens", "gen_ai.usage.details.reasoning_tokens",
                  "llm.token_count.completion_details.reasoning", "ai.usage.reasoningTokens"),
    "input_audio": ("llm.token_count.prompt_details.audio",),
    "output_audio": ("llm.token_count.completion_details.audio",),
    "tool": (TOOL_NAME, "tool.name", "ai.toolCall.name", "traceloop.entity.name", "name"),
    "call_id": (TOOL_CALL_ID, "tool_call.id", "tool.id", "ai.toolCall.id"),
    "tool_input": (TOOL_ARGUMENTS, "tool_arguments", "input.value", "tool.parameters",
                   "traceloop.entity.input", "ai.toolCall.args"),
    "tool_output": (TOOL_RESULT, "tool_response", "output.value", "traceloop.entity.output",
                    "ai.toolCall.result"),
    "agent": (AGENT_NAME, "agent.name", "agent_name", "traceloop.agent.name", "graph.node.id"),
    "conversation": (CONVERSATION, "session.id", "traceloop.association.properties.session_id"),
    "cost": ("llm.cost.total", "operation.cost", "gen_ai.usage.cost"),
    "first_token": ("gen_ai.server.time_to_first_token",),  # OpenLIT: also of answers that are no streams
    "stream": (REQUEST_STREAM, "gen_ai.is_streaming", "llm.is_streaming"),
    "work_input": ("input.value", "traceloop.entity.input", "raw_input", "lctl.input"),
    "work_output": ("output.value", "traceloop.entity.output", "final_result", "lctl.output"),
}  # fmt: skip

#: Instruments: name -> (kind, unit, what it measures, bounds of its buckets).
SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
TOKENS = tuple(4**n for n in range(14))
INSTRUMENTS: dict[str, tuple[str, str, str, tuple[float, ...]]] = {
    "gen_ai.client.inference.duration": ("histogram", "s", "Duration of a model call", SECONDS),
    "gen_ai.client.inference.time_to_first_chunk": ("histogram", "s", "Time to the first chunk", SECONDS),
    "gen_ai.client.inference.usage.input_tokens": ("counter", "{token}", "Tokens read", ()),
    "gen_ai.client.inference.usage.output_tokens": ("counter", "{token}", "Tokens written", ()),
    "gen_ai.client.inference.usage.cache_read.input_tokens": (
        "counter",
        "{token}",
        "Tokens read from cache",
        (),
    ),
    "gen_ai.client.inference.usage.cache_write.input_tokens": (
        "counter",
        "{token}",
        "Tokens put into cache",
        (),
    ),
    "gen_ai.client.inference.usage.reasoning.output_tokens": (
        "counter",
        "{token}",
        "Tokens of reasoning",
        (),
    ),
    "gen_ai.client.inference.operation.input_tokens": (
        "histogram",
        "{token}",
        "Tokens read by a call",
        TOKENS,
    ),
    "gen_ai.client.inference.operation.output_tokens": (
        "histogram",
        "{token}",
        "Tokens a call wrote",
        TOKENS,
    ),
    "gen_ai.client.operation.duration": ("histogram", "s", "GenAI operation duration", SECONDS),
    "gen_ai.client.token.usage": ("histogram", "{token}", "Number of input and output tokens used", TOKENS),
    "gen_ai.invoke_agent.duration": ("histogram", "s", "Duration of an agent's step", SECONDS),
    "gen_ai.execute_tool.duration": ("histogram", "s", "Duration of a tool's run", SECONDS),
    "gen_ai.invoke_workflow.duration": ("histogram", "s", "Duration of a workflow", SECONDS),
}
