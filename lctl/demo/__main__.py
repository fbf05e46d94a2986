"""`python -m lctl.demo [SEED]`: run the demo and say in plain text what was recorded."""

from __future__ import annotations

import sys

from lctl.demo import run_demo
from lctl.errors import LctlError


def main(arguments: list[str]) -> int:
    """Exit code of the command."""
    if len(arguments) > 1 or not all(a.isdecimal() for a in arguments):
        print("usage: python -m lctl.demo [SEED]", file=sys.stderr)
        return 2
    try:
        result = run_demo(int(arguments[0])) if arguments else run_demo()
    except LctlError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(f"Three agents reviewed a program (seed {result.seed}): {', '.join(result.agents)}")
    print(
        f"{result.events} events, {result.model_calls} model calls in {result.attempts} attempts, "
        f"{result.tool_calls} tool calls, {result.tokens} tokens"
    )
    for id, (text, confidence) in result.facts.items():
        print(f"  {id} {confidence} {text}")
    print(f"recorded in {result.path}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
