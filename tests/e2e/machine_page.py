"""The Machine page as a test reads and uses it."""

from __future__ import annotations

import re
from typing import Any

from tests.e2e.conftest import Server, drag, playwright, settled

expect = playwright.expect

_WIDER = """() => {
  const wide = [];
  const look = (root) => {
    for (const node of root.querySelectorAll('*')) {
      if (node.shadowRoot) look(node.shadowRoot);
      const box = node.getBoundingClientRect();
      const cut = node.closest('.scroller, pre, [data-fact="throttle"]');
      if (box.width && box.right > innerWidth + 1 && !cut) {
        wide.push(`${node.tagName}.${node.className}`);
      }
    }
  };
  look(document);
  const main = document.querySelector('[data-testid="stMain"]');
  if (main.scrollWidth > main.clientWidth) wide.push('the page scrolls sideways');
  return wide;
}"""
# What throttles a card may be longer than its place; all of it is in the title.
_CUT = """cards => cards.flatMap((card) => [...card.querySelectorAll(
    '.fact:not([data-fact="throttle"]) .values, .memory .v, .big')]
  .filter((node) => node.getClientRects().length && node.scrollWidth > node.clientWidth + 1
    && getComputedStyle(node).display !== 'inline')
  .map((node) => `GPU ${card.dataset.gpu}: ${node.textContent}`))"""


class MachinePage:
    """The page of one machine, open in a browser."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.head = page.get_by_test_id("machine-head")
        self.status = page.get_by_test_id("machine-status")
        self.cards = self.head.locator(".gpu")
        self.host = self.head.locator(".host")
        self.alerts = self.head.locator(".alert-line:not(.over)")
        self.history = page.get_by_test_id("machine-history")
        self.gpu_processes = page.locator(".machine-gpus tbody tr")
        self.run_processes = page.locator(".machine-runs tbody tr")

    def open(self, server: Server, query: str = "") -> MachinePage:
        """Go to the page and wait until a sample is on it."""
        self.page.goto(f"{server.url}/{query}")
        self.page.wait_for_selector('[data-testid="machine-head"][data-seq]', state="attached")
        settled(self.page)
        return self

    def card(self, gpu: int) -> Any:
        return self.head.locator(f'.gpu[data-gpu="{gpu}"]')

    def load(self, gpu: int) -> Any:
        return self.card(gpu).locator(".big .number")

    def fact(self, gpu: int, name: str) -> Any:
        return self.card(gpu).locator(f'[data-fact="{name}"] .values')

    def seq(self) -> int:
        # Where another machine is shown it is drawn anew.
        expect(self.head).to_have_attribute("data-seq", re.compile(r"^\d+$"))
        return int(self.head.get_attribute("data-seq"))

    def wait_for_samples(self, number: int, *, curves: bool = True) -> None:
        """Wait until so many more samples were drawn, in the cards and in the curves.

        Curves that are out of sight are not drawn.
        """
        self.page.wait_for_function(
            """([wanted, ids]) => {
                const find = (root, id) => {
                  for (const node of root.querySelectorAll('*')) {
                    if (node.dataset?.testid === id) return node;
                    const found = node.shadowRoot && find(node.shadowRoot, id);
                    if (found) return found;
                  }
                  return null;
                };
                return ids.every((id) => Number(find(document, id)?.dataset.seq) >= wanted);
            }""",
            arg=[self.seq() + number, ["machine-head", *(["machine-history"] if curves else [])]],
        )

    def wait_for_curves(self, metric: str = "") -> None:
        wanted = f'[data-metric="{metric}"]' if metric else ""
        self.page.wait_for_selector(f'[data-testid="machine-history"][data-drawn]{wanted}')

    def too_wide(self) -> list[str]:
        """What reaches beyond the window, and what is cut in a card."""
        found: list[str] = self.page.evaluate(_WIDER)
        cut: list[str] = self.cards.evaluate_all(_CUT)
        return found + cut

    def pixel(self, x: float, y: float) -> dict[str, float]:
        """Where a share of the plot's area is in the figure, 0 to 1 from its left and top."""
        found: dict[str, float] = self.history.evaluate(
            """(plot, [x, y]) => {
                const { _size: size } = plot._fullLayout;
                return { x: size.l + x * size.w, y: size.t + y * size.h };
            }""",
            [x, y],
        )
        return found

    def zoom(self, start: float, end: float) -> None:
        """Draw a box over a part of the curves."""
        drag(self.history, self.pixel(start, 0.2), self.pixel(end, 0.8))

    def ranges(self) -> list[Any]:
        """What the curves' axes show: [x from, x to, y from, y to]."""
        found: list[Any] = self.history.evaluate(
            "plot => [...plot._fullLayout.xaxis.range, ...plot._fullLayout.yaxis.range]"
        )
        return found
