"""Takes the pictures of docs/images: panels on the demo's run, and costs of an imported trajectory.

    python debugger/scripts/screenshots.py [TRAJECTORY]

Without TRAJECTORY (any file that `lctl import` takes) only those of the demo are taken. Needs the extras
`browser` and `demo`, Chromium, and Pillow, which makes the files small.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

IMAGES = Path(__file__).parents[2] / "docs" / "images"
SIZE = {"width": 1360, "height": 820}
SWITCHES = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
]

BROWSERS = ("chromium", "chromium-headless-shell", "chromium-browser", "google-chrome")

DEAREST = """SELECT seq, agent, model, input_tokens, output_tokens, duration_ms
FROM steps WHERE model IS NOT NULL ORDER BY input_tokens DESC"""

Shot = tuple[str, dict[str, str]]


def main() -> None:
    trajectory = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        path = os.environ.get("LCTL_CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
        browser = playwright.chromium.launch(executable_path=path, args=SWITCHES)
        demo(browser, Path(place))
        if trajectory is not None:
            imported(browser, Path(place), trajectory)
        browser.close()


def demo(browser: Browser, place: Path) -> None:
    lctl("demo", "--seed", "8", cwd=place)
    quickest(place)
    lctl("fork", "last", "--at", "34", "--set", "prompt.system+=Be strict.", cwd=place)
    log = newest(place, "-demo-7-", "fork")
    fork = newest(place, "fork")
    shots: list[Shot] = [
        ("conversation", {"panel": "conversation", "seq": "59"}),
        ("context-diff", {"panel": "conversation", "call": "20", "with": "6", "seq": "30"}),
        ("state", {"panel": "state", "seq": "45"}),
        ("flow", {"panel": "flow", "seq": "46"}),
        ("sql", {"panel": "search", "ask": "sql", "sql": DEAREST, "seq": "57"}),
        ("compare", {"panel": "compare", "right": fork.name, "seq": "62"}),
        ("what-if", {"panel": "fork", "seq": "43"}),
    ]
    with served(log) as link:
        take(browser, link, "demo", shots, "dark")


def quickest(place: Path, tries: int = 6) -> None:
    """The demo's run as a machine with nothing else to do records it: of several the shortest."""
    took: dict[Path, float] = {}
    for _ in range(tries):
        lctl("demo", "--seed", "7", cwd=place)
        log = newest(place, "-demo-7-")
        took[log] = json.loads(log.read_text())["summary"]["duration_ms"]
    for log in sorted(took, key=took.__getitem__)[1:]:
        log.unlink()


def imported(browser: Browser, place: Path, trajectory: Path) -> None:
    log = place / "imported" / "imported.lctl.json"
    log.parent.mkdir()
    lctl("import", str(trajectory), "-o", str(log), cwd=place)
    with served(log) as link:
        take(browser, link, "real", [("cost", {"panel": "cost"})], "light")


def newest(place: Path, part: str, without: str | None = None) -> Path:
    found = [p for p in (place / ".lctl").glob(f"*{part}*") if without is None or without not in p.name]
    return max(found, key=lambda path: path.stat().st_mtime)


def lctl(*arguments: str, cwd: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "LCTL_DIR"}
    subprocess.run(
        [sys.executable, "-m", "lctl", *arguments], cwd=cwd, env=environment, check=True, capture_output=True
    )


@contextmanager
def served(log: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "lctl", "debug", str(log), "--port", "0", "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


def take(browser: Browser, link: str, name: str, shots: list[Shot], theme: str) -> None:
    dark = "dark" if theme == "dark" else "light"
    context = browser.new_context(viewport=SIZE, color_scheme=dark, reduced_motion="reduce")  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(link)
    page.wait_for_load_state("networkidle")
    place = link.split("/?")[0]
    for shot, words in shots:
        page.goto("about:blank")
        page.goto(f"{place}/#{urlencode(words)}")
        page.wait_for_load_state("networkidle")
        if shot == "what-if":
            page.get_by_label("Or edits, one on a line").fill("data.confidence=0.2")
            page.locator(".whatif tbody").first.wait_for()
        page.wait_for_timeout(400)
        save(page.screenshot(), IMAGES / f"debug-{name}-{shot}.png")
    context.close()


def save(png: bytes, path: Path) -> None:
    """With 256 colours. The octree keeps rare ones, of which a page like this has its hues."""
    image = Image.open(io.BytesIO(png)).convert("RGB")
    small = image.quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    small.save(path, optimize=True)


if __name__ == "__main__":
    main()
