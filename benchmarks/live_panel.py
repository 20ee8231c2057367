"""What the Machine page costs and how fresh it is: python benchmarks/live_panel.py [--minutes M]

A real dashboard with 8 GPUs of the double of NVIDIA's driver (tests/nvml), animated, at one sample a second,
and real pages of it in Chromium. Needs tests/requirements.txt and a browser. Printed are

- from a sample to the screen: from the time in it to the moment after the browser painted it, for the cards
  and for the curves of two minutes, over all pages;
- in a minute of screencast: frames, and how many had a blank where a card is;
- whether what a page was zoomed to is what it still shows after that minute;
- the server's memory every half a minute with all pages open, for M minutes;
- the server's CPU time, by the kernel's clock of its process, before any page, with all pages and after them,
  over as long each; the difference a page is what a viewer costs. The sampler is a process of its own.

Several pages on few cores wait for one another, so the times to the screen are those of a busy machine.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import io
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from PIL import Image
from playwright.sync_api import sync_playwright

from tests.e2e.conftest import Server, settled, sign_in, start_server
from tests.e2e.machine_page import MachinePage
from tests.nvml import NvmlDouble, why_not

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SETTLE_S = 5.0
MEMORY_EVERY_S = 30.0
BLANK_BELOW = 0.03
"""The share of pixels that are not background, below which an area counts as blank."""
# Notes each drawing of the cards and of the curves: seconds from the sample to the screen.
WATCH = """() => {
  window.delays = { 'machine-head': [], 'machine-history': [] };
  const find = (root, id) => {
    for (const node of root.querySelectorAll('*')) {
      if (node.dataset?.testid === id) return node;
      const found = node.shadowRoot && find(node.shadowRoot, id);
      if (found) return found;
    }
    return null;
  };
  for (const [id, delays] of Object.entries(window.delays)) {
    const node = find(document, id);
    let last = node.dataset.sampled;
    new MutationObserver(() => {
      if (node.dataset.sampled === last) return;
      last = node.dataset.sampled;
      delays.push(Number(node.dataset.drawn) - Number(last));
    }).observe(node, { attributeFilter: ['data-drawn'] });
  }
}"""


def main() -> int:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--gpus", type=int, default=8)
    parser.add_argument("--viewers", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=60, help="of each measurement (default 60)")
    parser.add_argument("--minutes", type=float, default=0, help="watch the server's memory so long")
    args = parser.parse_args()
    if reason := why_not():
        print(f"the double of the driver cannot be made: {reason}", file=sys.stderr)
        return 1
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hopscope-benchmark-")))
        double = stack.enter_context(NvmlDouble(folder, args.gpus))
        double.animate()
        server = stack.enter_context(start_server(folder, folder, environment=double.environment(cuda=False)))
        print(f"{args.gpus} GPUs, 1 Hz, {args.viewers} pages, {args.seconds:g} s a measurement\n")
        measure(server, args, stack.enter_context(opened()))
    return 0


def measure(server: Server, args: argparse.Namespace, browser: Any) -> None:
    """Print one table after another."""
    time.sleep(SETTLE_S)
    alone = [cpu_percent(server, lambda: time.sleep(args.seconds))]
    pages = [open_machine(server, browser) for _ in range(args.viewers)]
    watched = pages[0]
    watched.page.wait_for_timeout(1000 * SETTLE_S)
    for machine in pages:
        machine.page.evaluate(WATCH)
    together = cpu_percent(server, lambda: watched.page.wait_for_timeout(1000 * args.seconds))
    rows = []
    for title, name in (("cards", "machine-head"), ("curves", "machine-history")):
        delays = [1000 * one for machine in pages for one in machine.page.evaluate(f"delays['{name}']")]
        rows.append((title, f"{len(delays)}", *(f"{share(delays, part):.0f}" for part in (0.5, 0.95, 1))))
    table("Sample to screen, ms", ("", "samples", "p50", "p95", "longest"), *rows)
    watched.zoom(0.4, 0.9)
    zoomed = watched.ranges()
    frames = screencast(watched, args.seconds)
    kept = "kept" if watched.ranges() == zoomed else f"LOST: {zoomed} became {watched.ranges()}"
    table(
        f"{args.seconds:g} s of screencast",
        ("frames", "blank", "zoom"),
        (f"{len(frames)}", f"{blank(watched, frames)}", kept),
    )
    if args.minutes:
        rows = list(memory(server, args.minutes, watched.page.wait_for_timeout))
        table("Server memory, MiB", ("minute", "resident"), *rows)
    for machine in pages:
        machine.page.context.close()
    time.sleep(SETTLE_S)
    alone.append(cpu_percent(server, lambda: time.sleep(args.seconds)))
    base = statistics.fmean(alone)
    table(
        "Server CPU, % of a core",
        ("no page, before", "and after", f"{args.viewers} pages", "a viewer"),
        (*(f"{one:.2f}" for one in alone), f"{together:.2f}", f"{(together - base) / args.viewers:.3f}"),
    )


@contextlib.contextmanager
def opened() -> Iterator[Any]:
    """Chromium, headless."""
    found = next((path for path in map(shutil.which, BROWSERS) if path), None)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=found, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield browser
        browser.close()


def open_machine(server: Server, browser: Any) -> MachinePage:
    """A page of another viewer's, tall enough for the curves to be seen."""
    context = browser.new_context(viewport={"width": 1400, "height": 1200})
    sign_in(context, server.url, "operator")
    page = context.new_page()
    machine = MachinePage(page).open(server)
    settled(page)
    machine.wait_for_curves()
    return machine


