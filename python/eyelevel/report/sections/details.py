"""What was run: versions, machine, sites, networks, stacks, seeds and hashes."""

import statistics
from collections.abc import Mapping

from eyelevel.analysis.conditions import describe_margin, list_planned_stacks
from eyelevel.analysis.formats import NO_BREAK
from eyelevel.analysis.study import StudyResults
from eyelevel.analysis.trials.facts import measure_rows
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.calibration.level.rows import explain
from eyelevel.plan.browser import Browser
from eyelevel.plan.in_force import stack_in_force
from eyelevel.report.html import Markup, element, join, make_titled_section, table

OMITTED_KEYS = (
    "version",
    "stacks_validated",
    "levels",
)  # keys of the environment that the list of what was run leaves out


RUN_AGAIN = element("code", "eyelevel run plan.toml --out DIR")
MACHINES_MAX = 8
"""The most machines that are named here; their table has all."""


def setup_json(results: StudyResults) -> JsonObject:
    """Return the environments of the loads: all machines together, and each."""
    return {
        "environment": _describe_environment(results.environment),
        "run_environments": [
            {
                "machine": each.machine or None,
                "name": each.name or None,
                "loads": each.loads,
                "environment": _describe_environment(each.environment),
            }
            for each in results.run_environments
        ],
    }


def _describe_environment(environment: JsonMapping) -> JsonObject:
    return {key: value for key, value in environment.items() if key not in OMITTED_KEYS}


def setup_section(results: StudyResults) -> Markup:
    """Return what was run: versions, machine, sites, networks, stacks, seeds and hashes."""
    plan = results.plan
    sites = [[site.name, element("code", site.digest)] for site in results.recordings]
    networks = [[network.name, network.described()] for network in results.plan.networks]
    return make_titled_section(
        "setup",
        "What was run",
        _definitions(
            [
                ("plan", element("code", results.plan_hash)),
                ("seed of the order and of each load's random choices", plan.seed),
                ("loads", f"{results.table.height} of {results.trials_planned} planned"),
                (
                    "blocks",
                    f"{plan.blocks} for each site and network, each with one load per stack",
                ),
                (
                    "smallest effect of interest",
                    describe_margin(results.plan),
                ),
                ("time limit of a load", _describe_limit(results.plan.browser)),
                *_lateness_rows(results),
                *_foreign_time_rows(results),
                *_wait_rows(results),
                *_machine_rows(results),
                *_flat(_describe_environment(results.environment)),
            ]
        ),
        table("Sites", ["site", "digest of its recording"], sites),
        table("Networks", ["network", "settings of the emulated path"], networks),
        _stacks(results),
        element(
            "details",
            element("summary", "The plan, to run it again"),
            element("p", "Save it as plan.toml, and type ", RUN_AGAIN, ".", class_="note"),
            element("pre", plan.source, tabindex="0", data_copy="the plan"),
        ),
    )


def _describe_limit(browser: Browser) -> str:
    least = f"{browser.limit_s:g} s"
    return least if browser.limit_is_given else f"{least}, more if a page's bytes need it"


def _definitions(rows: list[tuple[str, object]]) -> Markup:
    pairs = (element("div", element("dt", name), element("dd", value)) for name, value in rows)
    return element("dl", *pairs)


_NAMES = {
    "confined": "browser confined",
    "cpu": "processor",
    "load_1min": "load average before, one minute",
    "memory_bytes": "memory, bytes",
    "path_checks": "path",
    "realtime_allowed": "real-time priority allowed",
    "root": "started as root",
    "tcp_congestion_controls": "TCP's congestion controllers",
    "versions": "version",
}
"""The page's words for keys of an environment that are unclear to readers."""


def _flat(values: JsonMapping, prefix: str = "") -> list[tuple[str, object]]:
    rows: list[tuple[str, object]] = []
    for key, value in values.items():
        name = f"{prefix}{_NAMES.get(key, key.replace('_', ' '))}"
        if isinstance(value, Mapping) and value.keys() == {"measured", "bound", "passed"}:
            passed = {True: ", passed", False: ", failed"}.get(value["passed"], "")
            bound = "" if value["passed"] is None else f" (bound {value['bound']}{passed})"
            rows.append((name, f"{value['measured']}{bound}"))
        elif isinstance(value, Mapping):
            rows += _flat(value, f"{name}: ")
        elif isinstance(value, list):
            rows.append((name, ", ".join(map(str, value))))
        elif value is not None:
            rows.append((name, _as_text(value)))
    return rows


