"""Samples to read: Markdown, and a web page that needs nothing besides itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Any

from lctl.training.dialects import Chat, as_text, flat
from lctl.training.sample import Sample

_STYLE = """
:root{color-scheme:light dark;--line:#8884;--soft:#8882;--mark:#2a7}
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:3rem;border-top:1px solid var(--line);padding-top:1rem}
.m{border-left:4px solid var(--line);margin:.7rem 0;padding:.1rem .8rem}
.t{border-left-color:var(--mark);background:var(--soft)}
.r{font-size:.8rem;opacity:.75}pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.3rem 0;font-size:.9rem}
"""


def markdown(title: str, samples: Iterable[Sample]) -> Iterator[str]:
    """A document: a section a row, a paragraph a message; what trains is marked."""
    yield f"# {_md(title)}\n"
    for sample in samples:
        yield f"\n## {_md(sample.id)}\n\n{_md(_summary(sample))}\n"
        for head, trained, body in _messages(sample):
            mark = " **(trained)**" if trained else ""
            yield f"\n### {_md(head)}{mark}\n"
            for kind, text in body:
                name = f"{kind}:\n\n" if kind else ""
                yield f"\n{name}{_fenced(text)}\n"


def html(title: str, samples: Iterable[Sample]) -> Iterator[str]:
    """A page without scripts, and without anything from elsewhere. Everything from the log is escaped."""
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    yield (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f'<meta name="viewport" content="width=device-width">'
        f"<title>{_html(title)}</title><style>{_STYLE}</style></head><body>\n<h1>{_html(title)}</h1>\n"
    )
    for sample in samples:
        yield f"<h2>{_html(sample.id)}</h2>\n<p>{_html(_summary(sample))}</p>\n"
        for head, trained, body in _messages(sample):
            kind = "m t" if trained else "m"
            words = f"{head}, trained" if trained else head
            yield f'<div class="{kind}"><div class="r">{_html(words)}</div>'
            for name, text in body:
                whole = f"<pre>{_html(text)}</pre>"
                yield f"<details><summary>{_html(name)}</summary>{whole}</details>" if name else whole
            yield "</div>\n"
    yield "</body></html>\n"


def _summary(sample: Sample) -> str:
    words = [f"{len(sample.messages)} messages, {sample.trained} trained", sample.model or "no model named"]
    if sample.trained_tokens is not None:
        words.append(f"{sample.trained_tokens} tokens")
    if sample.break_reason:
        words.append(f"begins anew: {sample.break_reason}")
    if sample.reward is not None:
        words.append(f"reward {sample.reward:g}")
    return " · ".join(words)


def _messages(sample: Sample) -> Iterator[tuple[str, bool, list[tuple[str, str]]]]:
    """(who, trained, texts with their names; "" of what was said) of each chat message."""
    chat = Chat()
    if sample.prompt is not None:
        yield "prompt", False, [("", as_text(sample.prompt))]
    for message, weight, id in zip(sample.messages, sample.weights, sample.message_ids, strict=True):
        for made in chat.messages(message):
            yield f"{made['role']} {id}", weight == 1, list(_texts(made))


def _texts(message: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if message.get("reasoning_content"):
        yield "reasoning", message["reasoning_content"]
    content = message.get("content")
    words = flat(content)
    if words:
        yield "", words
    if isinstance(content, list):
        for part in content:
            if part["type"] != "text":
                yield "image", part["image_url"]["url"][:200]
    for call in message.get("tool_calls", ()):
        yield f"call of {call['function']['name']}", call["function"]["arguments"]


def _html(text: str) -> str:
    return escape(_shown(text))


def _md(text: str) -> str:
    """Text that stays text in Markdown, on one line."""
    shown = " ".join(_shown(text).split())
    for mark in ("\\", "|", "`", "*", "_", "<", "[", "#", "&"):
        shown = shown.replace(mark, f"\\{mark}")
    return shown


def _fenced(text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}text\n{_shown(text)}\n{fence}"


def _shown(text: str) -> str:
    """Control characters as what they are called; what is no Unicode as a question mark."""
    text = text.encode("utf-8", "replace").decode()
    return "".join(
        f"\\x{ord(char):02x}" if (char < " " and char not in "\n\t") or "\x7f" <= char < "\xa0" else char
        for char in text
    )
