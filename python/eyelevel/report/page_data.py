"""The data of the page's script: charts, each drawn when it is first seen, and filmstrips.

Both are within a byte limit.
"""

import json

from eyelevel.analysis.study import StudyResults
from eyelevel.base.json_types import JsonObject
from eyelevel.report.figures.catalogue import PaperFigure
from eyelevel.report.figures.filmstrips import filmstrips
from eyelevel.report.html import Markup, element

SPECIFICATION_BYTES_MAX = 800_000


ALL_BYTES_MAX = 2_000_000  # keeps the page below 15 MB together with the filmstrips


class PageData:
    """The charts' specifications by element id, and the filmstrips."""

    def __init__(self, results: StudyResults) -> None:
        self.specifications: dict[str, JsonObject] = {}
        self.filmstrips = filmstrips(results)
        self._contents = results
        self._left = ALL_BYTES_MAX

    def place(self, figure: PaperFigure) -> Markup | None:
        """Return the element for `figure` and store its chart; None if it has no rows."""
        rows = figure.rows(self._contents)
        if not rows.height:
            return None
        summary = element("summary", figure.title, " ", element("small", figure.source))
        chart = figure.chart(rows, self._contents)
        size = len(json.dumps(chart))
        if size > min(self._left, SPECIFICATION_BYTES_MAX):
            command = element("code", f"eyelevel figures DIR --only {figure.name}")
            notice = element("p", "Too large for this page. Make it with ", command, ".")
            return element("details", summary, notice)
        self._left -= size
        place = f"figure-{figure.name}"
        self.specifications[place] = chart
        label = f"Chart: {figure.title}, {figure.source}"
        picture = element("div", id=place, class_="drawing", role="img", aria_label=label)
        scroll = element(
            "div", picture, class_="scroll", tabindex="0", role="region", aria_label=figure.title
        )
        return element("details", summary, scroll, class_="figure")

    def as_data(self) -> JsonObject:
        """Return the data blocks by the names that the script reads."""
        return {
            "specs": self.specifications,
            "strips": self.filmstrips.as_data(),
            "stacks": self._contents.stacks,
        }
