"""The rest of the page: each site's numbers, outcomes, exclusions, and what was run."""

import json
from collections.abc import Mapping
from typing import Any

import polars as pl

from eyelevel.analysis.conditions import of_browser
from eyelevel.analysis.gains.cells import Cell
from eyelevel.analysis.phrases import NO_BREAK, SIGNIFICANCE_LEVEL, milliseconds, percent
from eyelevel.analysis.shown import cells_shown, title_of
from eyelevel.analysis.study import Contents
from eyelevel.analysis.trials.measured import measured_rows
from eyelevel.level.stack_aspects import explain
from eyelevel.plan.stacks import congestion_control_said
from eyelevel.report.html import Markup, element, join, table
from eyelevel.report.sections.excluded import excluded_table
from eyelevel.report.sections.findings import describe_network
from eyelevel.report.statistic_cells import estimate_cell, signed_ms, undetermined_cell
from eyelevel.stats.hypothesis.cochran_q import RateTest
from eyelevel.store.outcomes import OUTCOMES

CELLS_MAX = 400  # rows; a larger study shows its primary metric by site, the rest is in the records
EXTREMES_MAX = 2000  # rows of a study that has more of the primary metric alone
LOADS_MAX = 500  # rows of loads that were not ok
SHORT_HASH = 12
NOT_SAID = (
    "version",
    "stacks_validated",
    "levels",
)  # of the environment, in the list of what was run


def sites_section(contents: Contents) -> Markup:
    """Each site's medians, gains, paired differences and the published ANOVA."""
    primary = contents.plan["primary_metric"]
    cells = cells_shown(contents.cells, primary, CELLS_MAX, EXTREMES_MAX)
    left_out = len(contents.cells) - len(cells)
    blocks = []
    for metric in dict.fromkeys(cell.metric for cell in cells):
        rows = [_cell_row(contents, cell) for cell in cells if cell.metric == metric]
        columns = [
            "site", "network", "stack", "pairs", "median", "reference's median",
            "mean gain, 95 % interval", "paired difference, 95 % interval", "ANOVA at 0.01",
        ]  # fmt: skip
        content = table(f"{title_of(metric)}, by site", columns, rows, class_="cells")
        opened = {"open": ""} if metric == primary else {}
        blocks.append(element("details", element("summary", title_of(metric)), content, **opened))
    if left_out:
        text = f"{left_out} comparisons are left to the records: `eyelevel.open(DIR).cells()`."
        if len(cells) == EXTREMES_MAX:
            text = f"The largest gains and losses, {EXTREMES_MAX} rows; {text}"
        blocks.append(element("p", text, class_="note"))
    note = (
        "Medians take a timeout as slower than the limit. The paired difference is the "
        "Hodges-Lehmann estimate over blocks; it has a 95 % interval from six blocks on. The ANOVA "
        "is the one of Wolsing et al. 2019, for comparison with the paper; it assumes independent "
        "runs and is not corrected for their number."
    )
    if contents.plan.get("stop"):
        note += " None of these allows for a study that stops when it has seen enough."
    return element(
        "section",
        element("h2", "Site by site", id="sites"),
        *blocks,
        element("p", note, class_="note"),
        aria_labelledby="sites",
    )


def _cell_row(contents: Contents, cell: Cell) -> list[object]:
    limit_s = contents.plan["browser"]["timeout_s"]
    pairs: object = cell.pairs
    if cell.without_value:
        pairs = f"{cell.pairs} ({cell.without_value} without a value)"
    return [
        cell.site,
        cell.network,
        cell.stack,
        pairs,
        milliseconds(cell.median, limit_s),
        milliseconds(cell.median_reference, limit_s),
        estimate_cell(cell.gain, percent),
        estimate_cell(cell.difference, lambda ms: signed_ms(ms, limit_s)),
        _anova(cell),
    ]


def _anova(cell: Cell) -> object:
    if cell.anova.p is None:
        return undetermined_cell(cell.anova.reason)
    return join([cell.anova.verdict, element("small", f"p = {cell.anova.p:.2g}")])


