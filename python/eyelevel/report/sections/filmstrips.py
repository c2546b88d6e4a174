"""Filmstrips side by side, and two pictures at one moment."""

from eyelevel.analysis.shown import title_of
from eyelevel.analysis.study import Contents
from eyelevel.report.html import Markup, element, join, options, script_note, titled_section
from eyelevel.report.page_data import PageData


def filmstrips_section(contents: Contents, data: PageData) -> Markup:
    """Typical loads of every site and network, or that there are no frames."""
    strips = data.filmstrips
    if not strips.strips:
        text = "No frames were kept for the counted loads."
        return titled_section("filmstrips", "Side by side", element("p", text))
    sites = dict.fromkeys(strip["site"] for strip in strips.strips)
    networks = dict.fromkeys(strip["network"] for strip in strips.strips)
    stacks = [(stack, stack) for stack in contents.stacks]
    metric = title_of(contents.primary_metric)
    note = f"For each stack the load whose {metric} is the median of its counted loads."
    if strips.left_out:
        note += f" {strips.left_out} pairs of site and network are left out to keep the page small."
    network = list(networks)[-1]
    return titled_section(
        "filmstrips",
        "Side by side",
        element(
            "div",
            _select("strip-site", "site", options(((s, s) for s in sites), next(iter(sites)))),
            _select("strip-network", "network", options(((n, n) for n in networks), network)),
            _select("strip-first", "first", options(stacks, contents.stacks[0])),
            _select("strip-second", "second", options(stacks, contents.stacks[-1])),
            class_="controls",
        ),
        _player(),
        element(
            "div",
            id="filmstrip",
            class_="scroll filmstrip",
            tabindex="0",
            role="region",
            aria_label="filmstrips",
            data_metric=metric,
        ),
        element("p", note, class_="note"),
        script_note("The filmstrips need JavaScript."),
    )


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
