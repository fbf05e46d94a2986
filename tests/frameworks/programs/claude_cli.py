"""Speaks the JSON-lines protocol of the Claude Code CLI, as far as the programs here ask for it.

By the prompt: "simple" is answered at once, "crash" fails, "die" ends the process, "garble" says what is no
JSON, "long" goes on until it is interrupted, "later" has a sub-agent that speaks when its call is answered,
"shaped" an answer of a given shape, "permission" asks for one, "both" calls two tools of the program's
at once; anything else is work: a tool with a hook, a sub-agent, a tool of the program's own. Each start is a
line in a file beside it.
"""

import json
import sys

with open(sys.argv[0] + ".starts", "a") as starts:
    starts.write("started\n")

MODEL = "claude-sonnet-4-5"
total = {"inputTokens": 0, "outputTokens": 0, "cacheReadInputTokens": 0, "cacheCreationInputTokens": 0}
hooks, queue = {}, []
asked, cost = 0, 0.0
partial = "--include-partial-messages" in sys.argv


def put(**message):
    sys.stdout.write(json.dumps({"session_id": "s1", **message}) + "\n")
    sys.stdout.flush()


def get():
    line = sys.stdin.readline()
    return json.loads(line) if line else None


def ask(**request):
    """A control request and its answer. What else arrives meanwhile waits."""
    global asked
    asked += 1
    put(type="control_request", request_id=f"cli_{asked}", request=request)
    while True:
        message = get()
        answer = message.get("response") or {}
        if message["type"] == "control_response" and answer["request_id"] == f"cli_{asked}":
            return answer
        queue.append(message)


def usage(output):
    return {
        "input_tokens": 10,
        "cache_read_input_tokens": 4,
        "cache_creation_input_tokens": 0,
        "output_tokens": output,
    }


def says(id, *content, parent=None):
    for name, count in (("inputTokens", 10), ("outputTokens", 7), ("cacheReadInputTokens", 4)):
        total[name] += count
    message = {
        "id": id,
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage(1),
    }
    about = {"uuid": id, "parent_tool_use_id": parent}
    if partial:
        put(
            type="stream_event",
            event={"type": "message_start", "message": {**message, "content": []}},
            **about,
        )
    for block in content:
        put(type="assistant", message={**message, "content": [block]}, **about)
    if partial:
        end = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage(7)}
        put(type="stream_event", event=end, **about)


def got(call, content, parent=None, **more):
    block = {"type": "tool_result", "tool_use_id": call, "content": content, **more}
    put(type="user", uuid="r" + call, parent_tool_use_id=parent, message={"role": "user", "content": [block]})


def use(id, name, **given):
    return {"type": "tool_use", "id": id, "name": name, "input": given}


def text(words):
    return {"type": "text", "text": words}


def mcp(**message):
    return ask(subtype="mcp_message", server_name="calc", message={"jsonrpc": "2.0", **message})


def hook(call, name, given):
    about = {"hook_event_name": "PreToolUse", "session_id": "s1", "transcript_path": "/t", "cwd": "/w"}
    about |= {"tool_name": name, "tool_input": given, "tool_use_id": call}
    for matcher in hooks.get("PreToolUse") or ():
        for callback in matcher["hookCallbackIds"]:
            answer = ask(subtype="hook_callback", callback_id=callback, tool_use_id=call, input=about)
            out = answer.get("response", {}).get("hookSpecificOutput", {})
            if out.get("permissionDecision") == "deny":
                return out["permissionDecisionReason"]
    return None


def work():
    thinking = {"type": "thinking", "thinking": "hm", "signature": "sig"}
    says("msg_1", thinking, use("t1", "Bash", command="ls"), use("t0", "Bash", command="rm -r /"))
    for call, given in (("t1", {"command": "ls"}), ("t0", {"command": "rm -r /"})):
        denied = hook(call, "Bash", given)
        got(call, denied or "a.txt", **({"is_error": True} if denied else {}))
    explore = {"subagent_type": "explorer", "description": "look around", "prompt": "find b"}
    says("msg_2", text("Delegating"), use("t2", "Task", **explore))
    says("msg_3", use("t3", "Grep", pattern="b"), parent="t2")
    got("t3", "b.py:1", parent="t2")
    says("msg_4", text("b is in b.py"), parent="t2")
    got("t2", [text("b is in b.py")])
    if "--mcp-config" not in sys.argv:
        return
    says("msg_5", use("t4", "mcp__calc__add", a=2, b=3))
    answer = mcp(id=7, method="tools/call", params={"name": "add", "arguments": {"a": 2, "b": 3}})
    got("t4", answer["response"]["mcp_response"]["result"]["content"])
    says("msg_6", text("The sum is 5"))


