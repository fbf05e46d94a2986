"""boto3: a tool loop by converse, streams of events, an answer left early, retries that fail in the end."""

import boto3
from botocore.exceptions import ClientError

MODEL = "us.anthropic.claude-sonnet-4-20250514-v1:0"
schema = {"type": "object", "properties": {"city": {"type": "string"}}}
spec = {"name": "weather", "description": "The weather", "inputSchema": {"json": schema}}
tools = {"tools": [{"toolSpec": spec}]}
client = boto3.client("bedrock-runtime")


def user(*content):
    return {"role": "user", "content": list(content)}


def result(use):
    text = f"sunny in {use['input']['city']}"
    return {"toolResult": {"toolUseId": use["toolUseId"], "content": [{"text": text}]}}


messages = [user({"text": "Weather in Rome?"})]
while True:
    answer = client.converse(
        modelId=MODEL, messages=messages, system=[{"text": "Be brief."}], toolConfig=tools
    )
    message = answer["output"]["message"]
    messages.append(message)
    print(message, answer["stopReason"], answer["usage"])
    uses = [part["toolUse"] for part in message["content"] if "toolUse" in part]
    if not uses:
        break
    messages.append(user(*map(result, uses)))

for prompt in ("Tell me a story", "Stream the weather"):
    answer = client.converse_stream(modelId=MODEL, messages=[user({"text": prompt})], toolConfig=tools)
    for event in answer["stream"]:
        print(event)

answer = client.converse_stream(modelId=MODEL, messages=[user({"text": "Another story"})])
print(next(iter(answer["stream"])))
answer["stream"].close()

try:
    client.converse(modelId=MODEL, messages=[user({"text": "Overload"})])
except ClientError as error:
    about = error.response["ResponseMetadata"]
    print(type(error).__name__, about["HTTPStatusCode"], about["RetryAttempts"])
