"""What was run: versions, machine, sites, networks, stacks, seeds and hashes."""

import json
import statistics
from collections.abc import Mapping
from typing import Any

from eyelevel.analysis.conditions import of_browser
from eyelevel.analysis.formats import NO_BREAK, format_percent
from eyelevel.analysis.phrases import describe_network
from eyelevel.analysis.study import Contents
from eyelevel.analysis.trials.measured import measured_rows
from eyelevel.level.stack_aspects import explain
from eyelevel.plan.stacks import congestion_control_said
from eyelevel.report.html import Markup, element, join, table, titled_section

NOT_SAID = (
    "version",
    "stacks_validated",
    "levels",
)  # of the environment, in the list of what was run


def setup_section(contents: Contents) -> Markup:
    """What was run: versions, machine, sites, networks, stacks, seeds and hashes."""
    plan = contents.plan
    sites = [[site["name"], element("code", site["digest"])] for site in plan["sites"]]
    networks = [[each["name"], describe_network(each)] for each in plan["networks"]]
    return titled_section(
        "setup",
        "What was run",
        _definitions(
            [
                ("plan", element("code", plan["hash"])),
                ("seed of the order and of each load's luck", plan["seed"]),
                ("loads", f"{contents.table.height} of {contents.trials_planned} planned"),
                ("blocks", f"{plan['blocks']} of each site and network, every stack once in each"),
                (
                    "smallest effect of interest",
                    format_percent(contents.smallest_effect, False),
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
        values_us = contents.blocks.kept[key].drop_nulls().to_list()
        if values_us:
            text = f"{max(values_us) / 1000:.2f} ms in the worst counted load"
            rows.append((f"packets read or released late, {name}", text))
    return rows


def _pressure(contents: Contents) -> list[tuple[str, object]]:
    """How much of the counted loads some process waited for a processor."""
    shares = contents.blocks.kept["cpu_pressure_share"].drop_nulls().to_list()
    if not shares:
        return []
    middle = statistics.median(shares)
    text = f"{middle:.0%} of the time in the median load, {max(shares):.0%} at most"
    return [("some process waited for a processor", text)]


def _waited(contents: Contents) -> list[tuple[str, object]]:
    """How long loads waited for a machine that had time for them."""
    waits_s = [ms / 1e3 for ms in contents.table["waited_for_host_ms"].drop_nulls()]
    if not waits_s:
        return []
    waited_s = [wait_s for wait_s in waits_s if wait_s > 0]
    text = f"none of {len(waits_s)}"
    if waited_s:
        text = (
            f"{len(waited_s)} of {len(waits_s)}; of these {statistics.median(waited_s):.1f} s in "
            f"the median, {max(waited_s):.1f} s at most"
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
