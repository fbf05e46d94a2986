"""What a fork changes: of requests, answers, tools."""
