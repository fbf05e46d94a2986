"""Models that give tool calls no ids: litellm draws them, and the results are told in the ids' order.

Recorded, and run again in a block: one process, as litellm takes its time to be imported.
"""

import os

import litellm

import lctl

litellm.suppress_debug_info = True
ollama = {"model": "ollama_chat/llama3.2", "api_base": os.environ["OLLAMA_HOST"]}
google = {
    "model": "gemini/gemini-2.5-flash",
    "api_base": os.environ["GOOGLE_GEMINI_BASE_URL"] + "/v1beta/models/gemini-2.5-flash",
    "api_key": "test",
}


def say(text):
    return [{"role": "user", "content": text}]


def whole(**options):
    calls = litellm.completion(messages=say("Which cities?"), **options).choices[0].message.tool_calls
    return {call.id: call.function.arguments for call in calls}


def streamed(**options):
    found = {}
    for chunk in litellm.completion(messages=say("Which cities?"), stream=True, **options):
        for call in chunk.choices[0].delta.tool_calls or ():
            found[call.id] = call.function.arguments
    return found


def main():
    said = []
    for options in (ollama, google):
        for ask in (whole, streamed):
            calls = ask(**options)
            told = " and ".join(calls[id] for id in sorted(calls))
            said.append(litellm.completion(messages=say(told), **options).choices[0].message.content)
    return said


main()  # what it asks Ollama about its models once
with lctl.LCTLSession("recorded", "recorded.lctl.json"):
    first = main()
with lctl.rerun("recorded.lctl.json", output="again.lctl.json") as again:
    second = main()
print(second == first, again.certificate.ok, again.certificate.unused)
