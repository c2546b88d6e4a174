"""Opening a report: `python -m benchmarks.run.page_opening FILE [ROUNDS]`.

A report is opened in one Chromium, each time in a new tab of 1366 by 844 pixels, until all charts
that are seen are drawn; then every figure of the papers is opened, one after the other, until it is
drawn. Printed of each, over the rounds: seconds on the clock, which a busy machine makes longer,
the processor time of the page's main thread, and the heap afterwards.
"""

import time
from pathlib import Path

from benchmarks.shared.command import HEADING, Figure, machine, parser_of
from eyelevel.base.json_types import JsonObject
from eyelevel.browser.chromium.devtools import DevTools
from eyelevel.browser.chromium.process import Chromium
from eyelevel.browser.processes import new_profile

TEST_TIMEOUT_S = 120.0
DRAWN = """new Promise((done) => {
  const look = () => {
    if (document.documentElement?.dataset.drawn) done(true);
    else setTimeout(look, 5);
  };
  look();
})"""
FIGURES = """(async () => {
  document.querySelector("details.reviewers").open = true;
  const figures = [...document.querySelectorAll("section[aria-labelledby=figures] details.figure")];
  for (const each of figures) {
    each.open = true;
    each.scrollIntoView();
    await new Promise((done) => {
      const look = () => each.querySelector("svg, canvas") ? done() : setTimeout(look, 5);
      look();
    });
  }
  return figures.length;
})()"""


class Tab:
    """A page of its own."""

    def __init__(self, devtools: DevTools) -> None:
        self.devtools = devtools
        self.session = ""
        self.target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        attach = {"targetId": self.target, "flatten": True}
        self.session = self.call("Target.attachToTarget", attach)["sessionId"]
        self.call("Performance.enable", {"timeDomain": "threadTicks"})
        size = {"width": 1366, "height": 844, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", size)

    def call(self, method: str, parameters: JsonObject | None = None) -> JsonObject:
        """One command's answer."""
        deadline = time.monotonic() + TEST_TIMEOUT_S
        return self.devtools.call(method, parameters, self.session, deadline)

    def wait(self, expression: str) -> object:
        """The value of an expression's promise."""
        asked = {"expression": expression, "awaitPromise": True, "returnByValue": True}
        return self.call("Runtime.evaluate", asked)["result"].get("value")

    def used(self) -> tuple[float, float]:
        """Processor time of the main thread so far in s, and the heap in MB."""
        metrics = {
            each["name"]: each["value"] for each in self.call("Performance.getMetrics")["metrics"]
        }
        return metrics["TaskDuration"], metrics["JSHeapUsedSize"] / 1e6

    def close(self) -> None:
        """Close it, so that its heap is no other's."""
        self.call("Target.closeTarget", {"targetId": self.target})


def main() -> None:
    """Measure and print."""
    parser = parser_of(__doc__)
    parser.add_argument("file", type=Path, help="a report that anybody may read")
    parser.add_argument("rounds", nargs="?", type=int, default=5)
    arguments = parser.parse_args()
    file = arguments.file.resolve()
    numbers = ("s", "processor, s", "heap, MB")
    parts = {
        part: [Figure(f"{part}, {number}", asked if number == "s" else "") for number in numbers]
        for part, asked in (("opening", "3"), ("all figures", ""))
    }
    with new_profile() as folder:
        words = ["--headless=new", "--remote-debugging-pipe", "--no-first-run", "about:blank"]
        with Chromium(words, folder, readable=[file.parent]) as chromium:
            devtools = DevTools(chromium.to_browser_fd, chromium.from_browser_fd)
            for _ in range(arguments.rounds):
                tab = Tab(devtools)
                for part, figures in parts.items():
                    began_s, (used_s, _) = time.monotonic(), tab.used()
                    if part == "opening":
                        tab.call("Page.navigate", {"url": file.as_uri()})
                    tab.wait(DRAWN if part == "opening" else FIGURES)
                    took_s, (now_s, heap_mb) = time.monotonic() - began_s, tab.used()
                    for figure, value in zip(
                        figures, (took_s, now_s - used_s, heap_mb), strict=True
                    ):
                        figure.values.append(value)
                tab.close()
    print(machine(), f"; {file.stat().st_size / 1e6:.2f} MB", sep="")
    print(HEADING)
    for figures in parts.values():
        for figure in figures:
            print(figure.line())


if __name__ == "__main__":
    main()
