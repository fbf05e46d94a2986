"""A streamed answer, printed word by word as it arrives.

The log holds the whole message, its tokens and the time to its first chunk. A stream that you leave
early is in the log too, with what had arrived, marked "aborted": here the second one.
"""

from anthropic import Anthropic

import lctl
from lctl.testing import ModelServer

lctl.auto_instrument()

with ModelServer(chunk_delay=0.01) as server:
    server.reply("Rain is on its way, bring a coat.", times=2)
    client = Anthropic(base_url=server.anthropic_url, api_key="test")

    def ask(words: int) -> None:
        """Print the first `words` words of the answer."""
        with client.messages.stream(
            model="claude-sonnet-4-6",
            max_tokens=100,
            messages=[{"role": "user", "content": "What will the weather be?"}],
        ) as stream:
            for _, text in zip(range(words), stream.text_stream, strict=False):
                print(text, end="", flush=True)
        print()

    ask(words=100)
    ask(words=3)
