"""The first screen: the question, the answer, what to beware of, the table of gains."""

from collections import Counter

import polars as pl

from eyelevel.analysis.gains.cells import NetworkGain
from eyelevel.analysis.gains.weighted import weighted_gain
from eyelevel.analysis.phrases import (
    FEW_BLOCKS,
    NO_BREAK,
    SIGNIFICANCE_LEVEL,
    answer,
    detectable,
    interval,
    percent,
)
from eyelevel.analysis.shown import title_of
from eyelevel.analysis.study import Contents
from eyelevel.networks.stages import describe
from eyelevel.report.html import Markup, element, join, table
from eyelevel.report.sections.level import not_level, not_measured
from eyelevel.report.sections.stop_rule import not_sure_enough
from eyelevel.report.statistic_cells import estimate_cell

# Load average over cores, read before the run needs any: the half of them must be free.
BUSY_SHARE = 0.5


def opening(contents: Contents) -> Markup:
    """Question, answer in a sentence a stack, and warnings."""
    plan = contents.plan
    sentences = answers(contents)
    first = said_first(contents)
    return element(
        "header",
        element("p", "eyelevel report", class_="eyebrow"),
        element("h1", plan["title"] or "How do the stacks compare?"),
        *map(_warning, first),
        *(element("p", sentence, class_="answer") for sentence in sentences),
        *(_warning(each) for each in warnings(contents) if each not in first),
    )


def answers(contents: Contents) -> list[str]:
    """A sentence a stack, and one over all networks of a plan with weights; why there is none."""
    plan = contents.plan
    if not contents.blocks.kept.height:
        return [_why_no_answer(contents), *overall(contents)]
    sentences = answer(
        contents.gains,
        plan["reference"],
        plan["primary_metric"],
        plan["smallest_effect_of_interest"],
    )
    return [*sentences, *overall(contents)]


def _why_no_answer(contents: Contents) -> str:
    """What ended most of the loads that count for nothing."""
    nothing = "There is no complete block to compare yet"
    failed = contents.table.filter(~pl.col("outcome").is_in(["ok", "timeout"]))
    if not failed.height:
        return f"{nothing}."
    (outcome, count), *_ = (
        failed.group_by("outcome", maintain_order=True)
        .len()
        .sort("len", descending=True, maintain_order=True)
        .iter_rows()
    )
    details = failed.filter(pl.col("outcome") == outcome)["outcome_detail"]
    said, often = Counter(details.to_list()).most_common(1)[0]
    which = "" if often == count else "one of them: "
    of = contents.table.height
    return f"{nothing}: {count} of {of} loads ended as {outcome}: {which}{said.rstrip('.')}."


def _warning(said: tuple[str, str]) -> Markup:
    head, text = said
    return element("p", element("strong", head), " ", text, class_="warning", role="note")


def overall(contents: Contents) -> list[str]:
    """Of a plan with weights: a sentence a stack about its gain over all networks."""
    weights, metric = contents.plan.get("weights"), contents.plan["primary_metric"]
    if not weights:
        return []
    sentences = []
    for stack in contents.stacks[1:]:
        gains = [each for each in contents.gains if (each.stack, each.metric) == (stack, metric)]
        gain = weighted_gain(gains, weights)
        if gain.value is None or gain.low is None:
            said = f"undetermined ({gain.reason})"
        else:
            said = f"{percent(gain.value)}, 95 % interval {interval(gain)}"
        sentences.append(f"{stack} over all networks, by their weights: {said}.")
    return sentences


def outcomes_differ(contents: Contents) -> list[tuple[str, str]]:
    """What must be said before anything else: stacks differ in how often their loads end badly."""
    found = []
    for test, what in (
        (contents.timeout_rates, "time out"),
        (contents.failure_rates, "fail by the instrument's fault"),
    ):
        if test.p is not None and test.p <= SIGNIFICANCE_LEVEL:
            text = (
                f"Loads {what} more often with some stacks than with others "
                f"(p = {test.p:.2g}); see the outcomes below. What is left may not be comparable."
            )
            found.append(("Outcomes differ between stacks.", text))
    return found


def said_first(contents: Contents) -> list[tuple[str, str]]:
    """What must be said before the answer."""
    return [*outcomes_differ(contents), *not_level(contents)]


def warnings(contents: Contents) -> list[tuple[str, str]]:
    """What a reader must know before the numbers: a heading and a sentence each."""
    found = said_first(contents)
    if contents.stopped:
        reason = contents.stopped["reason"]
        text = f"It ended {reason}. Its intervals hold whenever one stops."
        found.append(("The study stopped early.", text))
    found += not_sure_enough(contents)
    pending = len(contents.plan["trials"]) - contents.table.height
    if pending:
        text = f"{pending} of {len(contents.plan['trials'])} loads are not there yet."
        found.append(("The run is not complete.", text))
    if contents.foreign:
        text = f"{contents.foreign} records that the plan does not name are left out."
        found.append(("Other records in the directory.", text))
    load, cores = (contents.environment.get(key) for key in ("load_1min", "cores"))
    if load is not None and cores is not None and load > BUSY_SHARE * cores:
        text = (
            f"When the run began, {load:.1f} processes were competing for {cores} cores. Loads may "
            "have waited for the processor, and stacks that need more of it look slower."
        )
        found.append(("The machine was busy.", text))
    broken = [
        f"{name} {check['measured']} (bound: {check['bound']})"
        for name, check in contents.environment.get("path_checks", {}).items()
        if check["passed"] is False
    ]
    if broken:
        text = (
            f"Measured when the run began: {'; '.join(broken)}. Loads that saw late packets are "
            "excluded; `eyelevel validate path` shows whether the machine can do better."
        )
        found.append(("The emulated network was not within its bounds.", text))
    for site, altered in contents.environment.get("altered_sites", {}).items():
        text = f"{'. '.join(altered)}. Its loads say how the altered page behaves."
        found.append((f"{site} is not as it was recorded.", text))
    for site, share in contents.environment.get("secure_shares", {}).items():
        text = (
            f"{percent(1 - share, signed=False)} of its objects were recorded over http: they come "
            "in cleartext over HTTP/1.1 with every stack, so that stacks look more alike than they "
            "are."
        )
        found.append((f"{site} is not all https.", text))
    if len(_versions(contents)) > 1:
        text = "The loads were made with more than one version; see what was run."
        found.append(("Versions changed during the run.", text))
    if (blocks := contents.plan["blocks"]) < FEW_BLOCKS and not contents.plan.get("stop"):
        found.append(_few_blocks(contents, blocks))
    return [*found, *not_measured(contents)]


