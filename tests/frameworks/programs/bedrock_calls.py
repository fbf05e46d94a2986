"""boto3: a tool loop by converse, streams of events, an answer left early, InvokeModel, retries that fail."""

import json

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

MODEL = "us.anthropic.claude-sonnet-4-20250514-v1:0"
PROFILE = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123"
schema = {"type": "object", "properties": {"city": {"type": "string"}}}
spec = {"name": "weather", "description": "The weather", "inputSchema": {"json": schema}}
tools = {"tools": [{"toolSpec": spec}]}
anthropic = {"anthropic_version": "bedrock-2023-05-31", "max_tokens": 99, "system": "Be brief."}


def user(*content):
    return {"role": "user", "content": list(content)}


def result(use):
    text = f"sunny in {use['input']['city']}"
    return {"toolResult": {"toolUseId": use["toolUseId"], "content": [{"text": text}]}}


def named(value):
    """Without what the server makes up."""
    if isinstance(value, dict):
        return {k: named(v) for k, v in value.items() if k not in ("toolUseId", "id", "created")}
    return [named(one) for one in value] if isinstance(value, list | tuple) else value


def conversed(client):
    messages = [user({"text": "Weather in Rome?"})]
    while True:
        answer = client.converse(
            modelId=MODEL, messages=messages, system=[{"text": "Be brief."}], toolConfig=tools
        )
        message = answer["output"]["message"]
        messages.append(message)
        yield message, answer["stopReason"], answer["usage"]
        uses = [part["toolUse"] for part in message["content"] if "toolUse" in part]
        if not uses:
            return
        messages.append(user(*map(result, uses)))


def streamed(client):
    for prompt in ("Tell me a story", "Stream the weather"):
        answer = client.converse_stream(modelId=MODEL, messages=[user({"text": prompt})], toolConfig=tools)
        yield list(answer["stream"])
    answer = client.converse_stream(modelId=MODEL, messages=[user({"text": "Another story"})])
    yield next(iter(answer["stream"]))
    answer["stream"].close()


def invoked(client, model, **body):
    whole = client.invoke_model(modelId=model, body=json.dumps(body))
    answer = json.loads(whole["body"].read())
    stream = client.invoke_model_with_response_stream(modelId=model, body=json.dumps(body))
    events = [json.loads(event["chunk"]["bytes"]) for event in stream["body"]]
    return answer.get("stop_reason"), answer.get("usage"), len(events), events[-1]


def failed(client):
    try:
        client.converse(modelId=MODEL, messages=[user({"text": "Overload"})])
    except ClientError as error:
        about = error.response["ResponseMetadata"]
        return type(error).__name__, about["HTTPStatusCode"], about["RetryAttempts"]


def main():
    client = boto3.client("bedrock-runtime", config=Config(retries={"total_max_attempts": 2}))
    told = named([*conversed(client), *streamed(client)])
    for model in ("anthropic.claude-sonnet-4-20250514-v1:0", PROFILE):
        told.append(invoked(client, model, messages=[{"role": "user", "content": "Say hello"}], **anthropic))
    told.append(invoked(client, "meta.llama3-70b-instruct-v1:0", prompt="Say hello"))
    chat = [{"role": "user", "content": "Say hello"}]
    told.append(invoked(client, "qwen.qwen3-32b-v1:0", messages=chat, max_tokens=99)[2])
    return [*told, failed(client)]


if __name__ == "__main__":
    print(json.dumps(main()))
