"""A run's page as a test reads and uses it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from runners.runs.status import LIVE_STATES
from tests.e2e.conftest import Server, playwright, settled

expect = playwright.expect

# Where a cell of the matrix is in the figure, and what it says.
_CELLS = """() => {
  const plot = document.querySelector('[data-testid="figure-matrix"]');
  const layout = plot._fullLayout;
  const pairs = plot.data.find((trace) => trace.type === 'heatmap').customdata;
  const words = plot.data.find((trace) => trace.mode === 'text');
  const cells = {};
  (words?.text ?? []).forEach((text, index) => {
    const x = words.x[index], y = words.y[index];
    cells[pairs[y][x].join('>')] = {
      text: text.replace('<br>', ' '),
      x: layout._size.l + layout.xaxis.l2p(x),
      y: layout._size.t + layout.yaxis.l2p(y),
    };
  });
  return cells;
}"""


class RunPage:
    """The page of one run, open in a browser."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.hops = page.get_by_test_id("table-hops")
        self.matrix = page.get_by_test_id("figure-matrix")
        self.diagram = page.get_by_test_id("placement-diagram")

    def open(self, server: Server, run: str, **query: str) -> None:
        """Go to the run's address and wait until it is drawn."""
        self.page.goto(f"{server.url}/run?run={run}" + "".join(f"&{name}={query[name]}" for name in query))
        expect(self.fact("state")).to_be_visible()
        # Of a run that goes on it is drawn again and again: on a busy machine without a pause.
        if self.fact("state").inner_text() not in LIVE_STATES:
            settled(self.page)

    def fact(self, name: str) -> Any:
        """The value of a fact in the head: state, progress, loss."""
        return self.page.locator(f'[data-fact="{name}"] .fact-value')

    def wait_for_state(self, state: str, seconds: float = 120) -> None:
        expect(self.fact("state")).to_have_text(state, timeout=seconds * 1000)

    def cells(self) -> dict[tuple[str, str], str]:
        """What the matrix says: (source, destination) to bytes and count."""
        self._drawn()
        return {tuple(pair.split(">")): cell["text"] for pair, cell in self.page.evaluate(_CELLS).items()}

    def click_cell(self, src: str, dst: str) -> None:
        self._drawn()
        cell = self.page.evaluate(_CELLS)[f"{src}>{dst}"]
        # Once the figure stands still: what is above it may still grow.
        self.matrix.click(position={"x": cell["x"], "y": cell["y"]})

    def crossings(self) -> list[dict[str, str]]:
        """The diagram's crossings of an ended run with their data: src, dst, bytes, count."""
        expect(self.diagram.get_by_test_id("group").first).to_be_visible()
        settled(self.page)
        found: list[dict[str, str]] = self.diagram.get_by_test_id("crossing").evaluate_all(
            "nodes => nodes.map((node) =>"
            " ({ ...node.dataset, lit: String(!node.classList.contains('dim')) }))"
        )
        return found

    def hop_rows(self) -> list[dict[str, str]]:
        """The rows of an ended run's hop table, once it is drawn."""
        expect(self.hops).to_have_attribute("data-rows", re.compile(r"^\d+$"))
        settled(self.page)
        rows: list[dict[str, str]] = self.hops.locator("tbody tr").evaluate_all(
            "rows => rows.map((row) => Object.fromEntries([...row.children].map((cell) =>"
            " [cell.dataset.column, cell.dataset.column === 'way'"
            "   ? [...cell.querySelectorAll('[data-device]')].map((chip) => chip.dataset.device).join('>')"
            "   : cell.innerText])))"
        )
        return rows

    def expect_hops(self, number: int) -> None:
        expect(self.hops).to_have_attribute("data-rows", str(number))

    def _drawn(self) -> None:
        self.page.wait_for_selector('[data-testid="figure-matrix"][data-drawn]')
        settled(self.page)


def confirm(holder: Any, action: str) -> None:
    """Press a button that asks back, and say yes."""
    holder.locator(f'[data-action="{action}"]').click()
    holder.locator(f'[data-action="{action}-yes"]').click()


def write_script(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / f"{name}.py"
    script.write_text(text)
    return script


SLOW = """
import sys, time
for step in range(1, 100001):
    print(f"step {step}/100000 loss {1 / step:.4f} 20.0 steps/s", flush=True)
    time.sleep(0.05)
"""
MARKUP = "<b>bold</b> **stars** <img src=x onerror=alert(1)>"
FAILING = f"""
print("{MARKUP}", flush=True)
raise ValueError("the loss is not a number: {MARKUP}")
"""

RUN_ADDRESS = re.compile(r"/run\?run=[^&]+$")