def _few_blocks(contents: Contents, blocks: int) -> tuple[str, str]:
    effects = detectable(contents.gains, contents.plan["primary_metric"])
    text = "So few cannot show small effects, and a quiet moment or a busy one weighs heavily."
    if effects:
        low, high = (percent(effect, signed=False) for effect in effects)
        size = f"about {high}" if low == high else f"{low} to {high}, by stack and network,"
        text = (
            f"With the spread seen here, a true difference smaller than {size} would often be "
            "missed. Take it as a first look, not as a study."
        )
    return (f"Only {blocks} {'block' if blocks == 1 else 'blocks'}.", text)


def _versions(contents: Contents) -> set[str]:
    return set(contents.table["versions"].unique())


def gain_tables(contents: Contents) -> Markup:
    """One table a network: a row a metric, a column a stack."""
    by_key = {(gain.network, gain.stack, gain.metric): gain for gain in contents.gains}
    others = contents.stacks[1:]
    tables = []
    for network in contents.plan["networks"]:
        name = network["name"]
        rows = [
            [
                _metric_name(contents, metric),
                *(_gain_cell(by_key.get((name, stack, metric))) for stack in others),
            ]
            for metric in contents.metrics
        ]
        caption = join([element("strong", name), " ", element("span", describe_network(network))])
        tables.append(table(caption, ["metric", *others], rows, class_="gains"))
    note = (
        f"Performance gain against {contents.plan['reference']}: (X − reference) / reference of "
        "the means over the runs, averaged over the sites; negative is faster. Below each gain its "
        f"95{NO_BREAK}% interval: the run-to-run noise of these sites in this lab, not what other "
        f"sites would show. {title_of(contents.plan['primary_metric'])} was declared as the "
        "primary metric; "
    )
    if contents.plan.get("stop"):
        note += (
            "since the study might stop at any block, its gain is the geometric mean's and its "
            "interval a confidence sequence, which holds at all blocks together for all "
            "comparisons together. The other metrics describe, with neither correction nor "
            "allowance for stopping."
        )
    else:
        note += (
            "its comparisons are corrected after Holm before anything is called faster or slower. "
            "The other metrics describe, without correction."
        )
    if any(cell.timeouts or cell.timeouts_reference for cell in contents.cells):
        note += (
            " Where a load timed out there is no mean; the medians and paired differences site by "
            "site take it as slower than the limit."
        )
    return element(
        "section",
        element("h2", "Performance gain", id="gain"),
        element("div", *tables, class_="pair"),
        element("p", note, class_="note"),
        aria_labelledby="gain",
    )


def describe_network(network: dict) -> str:
    """A network's settings in one line."""
    if "stages_down" in network:
        down, up = (describe(network[key]) for key in ("stages_down", "stages_up"))
        return f"down: {down}; up: {up}{_beside(network)}"
    down, up = (network[key] / 1e6 for key in ("rate_down_bit_s", "rate_up_bit_s"))
    loss_down, loss_up = network["loss_down"], network["loss_up"]
    loss = "no random loss"
    if loss_down or loss_up:
        loss = f"{loss_down * 100:.3g} % of packets lost down, {loss_up * 100:.3g} % up"
    return (
        f"{down:g} Mbit/s down, {up:g} up, {network['rtt_ms_min']:g} ms round trip, "
        f"{network['queue_ms']:g} ms queue, {loss}{_beside(network)}"
    )


def _beside(network: dict) -> str:
    kinds = network.get("cross_traffic") or ()
    said = [f"{k['flows']} {k['congestion_control']} {k['direction']}" for k in kinds]
    return f"; beside it {', '.join(said)}" if said else ""


def _metric_name(contents: Contents, metric: str) -> object:
    title = title_of(metric)
    if metric == contents.plan["primary_metric"]:
        return join([title, " ", element("span", "primary", class_="tag")])
    return title


def _gain_cell(gain: NetworkGain | None) -> object:
    if gain is None or (gain.gain.value is None and not gain.gain.reason):
        return element("span", "no data", class_="quiet")
    estimate = gain.gain
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return estimate_cell(estimate, percent)
    clear = estimate.excludes_zero
    if gain.p_holm is not None:  # the primary metric's, which is corrected for the family
        clear = gain.p_holm <= SIGNIFICANCE_LEVEL
    direction = ("faster" if estimate.value < 0 else "slower") if clear else "open"
    return estimate_cell(estimate, percent, direction)
