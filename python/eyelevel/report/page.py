"""The page: one HTML file that needs no network and no other file."""

import polars as pl

from eyelevel.analysis.figures.filmstrips import Filmstrips, filmstrips
from eyelevel.analysis.shown import title_of
from eyelevel.analysis.study import Contents
from eyelevel.figures.distribution import (
    ALL_SITES,
    NETWORKS_MAX,
    SITES_MAX,
    cumulative,
    distribution_chart,
)
from eyelevel.figures.gain_chart import gain_chart
from eyelevel.report.drawings import Drawings
from eyelevel.report.html import Markup, element, join, options
from eyelevel.report.sections.appendix import appendix_section
from eyelevel.report.sections.cross_traffic import cross_traffic_section
from eyelevel.report.sections.details import outcomes_section, setup_section, sites_section
from eyelevel.report.sections.figures import figures_section
from eyelevel.report.sections.findings import gain_tables, opening
from eyelevel.report.sections.gain_details import gain_details
from eyelevel.report.sections.level import level_section
from eyelevel.report.sections.methods import methods_section
from eyelevel.report.sections.robustness import further_section
from eyelevel.report.sections.steps import steps_section
from eyelevel.report.sections.why import why_section
from eyelevel.report.shell import shell

ALL_NETWORKS = "all networks"
SCRIPTS = ("tables.js", "filmstrips.js", "page.js")


def page(contents: Contents) -> str:
    """The whole page as text."""
    strips = filmstrips(contents)
    drawings = Drawings(contents)
    main = element(
        "main",
        opening(contents),
        gain_tables(contents),
        gain_details(contents),
        _charts(contents),
        why_section(contents, drawings),
        _filmstrips(contents, strips),
        sites_section(contents),
        further_section(contents),
        steps_section(contents),
        figures_section(contents, drawings),
        cross_traffic_section(contents),
        outcomes_section(contents),
        setup_section(contents),
        level_section(contents),
        appendix_section(contents),
        methods_section(contents),
    )
    data = {
        "specs": _specifications(contents) | drawings.specifications,
        "strips": strips.as_data(),
        "stacks": contents.stacks,
    }
    return shell(contents.plan["title"] or "eyelevel report", main, data, *SCRIPTS)


def _specifications(contents: Contents) -> dict[str, dict]:
    metric = contents.plan["primary_metric"]
    gains = pl.DataFrame(
        [
            {
                "network": gain.network,
                "metric": gain.metric,
                "stack": gain.stack,
                **gain.gain.as_columns("gain"),
            }
            for gain in contents.gains
        ],
        schema={
            "network": pl.String,
            "metric": pl.String,
            "stack": pl.String,
            "gain": pl.Float64,
            "gain_low": pl.Float64,
            "gain_high": pl.Float64,
        },
    )
    curves = cumulative(contents.blocks.kept, contents.metrics)
    specifications = {}
    for index, network in enumerate(contents.networks):
        own_gains = gains.filter(pl.col("network") == network)
        own_curves = curves.filter(pl.col("network") == network)
        specifications[f"gain-{index}"] = gain_chart(
            own_gains, contents.stacks, metric, _extent(gains)
        )
        specifications[f"curve-{index}"] = distribution_chart(own_curves, contents.stacks, metric)
    return specifications


def _extent(gains: pl.DataFrame) -> tuple[float, float]:
    """The axis of all gain charts: every dot is inside, and intervals that are not much wider."""
    values = gains["gain"].drop_nulls().to_list()
    reach = 2.5 * max([0.02, *(abs(value) for value in values)])
    # A gain may be known without an interval, as of one block.
    bounds = [*values, *gains["gain_low"].drop_nulls(), *gains["gain_high"].drop_nulls(), 0.0]
    return max(-reach, min(bounds)), min(reach, max(bounds))


def _charts(contents: Contents) -> Markup:
    metrics = options(
        ((name, title_of(name)) for name in contents.metrics), contents.plan["primary_metric"]
    )
    sites = options(((name, name) for name in (ALL_SITES, *contents.sites)), ALL_SITES)
    figures = []
    for index, network in enumerate(contents.networks):
        figures.append(
            element(
                "figure",
                element("figcaption", network),
                _chart(
                    f"gain-{index}",
                    f"Chart: gains with their intervals on {network}; the table has them",
                ),
                _chart(
                    f"curve-{index}", f"Chart: cumulative distributions of the loads on {network}"
                ),
                data_network=network,
                **({} if index < NETWORKS_MAX else {"hidden": ""}),
            )
        )
    few = len(contents.networks) <= NETWORKS_MAX
    all_networks = [(ALL_NETWORKS, ALL_NETWORKS)] if few else []
    networks = options(
        (*all_networks, *((name, name) for name in contents.networks)),
        ALL_NETWORKS if all_networks else contents.networks[0],
    )
    return element(
        "section",
        element("h2", "Charts", id="charts"),
        element(
            "div",
            element("label", "metric ", element("select", metrics, id="metric")),
            element("label", "network ", element("select", networks, id="network")),
            element("label", "site ", element("select", sites, id="site")),
            element(
                "span",
                *map(_legend, range(len(contents.stacks)), contents.stacks),
                class_="legend",
                role="group",
                aria_label="stacks shown",
            ),
            class_="controls",
        ),
        element("div", *figures, class_="pair"),
        element(
            "p",
            "Above, the mean gain over all sites with its interval; intervals far wider than the "
            "gains are cut at the axis. Below, the share of counted loads that were at least as "
            "fast; a curve that ends below the top has timeouts. In studies of more than "
            f"{SITES_MAX} sites single ones have curves of the primary metric only, and in studies "
            f"of more than {NETWORKS_MAX} networks all sites together have. What is chosen here "
            "also chooses the rows site by site.",
            class_="note",
        ),
        _noscript("The charts need JavaScript; the tables hold the same numbers."),
        aria_labelledby="charts",
    )


def _chart(identity: str, label: str) -> Markup:
    return element("div", id=identity, class_="chart", role="img", aria_label=label)


def _legend(index: int, stack: str) -> Markup:
    swatch = element("span", class_=f"swatch stack-{index % 8}", aria_hidden="true")
    return element(
        "button", swatch, stack, class_="key", type="button", data_stack=stack, aria_pressed="true"
    )


def _noscript(text: str) -> Markup:
    return element("noscript", element("p", text))


def _filmstrips(contents: Contents, strips: Filmstrips) -> Markup:
    heading = element("h2", "Side by side", id="filmstrips")
    if not strips.strips:
        text = "No frames were kept for the counted loads."
        return element("section", heading, element("p", text), aria_labelledby="filmstrips")
    sites = dict.fromkeys(strip["site"] for strip in strips.strips)
    networks = dict.fromkeys(strip["network"] for strip in strips.strips)
    stacks = [(stack, stack) for stack in contents.stacks]
    metric = title_of(contents.plan["primary_metric"])
    note = f"For each stack the load whose {metric} is the median of its counted loads."
    if strips.left_out:
        note += f" {strips.left_out} pairs of site and network are left out to keep the page small."
    network = list(networks)[-1]
    return element(
        "section",
        heading,
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
        _noscript("The filmstrips need JavaScript."),
        aria_labelledby="filmstrips",
    )


def _player() -> Markup:
    """Two pictures at one moment, which the slider moves for both."""
    slider = Markup('<input type="range" id="strip-time" min="0" value="0" step="10">')
    return element(
        "div",
        element("div", id="strip-stage", class_="stage"),
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