def _lateness_rows(results: StudyResults) -> list[tuple[str, object]]:
    """Return the worst packet lateness of the counted loads."""
    rows: list[tuple[str, object]] = []
    for key, name in (("lateness_us_p99", "p99"), ("lateness_us_max", "largest")):
        values_us = results.blocks.kept[key].drop_nulls().to_list()
        if values_us:
            text = f"{max(values_us) / 1000:.2f} ms in the worst counted load"
            rows.append((f"packets read or released late, {name}", text))
    return rows


def _foreign_time_rows(results: StudyResults) -> list[tuple[str, object]]:
    """Return the processor time of other programs, steal and pressure in the counted loads."""
    rows: list[tuple[str, object]] = []
    for key, name in (
        ("cpu_foreign_share", "processor time that other programs took"),
        ("cpu_steal_share", "processor time that the hypervisor took"),
        ("cpu_pressure_share", "share of the time in which some process waited for a processor"),
    ):
        if shares := results.blocks.kept[key].drop_nulls().to_list():
            text = f"{statistics.median(shares):.1%} in the median load, {max(shares):.1%} at most"
            rows.append((name, text))
    return rows


def _wait_rows(results: StudyResults) -> list[tuple[str, object]]:
    """Return how long loads waited for the machine."""
    waits_s = [ms / 1e3 for ms in results.table["waited_for_host_ms"].drop_nulls()]
    if not waits_s:
        return []
    waited_s = [wait_s for wait_s in waits_s if wait_s > 0]
    text = f"none of {len(waits_s)}"
    if waited_s:
        text = (
            f"{len(waited_s)} of {len(waits_s)}; median wait {statistics.median(waited_s):.1f} "
            f"s, longest {max(waited_s):.1f} s"
        )
    return [("loads that first waited for a quiet machine", text)]


def _machine_rows(results: StudyResults) -> list[tuple[str, object]]:
    """Return the machines of a cluster; the rows that follow describe all of them."""
    machines = results.run_environments
    if not any(each.machine for each in machines):
        return []
    named = [
        f"{each.name or each.machine or 'without a cluster'} ({each.loads})" for each in machines
    ]
    more = f" and {len(named) - MACHINES_MAX} more" if len(named) > MACHINES_MAX else ""
    return [("loaded on machines (loads)", ", ".join(named[:MACHINES_MAX]) + more)]


SET_AND_MEASURED = "Stacks: set and measured (the median of the loads that ended as ok)"


def _stacks(results: StudyResults) -> Markup:
    """Return the differences of the stacks, as set and as measured, and the settings they share.

    The level is in an appendix, pair by pair.
    """
    planned = {stack.name: stack for stack in list_planned_stacks(results.plan)}
    names = [name for name in results.stacks if name in set(results.table["stack"])]
    networks = results.plan.networks
    in_force = [[stack_in_force(planned[name], on) for on in networks] for name in names]
    settings = [row for row in explain([of_stack[0] for of_stack in in_force]) if row.kind == "set"]
    apart = [row for row in settings if len(set(row.values)) > 1]
    alike = [f"{row.name}: {row.values[0]}" for row in settings if row not in apart and row.values]
    rows = [[row.name, row.kind, *row.values] for row in apart]
    rows += [[aspect, "measured", *values] for aspect, values in measure_rows(results.table, names)]
    note = f"The same for all stacks: {'; '.join(alike)}." if alike else ""
    return join(
        [
            table(SET_AND_MEASURED, ["aspect", "kind", *names], rows),
            element("p", note, class_="note") if note and len(names) > 1 else Markup(""),
        ]
    )


def _as_text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}".replace(",", NO_BREAK)
    return f"{value:.4g}" if isinstance(value, float) else str(value)
