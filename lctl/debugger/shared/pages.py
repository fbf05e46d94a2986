"""The pages around the debugger's own: to sign in, to sign out. They run no script."""

from __future__ import annotations

from html import escape

POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
_STYLE = """
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; }
main { width: min(20rem, 90vw); }
h1 { font-size: 1.1rem; font-weight: 600; margin: 0 0 1rem; }
label { display: block; margin: .75rem 0 .25rem; }
input, button { font: inherit; width: 100%; box-sizing: border-box; padding: .5rem .6rem; }
button { margin-top: 1.25rem; cursor: pointer; }
p[role=alert] { margin: 0 0 .5rem; font-weight: 600; }
"""


def login(problem: str = "", name: str = "") -> bytes:
    """The form goes to the page's own address, so that the moment an address names is kept."""
    said = f'<p role="alert">{escape(problem)}</p>' if problem else ""
    focus = ("", " autofocus") if name else (" autofocus", "")
    return _page(
        "Sign in",
        f"""{said}<form method="post">
<label for="name">Name</label>
<input id="name" name="name" value="{escape(name)}" autocomplete="username" required{focus[0]}>
<label for="password">Password or token</label>
<input id="password" name="password" type="password" autocomplete="current-password" required{focus[1]}>
<button>Sign in</button>
</form>""",
    )


def logout(name: str) -> bytes:
    return _page(
        "Sign out",
        f"""<p>Signed in as <b>{escape(name)}</b>.</p>
<form method="post"><button>Sign out</button></form>""",
    )


def _page(title: str, body: str) -> bytes:
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title} - lctl</title>'
        '<meta name="viewport" content="width=device-width">'
        f"<style>{_STYLE}</style></head><body><main><h1>lctl: {title.lower()}</h1>{body}</main></body></html>"
    ).encode()
