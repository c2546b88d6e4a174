"""Two typical loads side by side at one moment, and their filmstrips."""

from eyelevel.analysis.shown import title_of
from eyelevel.analysis.study import Contents
from eyelevel.report.html import Markup, element, join, options, script_note
from eyelevel.report.page_data import PageData

MOMENT = ", starting when they differ most. The slider moves both."


def first_pair(contents: Contents, data: PageData) -> Markup:
    """Typical loads of both stacks of the first comparison; below, what chooses other ones."""
    strips = data.filmstrips
    if not strips.strips or not contents.comparisons:
        return element("p", "No frames were kept for the loads that count.", class_="note")
    asked = contents.comparisons[0]
    sites = dict.fromkeys(strip["site"] for strip in strips.strips)
    networks = dict.fromkeys(strip["network"] for strip in strips.strips)
    stacks = [(stack, stack) for stack in contents.stacks]
    metric = title_of(contents.primary_metric)
    note = (
        f"The load shown for each stack is the one whose {metric} is the median of its counted "
        "loads."
    )
    if strips.left_out:
        note += (
            f" {strips.left_out} combinations of site and network are left out to keep the page "
            "small."
        )
    choices = element(
        "div",
        _select("strip-site", "site", options(((s, s) for s in sites), next(iter(sites)))),
        _select(
            "strip-network", "network", options(((n, n) for n in networks), _network(contents))
        ),
        _select("strip-first", "first", options(stacks, asked.reference)),
        _select("strip-second", "second", options(stacks, asked.stack)),
        class_="controls",
    )
    strip = element(
        "div",
        id="filmstrip",
        class_="scroll filmstrip",
        tabindex="0",
        role="region",
        aria_label="filmstrips",
        data_metric=metric,
    )
    return element(
        "section",
        _player(),
        element(
            "p",
            "Each stack's typical load",
            element("span", id="strip-where"),
            MOMENT,
            class_="note",
        ),
        element(
            "details",
            element("summary", "Frame by frame, and other sites, networks and stacks"),
            choices,
            strip,
            element("p", note, class_="note"),
        ),
        script_note("The filmstrips need JavaScript."),
        aria_label="side by side",
    )


def _network(contents: Contents) -> str:
    """Where the first comparison's gain is largest: there is most to see."""
    asked, metric = contents.comparisons[0], contents.primary_metric
    known = {
        gain.network: abs(gain.gain.value)
        for gain in contents.gains
        if gain.comparison == asked and gain.metric == metric and gain.gain.value is not None
    }
    return max(known, key=lambda network: known[network], default="")


def _player() -> Markup:
    """Two pictures at one moment, which the slider moves for both, and how they got there."""
    slider = Markup('<input type="range" id="strip-time" min="0" value="0" step="10">')
    return element(
        "div",
        element("div", id="strip-stage", class_="stage"),
        element("figure", id="strip-progress", class_="progress"),
        element(
            "div",
            element("button", "Play", id="strip-play", type="button", class_="play"),
            element("label", "time ", slider, element("output", id="strip-now", for_="strip-time")),
            class_="controls",
        ),
        class_="player",
    )


def _select(identity: str, label: str, choices: Markup) -> Markup:
    return join([element("label", label + " ", element("select", choices, id=identity))])
