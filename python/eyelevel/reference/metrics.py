"""The metrics' reference page; `python -m eyelevel.reference.metrics` writes it."""

from __future__ import annotations

from pathlib import Path

from eyelevel.analysis.trials.downlink import MEASURES as DOWNLINK_MEASURES
from eyelevel.analysis.trials.limits import LIMITS
from eyelevel.metrics.catalogue import METRICS
from eyelevel.metrics.steps import STEP_METRICS

_CONVENTION = """\
## Convention

Time zero is navigation start. The picture is the page's viewport alone, scaled to 640 x 360 pixels
by the compositor and kept without loss; its state at time zero is the empty page. Any difference in
any pixel counts as a change. Visual progress of a frame is the sum
over all RGB histogram bins of min(|now - first|, |final - first|), over the sum of
|final - first|; pixels with all three channels at 250 or more are left out.

A load's metric is missing if what it measures did not happen; it is never 0 for that reason.

## Differences from Browsertime

`eyelevel metrics video FILE` follows Browsertime's convention for any recorded video (orange until
the navigation, then the page, perhaps under a browser's bar); on the videos that it was compared
with First and Last Visual Change and Visually Complete are equal to Browsertime 28.3's, the Speed
Index within 1 %, the perceptual and contentful ones within 3 %. With `--convention eyelevel` the
whole picture is the page, nothing is masked, nothing floored. Measured loads differ from
Browsertime in these points:

- **Time zero**: the last orange frame there, navigation start here; the orange page stays for an
  unknown time after the navigation began.
- **Pixels**: thumbnails 400 pixels wide of a lossy video there, lossless ones of 640 here.
- **A change**: there a channel of a pixel must differ by more than 15 %, here any difference
  counts, so faint first paints do.
- **Margins**: if no browser's bar is found, the top 40, right 10 and bottom 24 thumbnail pixels
  are masked there. It hides the head of a page: of a drawn video (`synthetic.mp4`) whose bar
  appears at 500 ms, Browsertime says 1000. Nothing is masked here.
- **Flooring**: progress is floored to whole percent there, which delays Visually Complete and
  lengthens the Speed Index by up to 1 % of the load. Not rounded here.

Both compare colours, not positions: a page whose text moves makes no progress by the histogram, and
a picture replaced by one of like colours counts as complete. The perceptual Speed Index (structural
similarity to the final picture) and the contentful one (share of Canny edges) compare positions;
both run from First Visual Change on. Of a measured load they are computed on grey pictures about
320 pixels wide, of a video on thumbnails 400 wide. Browsertime's contentful index weighs
each interval with the edges at its end instead of its start, so content counts one change too
early; the same is done here in its convention, to agree with it, and not in ours.
"""


def reference_page() -> str:
    """The text of `docs/reference/metrics.md`."""
    lines = [
        "# Metrics",
        "",
        "Computed from a record when it is read, never stored in it (`eyelevel metrics run DIR`).",
        "Lower is better, but for the counts, which only describe. Where one has to speak for a",
        "study it is the Speed Index, declared beforehand; only a time can be declared.",
        "",
        "| metric | name | unit | definition | source |",
        "| --- | --- | --- | --- | --- |",
    ]
    lines += [
        f"| {metric.title} | `{metric.name}` | {metric.unit} "
        f"| {metric.definition} | {metric.source} |"
        for metric in METRICS
    ]
    lines += [
        "",
        "## Steps after the load",
        "",
        "Each step of `after_load` is measured on its own, from the moment its input was sent",
        "(`eyelevel metrics DIR --json`, key `after_load`).",
        "",
        "| name | meaning |",
        "| --- | --- |",
        *(f"| `{name}` | {meaning} |" for name, meaning in STEP_METRICS.items()),
        "",
        "## The downlink during a load",
        "",
        "From the path's timeline in the record (`spec/lab-events.md`): intervals of 1 ms, or of",
        "2, 4, ... ms where 512 would not reach. They describe loads, in the trials' table and",
        "beside causes; no stack is called faster by them. A load with cross traffic",
        "beside it has none.",
        "",
        "| name | definition |",
        "| --- | --- |",
        *(f"| `{name}` | {definition} |" for name, definition in DOWNLINK_MEASURES.items()),
        "",
        "## What kept the servers",
        "",
        "From the servers' word at the end of each connection; the report has them beside the",
        "downlink's.",
        "",
        "| name | definition |",
        "| --- | --- |",
        *(f"| `{name}` | {definition} |" for name, definition in LIMITS.items()),
        "",
        _CONVENTION,
        "Written by `python -m eyelevel.reference.metrics`; a test compares the two.",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    Path("docs/reference/metrics.md").write_text(reference_page(), encoding="utf-8")
