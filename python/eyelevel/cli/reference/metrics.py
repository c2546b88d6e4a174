"""Generate the metrics' reference page."""

from __future__ import annotations

from eyelevel.analysis.metrics.catalogue import METRICS
from eyelevel.analysis.metrics.steps import STEP_METRICS
from eyelevel.analysis.trials.limits import LIMITS
from eyelevel.analysis.trials.waits import MEASURES as DOWNLINK_MEASURES

_CONVENTION = """\
## Convention

Time zero is navigation start. The picture is only the page's viewport, scaled to 640 x 360 pixels
by the compositor and kept without loss; at time zero it is the empty page. Any difference in any
pixel counts as a change. Visual progress of a frame is the sum over all RGB histogram bins of
min(|now - first|, |final - first|), divided by the sum of |final - first|; pixels with all three
channels at 250 or more are left out.

If a page replaces its document (it redirects by script, or reloads itself), time zero is the first
document's navigation start. Page Load Time, Time To First Byte, both Contentful Paints with their
parts, DOMContentLoaded, Total Blocking Time and Cumulative Layout Shift are those of the newest
document, on that clock. Visual metrics, bytes, objects, connections and handshakes are those of all
documents (`navigation.documents` of the record). A load that ends on a document that no server
gave, such as `about:blank`, has no times and is `different-page`.

A page's own times are metrics, too: `mark:NAME`, from navigation start, and `measure:NAME`, a
duration (User Timing), each by the first entry of its name, in a plan's `primary_metric`, in the
report, which shows the 20 names of most loads, and in gates. Tables have them with their unit, such
as `mark:NAME_ms`.

A load's metric is missing if what it measures did not happen; it is never 0 for that reason. If a
load has 0 (Total Blocking Time, Interaction to Next Paint, `measure:NAME`), there is no ratio, and
the primary metric's gains are of arithmetic means over the loads, in place of geometric ones.
Cumulative Layout Shift is a score, most often 0, and no primary metric: reports have its
difference, gates a limit (`STACK.cls.p75 above 0.1`).

## Differences from Browsertime

`eyelevel metrics video FILE` follows Browsertime's convention for any recorded video (orange until
the navigation, then the page, perhaps under a browser's bar). Compared with Browsertime 28.3's own
script on videos drawn for each of its remedies, First and Last Visual Change are within a frame and
the Speed Index is within 1 %; on recorded loads the perceptual and contentful ones are within 3 %
(`tests/system/browser/test_video_remedies.py`). A page that was still changing when the video ended
is marked (`settled` is false): its last change and its indices depend on when the video ends. So is
a video without orange (`navigation_shown` is false), whose times count from its first frame. With
`--convention eyelevel` the whole picture is the page, nothing is masked or floored, and a change is
a channel of a pixel that differs by more than 14 of 255, which lossy video does to an unchanged
picture. Measured loads differ from Browsertime in these points:

- **Time zero** is the last orange frame there and navigation start here; the orange page stays for
  an unknown time after the navigation began.
- **Pixels** come from thumbnails of a lossy video, 400 pixels wide, there, and from lossless
  pictures, 640 wide, here.
- **A change** there needs a channel of a pixel to differ by more than 10 % from the blank page at
  first, and 15 % from the final one at last. Here any difference counts, so faint paints do, too.
- **Margins** are masked there if no browser's bar is found: the top 40, right 10 and bottom 10
  thumbnail pixels, which hides the head of a page. Nothing is masked here.
- **Flooring** of progress to whole percent there delays Visually Complete and lengthens the Speed
  Index by up to 1 % of the load. Progress is not rounded here.

Both compare colours, not positions: a page whose text moves makes no progress in the histogram, and
a picture replaced by one of similar colours counts as complete. The perceptual Speed Index
(structural similarity to the final picture) and the contentful one (share of Canny edges) compare
positions; both start at First Visual Change. For a measured load they are computed on grey pictures
about 320 pixels wide, for a video on thumbnails 400 wide. Browsertime's contentful index weights
each interval with the edges at its end; here that is so only in Browsertime's convention.
"""


def reference_page() -> str:
    """Return the text of `docs/reference/metrics.md`."""
    lines = [
        "# Metrics",
        "",
        "Metrics are computed from a record when it is read, and never stored in it (`eyelevel",
        "metrics run DIR`). Lower is better, except for counts, which only describe. The primary",
        "metric of a study is declared beforehand; it must be a time, and is the Speed Index by",
        "default. The [convention](#convention) is below.",
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
        "(`eyelevel metrics run DIR --json`, key `after_load`).",
        "",
        "| name | meaning |",
        "| --- | --- |",
        *(f"| `{name}` | {meaning} |" for name, meaning in STEP_METRICS.items()),
        "",
        "## The downlink during a load",
        "",
        "These come from the path's timeline in the record (`spec/lab-events.md`), in intervals of",
        "1 ms, or of 2, 4, ... ms if 512 intervals would not be enough. They only describe. A load",
        "with cross traffic has none.",
        "",
        "| name | definition |",
        "| --- | --- |",
        *(f"| `{name}` | {definition} |" for name, definition in DOWNLINK_MEASURES.items()),
        "",
        "## What limited the servers",
        "",
        "The servers report these at the end of each connection.",
        "",
        "| name | definition |",
        "| --- | --- |",
        *(f"| `{name}` | {definition} |" for name, definition in LIMITS.items()),
        "",
        _CONVENTION,
        "Written by `python -m eyelevel.cli.reference`; a test compares the two.",
        "",
    ]
    return "\n".join(lines)