def cpu_seconds(server: Server) -> float:
    """CPU time that the server's process has taken, by the kernel's clock of it, without its children's."""
    clock = (~server.process.pid << 3) | 2  # CLOCK_PROCESS of linux/posix-timers.h
    return time.clock_gettime(clock)


def cpu_percent(server: Server, wait: Callable[[], object]) -> float:
    """CPU time while waiting, in percent of a core."""
    before, began = cpu_seconds(server), time.monotonic()
    wait()
    return 100 * (cpu_seconds(server) - before) / (time.monotonic() - began)


def screencast(machine: MachinePage, seconds: float) -> list[bytes]:
    """Every frame that the page drew, as PNG."""
    frames: list[bytes] = []
    client = machine.page.context.new_cdp_session(machine.page)

    def keep(frame: dict[str, Any]) -> None:
        frames.append(base64.b64decode(frame["data"]))
        client.send("Page.screencastFrameAck", {"sessionId": frame["sessionId"]})

    client.on("Page.screencastFrame", keep)
    client.send("Page.startScreencast", {"format": "png", "everyNthFrame": 1})
    machine.page.wait_for_timeout(1000 * seconds)
    client.send("Page.stopScreencast")
    return frames


def blank(machine: MachinePage, frames: list[bytes]) -> int:
    """How many frames show nothing where one of the cards is."""
    boxes = [card.bounding_box() for card in machine.cards.all()]
    width = machine.page.viewport_size["width"]
    count = 0
    for frame in frames:
        shot = Image.open(io.BytesIO(frame)).convert("L")
        scale = shot.width / width
        for box in boxes:
            edges = (box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"])
            left, top, right, bottom = (round(edge * scale) for edge in edges)
            shades = shot.crop((left, top, right, bottom)).histogram()
            if 1 - max(shades) / sum(shades) < BLANK_BELOW:
                count += 1
                break
    return count


def memory(server: Server, minutes: float, wait: Callable[[float], object]) -> Iterator[tuple[str, str]]:
    """The server's resident memory, again and again; `wait` lets so many milliseconds pass."""
    began = time.monotonic()
    while (passed := time.monotonic() - began) <= 60 * minutes:
        lines = Path(f"/proc/{server.process.pid}/status").read_text().splitlines()
        resident = next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))
        yield f"{passed / 60:.1f}", f"{resident / 1024:.1f}"
        wait(1000 * MEMORY_EVERY_S)


def share(values: list[float], part: float) -> float:
    """The value below which so large a part of them is."""
    if len(values) < 2:
        return values[0] if values else float("nan")
    return max(values) if part == 1 else statistics.quantiles(values, n=100)[round(100 * part) - 1]


def table(title: str, heads: tuple[str, ...], *rows: tuple[str, ...]) -> None:
    """Print rows under their heads."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    print(title)
    for row in (heads, *rows):
        print("  " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))
    print(flush=True)


if __name__ == "__main__":
    sys.exit(main())