def outcomes_section(contents: Contents) -> Markup:
    """Counts of outcomes by stack, the tests of their rates, every load that was not ok."""
    counts = {
        (row["stack"], row["outcome"]): row["len"]
        for row in contents.table.group_by("stack", "outcome").len().iter_rows(named=True)
    }
    seen = [each for each in OUTCOMES if any(outcome == each.name for _, outcome in counts)]
    rows = [
        [each.name, *(counts.get((stack, each.name), 0) for stack in contents.stacks), each.meaning]
        for each in seen
    ]
    again = dict(contents.table.group_by("stack").agg(pl.col("retried").sum()).iter_rows())
    if any(again.values()):
        counted = [again.get(stack, 0) for stack in contents.stacks]
        rows.append(["(retried)", *counted, "Attempts that failed before, with the same trial."])
    columns = ["outcome", *contents.stacks, "meaning"]
    return element(
        "section",
        element("h2", "Outcomes", id="outcomes"),
        table("How the loads ended, by stack", columns, rows, class_="outcomes"),
        element("p", _rate_sentence("timeouts", contents.timeout_rates)),
        element("p", _rate_sentence("the instrument's failures", contents.failure_rates)),
        _not_ok(contents),
        excluded_table(contents),
        aria_labelledby="outcomes",
    )


def _rate_sentence(what: str, test: RateTest) -> str:
    if test.p is None:
        return f"Whether stacks differ in {what}: nothing to test ({test.reason})."
    finding = "they differ" if test.p <= SIGNIFICANCE_LEVEL else "no difference shown"
    how = f"permutation of Cochran's Q, p = {test.p:.2g}"
    return f"Whether stacks differ in {what}: {finding} ({how})."


def _not_ok(contents: Contents) -> Markup:
    failed = contents.table.filter(pl.col("outcome") != "ok").sort("block", "position")
    if failed.height == 0:
        return element("p", "Every load ended ok.")
    rows = [
        [
            row["block"],
            row["stack"],
            row["outcome"],
            row["outcome_detail"],
            element("code", row["hash"][:SHORT_HASH]),
        ]
        for row in failed.head(LOADS_MAX).iter_rows(named=True)
    ]
    caption = f"Loads that were not ok: {failed.height} of {contents.table.height}"
    if failed.height > LOADS_MAX:
        caption += f" (the first {LOADS_MAX})"
    return table(caption, ["block", "stack", "outcome", "reason", "trial"], rows, class_="loads")


def setup_section(contents: Contents) -> Markup:
    """What was run: versions, machine, sites, networks, stacks, seeds and hashes."""
    plan = contents.plan
    sites = [[site["name"], element("code", site["digest"])] for site in plan["sites"]]
    networks = [[each["name"], describe_network(each)] for each in plan["networks"]]
    return element(
        "section",
        element("h2", "What was run", id="setup"),
        _definitions(
            [
                ("plan", element("code", plan["hash"])),
                ("seed of the order and of each load's luck", plan["seed"]),
                ("loads", f"{contents.table.height} of {len(plan['trials'])} planned"),
                ("blocks", f"{plan['blocks']} of each site and network, every stack once in each"),
                (
                    "smallest effect of interest",
                    percent(plan["smallest_effect_of_interest"], False),
                ),
                ("limit of a load", _limit_said(plan["browser"])),
                *_lateness(contents),
                *_pressure(contents),
                *_waited(contents),
                *_flat({k: v for k, v in contents.environment.items() if k not in NOT_SAID}),
            ]
        ),
        table("Sites", ["site", "digest of its recording"], sites),
        table("Networks", ["network", "settings of the emulated path"], networks),
        _stacks(contents),
        element(
            "details",
            element("summary", "The plan, to run it again"),
            element("pre", plan["source"], tabindex="0", data_copy="the plan"),
        ),
        aria_labelledby="setup",
    )


def _limit_said(browser: Mapping[str, Any]) -> str:
    least = f"{browser['timeout_s']:g} s"
    return least if browser.get("timeout_given") else f"{least}, more where a page's bytes need it"


def _definitions(rows: list[tuple[str, object]]) -> Markup:
    pairs = (element("div", element("dt", name), element("dd", value)) for name, value in rows)
    return element("dl", *pairs)


