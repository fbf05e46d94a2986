from claude_agent_sdk import ClaudeAgentOptions

from lctl.claude import traced_task

result = traced_task(
    subagent_type="explore", prompt="Find auth files", options=ClaudeAgentOptions(cli_path="./claude")
)
print(result)
