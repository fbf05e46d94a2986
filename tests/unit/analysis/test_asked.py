"""What of the surroundings' events tells what the program was asked."""

from __future__ import annotations

import pytest

from lctl.analysis.asked import is_asked


@pytest.mark.parametrize(
    ("source", "key", "asked"),
    [
        ("request", "POST /ask", True),
        ("request", "GET /", True),
        ("request", "GET /api/config.json", True),
        ("request", "GET /files/report.pdf", True),
        ("request", "POST /upload.png", True),
        ("request", "GET /ask?of=style.css", True),
        ("request", "GET /static/app.js", False),
        ("request", "GET /static/app.3f2.mjs?v=2", False),
        ("request", "GET /fonts/Inter.woff2", False),
        ("request", None, True),
        ("cell", "In[1]", True),
        ("stdin", "input", True),
        ("clock", "time.time", False),
        (None, None, False),
        ({"odd": 1}, 3, False),
    ],
)
def test_what_is_asked(source: object, key: object, asked: bool) -> None:
    assert is_asked(source, key) is asked
