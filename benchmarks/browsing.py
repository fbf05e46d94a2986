"""The debugger's page on a long log, in a real browser (F6 to F8).

    python -m benchmarks.browsing [1000000]

Needs `lctl[browser]` and Chromium. Times are the browser's own: from the navigation to the frame in which the
time bar, the list of events and the state are there, and from frame to frame while the time bar is dragged.
The browser begins a frame each 16.7 ms and no sooner: that is the median of a page in good time. What a page
that is too slow costs is told by the frames it missed.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import Row
from benchmarks.trace import write_trace

_SWITCHES = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
)
_FIRST_MS = 1500
_FRAME_MS = 1000 / 60
_ELEMENTS = 4000
_DRAG_FRAMES = 300

#: The moment at which a reader has something to look at, in milliseconds of the page's own clock.
_USEFUL = """new Promise(done => {
  const look = () => {
    const bar = document.querySelector('.tb-names li');
    const row = document.querySelector('.event .type');
    const state = document.querySelector('.figures dd');
    if (bar && row && state) requestAnimationFrame(() => done(performance.now()));
    else requestAnimationFrame(look);
  };
  look();
})"""

#: Drags the playhead over the whole bar, a place a frame; answers the time of each, the most elements, and
#: how many frames of the browser's clock went by without one of the page.
_DRAG = """async frames => {
  const bar = document.querySelector('.tb-lanes');
  const box = bar.getBoundingClientRect();
  const send = (type, part) => bar.dispatchEvent(new PointerEvent(type, {
    pointerId: 1, bubbles: true, buttons: 1, clientX: box.left + box.width * part, clientY: box.top + 40 }));
  bar.setPointerCapture = () => {};
  const times = [];
  let most = 0, missed = 0, shown = 0, last = performance.now();
  send('pointerdown', 0.01);
  for (let n = 0; n < frames; n++) {
    send('pointermove', 0.01 + 0.98 * n / frames);
    const begun = await new Promise(requestAnimationFrame);
    if (shown) missed += Math.round((begun - shown) / (1000 / 60)) - 1;
    shown = begun;
    const now = performance.now();
    times.push(now - last);
    last = now;
    if (n % 30 === 0) most = Math.max(most, document.querySelectorAll('*').length);
  }
  send('pointerup', 0.99);
  return [times, most, missed];
}"""


def measure(events: int = 1_000_000) -> list[Row]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return []
    path = os.environ.get("LCTL_CHROMIUM") or shutil.which("chromium")
    if path is None:
        return []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        log = Path(folder) / "long.lctl.json"
        write_trace(log, events)
        browser = playwright.chromium.launch(executable_path=path, args=_SWITCHES)
        command = [sys.executable, "-m", "lctl", "debug", str(log), "--port", "0", "--no-browser"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            assert server.stdout is not None
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.set_default_timeout(120_000)
            page.goto(server.stdout.readline().strip() + "&panel=state")
            first = float(page.evaluate(_USEFUL))
            page.locator(".notes").wait_for(state="detached")
            page.wait_for_timeout(1000)
            times, most, missed = page.evaluate(_DRAG, _DRAG_FRAMES)
        finally:
            server.terminate()
            server.wait()
            browser.close()
    return rows(f"{events:,} events", first, sorted(times), most, missed)


def rows(name: str, first: float, times: list[float], most: int, missed: int) -> list[Row]:
    middle, late = statistics.median(times), times[int(len(times) * 0.99)]
    paint = f"open {name} in the browser to first useful paint"
    frames = f"frames while the time bar of {name} is dragged"
    shown = f"median {middle:.1f} ms, 99th percentile {late:.1f} ms, {missed} missed in {len(times)}"
    return [
        Row("F6", paint, "< 1.5 s", f"{first / 1000:.2f} s", _FIRST_MS / first, first < _FIRST_MS),
        Row("F7", frames, "60 a second", shown, _FRAME_MS / middle, middle < _FRAME_MS * 1.1),
        Row("F8", f"elements of the page on {name}", f"< {_ELEMENTS}", str(most), None, most < _ELEMENTS),
    ]


if __name__ == "__main__":
    for row in measure(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000):
        print(row.id, row.what, "|", row.target, "|", row.measured)
