"""A server whose tool fails for one amount; with mcp 1 and 2."""

try:
    from mcp.server.mcpserver import MCPServer as Server
except ImportError:
    from mcp.server.fastmcp import FastMCP as Server
from pathlib import Path

server = Server("shop", log_level="CRITICAL")


@server.tool()
def pay(amount: int) -> str:
    """Pay."""
    if amount == 13:
        raise ValueError("unlucky")
    with Path("paid.txt").open("a") as file:
        file.write(f"{amount} ")
    return f"paid {amount}"


server.run()