def _flat(values: Mapping[str, Any], prefix: str = "") -> list[tuple[str, object]]:
    rows: list[tuple[str, object]] = []
    for key, value in values.items():
        name = f"{prefix}{key}".replace("_", " ")
        if isinstance(value, Mapping):
            rows += _flat(value, f"{name}: ")
        elif isinstance(value, list):
            rows.append((name, ", ".join(map(str, value))))
        elif value is not None:
            rows.append((name, _said(value)))
    return rows


def _lateness(contents: Contents) -> list[tuple[str, object]]:
    """The worst packet lateness that a counted load saw."""
    rows: list[tuple[str, object]] = []
    for key, name in (("lateness_us_p99", "p99"), ("lateness_us_max", "largest")):
        worst = contents.blocks.kept[key].max()
        if worst is not None:
            text = f"{worst / 1000:.2f} ms in the worst counted load"
            rows.append((f"packets read or released late, {name}", text))
    return rows


def _pressure(contents: Contents) -> list[tuple[str, object]]:
    """How much of the counted loads some process waited for a processor."""
    shares = contents.blocks.kept["cpu_pressure_share"].drop_nulls()
    if not shares.len():
        return []
    text = f"{shares.median():.0%} of the time in the median load, {shares.max():.0%} at most"
    return [("some process waited for a processor", text)]


def _waited(contents: Contents) -> list[tuple[str, object]]:
    """How long loads waited for a machine that had time for them."""
    told = contents.table["waited_for_host_ms"].drop_nulls() / 1e3
    if not told.len():
        return []
    waited = told.filter(told > 0)
    text = f"none of {told.len()}"
    if waited.len():
        text = (
            f"{waited.len()} of {told.len()}; of these {waited.median():.1f} s in the median, "
            f"{waited.max():.1f} s at most"
        )
    return [("loads that waited for a quiet machine first", text)]


def _stacks(contents: Contents) -> Markup:
    """Settings of every stack, one row a setting; what may be unsent depends on the network.

    What the level measured is in its appendix, pair by pair.
    """
    settings: dict[str, Mapping[str, Any]] = {}
    unsent: dict[str, set[Any]] = {}
    different = contents.table.select("stack", "stack_settings").unique(maintain_order=True)
    for stack, text in different.iter_rows():
        settings[stack] = {**of_browser(contents.plan)[stack], **json.loads(text)}
        unsent.setdefault(stack, set()).add(settings[stack].get("unsent_bytes_max"))
    stacks = [stack for stack in contents.stacks if stack in settings]
    names = dict.fromkeys(name for stack in stacks for name in settings[stack])
    rows = []
    for name in names:
        if name == "unsent_bytes_max":
            said = {stack: ", ".join(sorted(map(_said_unsent, unsent[stack]))) for stack in stacks}
        elif name == "congestion_control":
            said = {stack: congestion_control_said(settings[stack]) for stack in stacks}
        else:
            said = {stack: _said(settings[stack].get(name)) for stack in stacks}
        values = [said[stack] if _applies(name, settings[stack]) else "–" for stack in stacks]
        rows.append([name.replace("_", " "), *values])
    explained = [
        [row.name, row.kind, *row.values]
        for row in explain([settings[stack] for stack in stacks])
        if row.kind == "set"
    ]
    explained += [
        [aspect, "measured", *values] for aspect, values in measured_rows(contents.table, stacks)
    ]
    return join(
        [
            table("Stacks: set and measured", ["aspect", "kind", *stacks], explained),
            table("Stacks, as given to lab and browser", ["setting", *stacks], rows),
        ]
    )


def _applies(name: str, settings: Mapping[str, Any]) -> bool:
    """Whether a setting is in force over the stack's transport, or was left to the default."""
    if name not in ("receive_window_bytes", "unsent_bytes_max") and settings.get(name) is None:
        return False
    if settings["http_version"] == "h3":
        return name not in ("receive_window_bytes", "tls_record_bytes", "slow_start_after_idle")
    return name != "quic_packet_bytes"


def _said_unsent(value: Any) -> str:
    return "as the transport has it" if value is None else _said(value)


def _said(value: Any) -> str:
    if value is None:
        return "the kernel's"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}".replace(",", NO_BREAK)
    return f"{value:.4g}" if isinstance(value, float) else str(value)
