"""The report on probes: one HTML file that needs no network, in the style of a run's report."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from eyelevel.base.json_types import JsonMapping
from eyelevel.probes.analysis import Analysis, file_labels
from eyelevel.report.html import Markup, element, join, titled_section
from eyelevel.report.pages import probe_cdns, probe_conditions, probe_tables
from eyelevel.report.pages.probe_charts import charts_of, figures
from eyelevel.report.pages.probe_words import verdict_sentence
from eyelevel.report.shell import shell
from eyelevel.store.disk.results import write_result

TITLE = "How long connections take"
SENTENCES_SHOWN = 4


def write_probe_page(path: Path, analysis: Analysis) -> Path:
    """Write the page; the same rows give the same bytes."""
    write_result(path, probe_page(analysis))
    return path


def probe_page(analysis: Analysis) -> str:
    """Return the page as text."""
    charts = charts_of(analysis)
    differences = join([figures(charts, "differences"), probe_tables.differences(analysis)])
    times = join(
        [
            figures(charts, "connection time"),
            figures(charts, "DNS"),
            probe_tables.times(analysis),
        ]
    )
    main = element(
        "main",
        _opening(analysis),
        titled_section("datasets", "What was measured", probe_tables.datasets(analysis)),
        titled_section("differences", "Paired differences", differences),
        *probe_conditions.section(analysis.conditions),
        probe_cdns.section(analysis.by_cdn),
        titled_section("times", "Connection and DNS times", times),
        titled_section(
            "failures", "Failures and split connections", probe_tables.failures(analysis)
        ),
    )
    specifications = {f"chart-{i}": spec for i, (_, _, spec) in enumerate(charts)}
    return shell(TITLE, main, {"specs": specifications}, "probe.js")


def _opening(analysis: Analysis) -> Markup:
    rows, hosts = analysis.table.height, analysis.table["host"].n_unique()
    labels = file_labels(analysis.table["file"].unique(maintain_order=True))
    found = [*_list_findings(analysis.pairs, labels), *probe_conditions.found(analysis.conditions)]
    return element(
        "header",
        element("h1", TITLE),
        element(
            "p",
            f"{rows} measurements of {hosts} hosts from "
            f"{len(labels)} {'file' if len(labels) == 1 else 'files'}.",
        ),
        *_list_sentences(found),
        element(
            "p",
            "Each row of A in file order is paired with the first row of B of the same URL, family "
            "and vantage point at most 60 s apart; A - B is positive where B is faster. Intervals "
            "are of 95% over hosts: rows of one host are no independent evidence. A protocol is "
            "called faster where the sign test of the hosts' medians says so, corrected after Holm "
            "over all files and comparisons.",
        ),
    )


def _list_sentences(sentences: Sequence[Markup]) -> list[Markup]:
    """Return the first sentences, in the files' order, and the others in an element that
    unfolds."""
    lists = [element("ul", *sentences[:SENTENCES_SHOWN])] if sentences else []
    if more := sentences[SENTENCES_SHOWN:]:
        summary = f"{len(more)} more {'comparison' if len(more) == 1 else 'comparisons'}"
        lists.append(element("details", element("summary", summary), element("ul", *more)))
    return lists


def _list_findings(pairs: Iterable[JsonMapping], labels: Mapping[str, str]) -> list[Markup]:
    """Return a sentence for each comparison with enough hosts for an interval."""
    sentences = []
    for pair in pairs:
        share, a, b = pair["share_above_0"], pair["a"], pair["b"]
        if share["low"] is None:
            continue
        often = (
            f"{b} took less time than {a} in {share['value']:.1%} of {pair['n']} pairs "
            f"({share['low']:.1%} to {share['high']:.1%})"
        )
        text = f"{labels[pair['file']]}: {verdict_sentence(pair)}; {often}."
        claimed = pair["verdict"] in ("a faster", "b faster")
        sentences.append(element("li", text, **({} if claimed else {"class_": "unclear"})))
    return sentences
