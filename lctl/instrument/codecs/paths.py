"""The parts of a URL that codecs look at, without a URL parser: this runs for every HTTP request."""

from __future__ import annotations

from urllib.parse import unquote


def path_of(url: str) -> str:
    """The URL up to its query or fragment, without a slash at its end."""
    if "?" in url:
        url = url[: url.index("?")]
    if "#" in url:
        url = url[: url.index("#")]
    return url.rstrip("/") if url.endswith("/") else url


def segment_after(url: str, name: str) -> str | None:
    """The path segment that follows `/<name>/`, unquoted: a deployment or model named in the path."""
    path = path_of(url)
    mark = f"/{name}/"
    start = path.find(mark)
    if start < 0:
        return None
    start += len(mark)
    end = path.find("/", start)
    return unquote(path[start:] if end < 0 else path[start:end]) or None
