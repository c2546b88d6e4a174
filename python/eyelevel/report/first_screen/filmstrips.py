"""Two loads of one typical block side by side at one moment, and their filmstrips."""

from dataclasses import dataclass

from eyelevel.analysis.answers.headline import headline_network
from eyelevel.analysis.report_metrics import title_of
from eyelevel.analysis.study import StudyResults
from eyelevel.report.html import Markup, element
from eyelevel.report.page_data import PageData
from eyelevel.report.templates import render


@dataclass(frozen=True)
class FirstPair:
    """The initial selection of the page's script, and the alternatives."""

    sites: tuple[str, ...]
    networks: tuple[str, ...]
    stacks: tuple[str, ...]
    site: str
    network: str
    first: str
    second: str
    metric: str
    left_out: int


def first_pair(contents: StudyResults, data: PageData) -> Markup:
    """Return the loads of the first comparison on the headline's network, from time zero on."""
    strips = data.filmstrips
    if not strips.strips or not contents.comparisons:
        return element("p", "No frames were kept for the loads that count.", class_="note")
    asked, named = contents.comparisons[0], headline_network(contents)
    networks = tuple(dict.fromkeys(strip["network"] for strip in strips.strips))
    network = named if named in networks else networks[0]
    pair = FirstPair(
        sites=tuple(dict.fromkeys(strip["site"] for strip in strips.strips)),
        networks=networks,
        stacks=tuple(contents.stacks),
        site=next(strip["site"] for strip in strips.strips if strip["network"] == network),
        network=network,
        first=asked.reference,
        second=asked.stack,
        metric=title_of(contents.primary_metric),
        left_out=strips.left_out,
    )
    return render("pair", pair)