def at_once():
    calls = [("t6", {"a": 2, "b": 3}), ("t7", {"a": -1, "b": 3})]
    says("msg_b", *(use(call, "mcp__calc__add", **given) for call, given in calls))
    for number, (call, given) in enumerate(calls, 20):
        params = {"name": "add", "arguments": given, "_meta": {"claudecode/toolUseId": call}}
        message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
        request = {"subtype": "mcp_message", "server_name": "calc", "message": message}
        put(type="control_request", request_id=f"at_once_{number}", request=request)
    answers = {}
    while len(answers) < len(calls):
        answer = get()["response"]
        answers[answer["request_id"]] = answer["response"]["mcp_response"]["result"]
    for number, (call, _) in enumerate(calls, 20):
        result = answers[f"at_once_{number}"]
        got(call, result["content"], is_error=result.get("isError", False))
    says("msg_d", text("Both are there"))


def permission():
    given = {"command": "rm -r /"}
    says("msg_p", use("t5", "Bash", **given))
    answer = ask(subtype="can_use_tool", tool_name="Bash", input=given, tool_use_id="t5")
    response = answer.get("response", {})
    if answer["subtype"] == "error":
        got("t5", answer["error"], is_error=True)
    elif response["behavior"] == "deny":
        got("t5", response["message"], is_error=True)
    else:
        got("t5", "ran " + response["updatedInput"]["command"])
    says("msg_q", text("So be it"))


def until_interrupted():
    says("msg_l", text("Counting"))
    message = get()
    put(
        type="control_response",
        response={"subtype": "success", "request_id": message["request_id"], "response": {}},
    )
    put(
        type="user",
        message={"role": "user", "content": [text("[Request interrupted by user]")]},
        parent_tool_use_id=None,
    )


def later():
    says("msg_e", use("t8", "Task", subagent_type="writer", description="write", prompt="write a"))
    block = {"type": "tool_result", "tool_use_id": "t8", "content": "started"}
    message = {"role": "user", "content": [block]}
    told = {"isAsync": True, "status": "async_launched"}
    put(type="user", uuid="rt8", parent_tool_use_id=None, tool_use_result=told, message=message)
    says("msg_f", text("Written"), parent="t8")
    says("msg_g", text("It is being written"))
    about = {"task_id": "k1", "tool_use_id": "t8", "status": "completed", "output_file": "o", "summary": "s"}
    put(type="system", subtype="task_notification", uuid="n1", **about)


def turn(prompt):
    global cost
    cost += 0.25
    put(
        type="system",
        subtype="init",
        model=MODEL,
        tools=["Bash"],
        mcp_servers=[],
        cwd="/w",
        claude_code_version="2.1.0",
    )
    result = {
        "duration_ms": 50,
        "duration_api_ms": 40,
        "num_turns": 4,
        "total_cost_usd": cost,
        "usage": usage(21),
    }
    if "crash" in prompt:
        says("msg_c", text("I will fail"))
        put(
            type="result",
            subtype="error_during_execution",
            is_error=True,
            errors=["the roof is on fire"],
            **result,
        )
        sys.exit(1)
    if "die" in prompt:
        says("msg_x", text("I am going"))
        sys.exit(3)
    if "garble" in prompt:
        says("msg_y", text("I am confused"))
        sys.stdout.write("{not json\n")
    if "long" in prompt:
        until_interrupted()
    elif "later" in prompt:
        later()
    elif "shaped" in prompt:
        says("msg_h", text("Here"))
        result["structured_output"] = {"answer": 42}
    elif "permission" in prompt:
        permission()
    elif "both" in prompt:
        at_once()
    elif "simple" in prompt or "garble" in prompt:
        says(f"msg_s{cost}", text("Answer to " + prompt))
    else:
        work()
    put(
        type="result",
        subtype="success",
        is_error=False,
        result="done: " + prompt,
        modelUsage={MODEL: total},
        **result,
    )


def control(message):
    global hooks
    request = message["request"]
    answer = {"subtype": "success", "request_id": message["request_id"], "response": {"commands": []}}
    put(type="control_response", response=answer)
    if request["subtype"] == "initialize":
        hooks = request.get("hooks") or {}
        if "--mcp-config" in sys.argv:
            client = {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "f", "version": "1"},
            }
            mcp(id=1, method="initialize", params=client)
            mcp(method="notifications/initialized")
            mcp(id=2, method="tools/list")


while (message := queue.pop(0) if queue else get()) is not None:
    if message["type"] == "control_request":
        control(message)
    elif message["type"] == "user":
        turn(message["message"]["content"])
