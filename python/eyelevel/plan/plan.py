"""A plan: parse its TOML text, check it with file and line, resolve its presets."""

import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from pydantic import ValidationError

from eyelevel.nearest import unknown
from eyelevel.networks import NETWORKS_BY_NAME, Network
from eyelevel.plan.browser_settings import BrowserSettings, browser_settings
from eyelevel.plan.causes import Causes, with_causes
from eyelevel.plan.cross_traffic import cross_traffic_of, with_twins
from eyelevel.plan.devices import DEVICES_BY_NAME
from eyelevel.plan.errors import PlanError
from eyelevel.plan.lines import Path, line_numbers, line_of
from eyelevel.plan.mistakes import explain_mistake
from eyelevel.plan.model import PlanFile
from eyelevel.plan.stacks import OWN_SERVER_MARK, Stack
from eyelevel.plan.synthetic import is_synthetic, parse_synthetic
from eyelevel.plan.tables import KeyedError, Readers, network_of, stack_of

ARCHIVE_SUFFIXES = (".wacz", ".warc", ".warc.gz")


@dataclass(frozen=True)
class StopRule:
    """Stop once every primary comparison's interval is at most this wide, or cannot become so.

    Looked at after each repetition from `blocks_min` on; widths are shares of the reference.
    """

    interval_width_max: float
    blocks_min: int
    futility: bool


@dataclass(frozen=True)
class Plan:
    """A checked plan with its presets resolved; `source` is its text, kept for the record."""

    title: str
    sites: tuple[str, ...]
    networks: tuple[Network, ...]
    stacks: tuple[Stack, ...]
    reference: str
    blocks: int
    seed: int
    primary_metric: str
    smallest_effect_of_interest: float
    browser: BrowserSettings
    source: str
    stop: StopRule | None = None
    weights: Mapping[str, float] = field(default_factory=dict)
    """Shares of use by network's name; empty where the plan gives none: then all count alike."""
    causes: Causes | None = None
    """Who of the stacks and networks is whose counterfactual."""
    trace_files: Mapping[str, str] = field(default_factory=dict)
    """The file of each recorded trace by its digest: where it lies is not what it is."""


def is_archive_path(site: str) -> bool:
    """Whether a plan's site is a path to a recording rather than a shipped site's name."""
    return "/" in site or site.endswith(ARCHIVE_SUFFIXES)


def parse_plan(
    text: str,
    file: str,
    *,
    site_names: Collection[str] | None = None,
    metric_names: Collection[str] | None = None,
    matching: Callable[[str], Sequence[str]] | None = None,
    readers: Readers | None = None,
) -> Plan:
    """The plan that the TOML `text` describes; `file` is its name for messages.

    `matching` gives the sites that a pattern with `*`, `?` or `[` stands for (None: patterns of
    names are looked up among `site_names`, patterns of paths are errors). Sites that are no paths
    must be among `site_names`, the primary metric among `metric_names` (None: not checked).
    `readers` read the traces and stages that networks name (None: they are errors). Raises
    PlanError with every problem, each with file and line.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PlanError([f"{file}: not TOML: {error}"]) from error
    lines = line_numbers(text)
    problems: list[tuple[int, str]] = []

    def report(path: Path, message: str) -> None:
        line = line_of(lines, path)
        problems.append((line, f"{file}:{line}: {message}"))

    def refused() -> PlanError:
        return PlanError([said for _, said in sorted(problems, key=lambda each: each[0])])

    places = _expand_patterns(data, site_names, matching, report)
    if problems:
        raise refused()

    def report_expanded(path: Path, message: str) -> None:
        report(_origin(path, places), message)

    try:
        parsed = PlanFile.model_validate(data)
    except ValidationError as error:
        for found in error.errors():
            report_expanded(*explain_mistake(found))
        raise refused() from error
    trace_files: dict[str, str] = {}
    networks = _resolve(
        parsed.networks,
        "networks",
        lambda table: network_of(table, readers, trace_files),
        report_expanded,
    )
    stacks = _resolve(parsed.stacks, "stacks", stack_of, report_expanded)
    _check_names(parsed, stacks, site_names, metric_names, report_expanded)
    if problems:
        raise refused()
    weights = _weights(parsed, networks)
    key = "cross_traffic"
    try:
        cross_traffic = cross_traffic_of(parsed.cross_traffic or ())
        networks, weights = with_twins(networks, parsed.networks, weights, cross_traffic)
        key, causes = "causes", None
        if parsed.causes:
            stacks, networks, causes = with_causes(stacks, networks, parsed.causes)
    except ValueError as error:
        report((key,), str(error))
        raise refused() from error
    return Plan(
        title=parsed.title,
        sites=tuple(parsed.sites),
        networks=networks,
        stacks=stacks,
        reference=_reference(parsed, stacks),
        blocks=parsed.blocks,
        seed=parsed.seed,
        primary_metric=parsed.primary_metric,
        smallest_effect_of_interest=parsed.smallest_effect_of_interest,
        browser=_browser(parsed),
        source=text,
        stop=StopRule(**parsed.stop.model_dump()) if parsed.stop else None,
        weights=weights,
        trace_files=trace_files,
        causes=causes,
    )


def _browser(parsed: PlanFile) -> BrowserSettings:
    return browser_settings(
        device=DEVICES_BY_NAME[parsed.device] if parsed.device else None,
        cpu_slowdown=parsed.cpu_slowdown,
        browser=parsed.browser,
        capture=parsed.capture,
        timeout_s=parsed.timeout_s,
        same_requests=parsed.same_requests,
        visit=parsed.visit,
        color_scheme=parsed.color_scheme,
        javascript=parsed.javascript,
        blocked_hosts=tuple(parsed.blocked_hosts),
        after_load=tuple(parsed.after_load),
        netlog=parsed.netlog,
        trace=parsed.trace,
        logs=tuple(dict.fromkeys(parsed.logs)),
    )


Report = Callable[[Path, str], None]
_PATTERN = re.compile(r"[*?\[]")


def _expand_patterns(
    data: dict[str, Any],
    site_names: Collection[str] | None,
    matching: Callable[[str], Sequence[str]] | None,
    report: Report,
) -> dict[str, list[int]]:
    """Put what patterns stand for in their places; for each new element its place in the file."""

    def sites(pattern: str) -> Sequence[str]:
        if matching is not None:
            return matching(pattern)
        return [] if is_archive_path(pattern) else _matches(pattern, site_names or ())

    def networks(pattern: str) -> Sequence[str]:
        return _matches(pattern, NETWORKS_BY_NAME)

    places: dict[str, list[int]] = {}
    for key, find in (("sites", sites), ("networks", networks)):
        given = data.get(key)
        if not isinstance(given, list):
            continue
        expanded: list[Any] = []
        places[key] = []
        for index, each in enumerate(given):
            found: Sequence[Any] = [each]
            if isinstance(each, str) and (_PATTERN.search(each) or each.endswith("/")):
                found = [name for name in find(each) if name not in given and name not in expanded]
                if not found:
                    report((key, index), f"the pattern `{each}` matches nothing further")
            expanded += found
            places[key] += [index] * len(found)
        data[key] = expanded
    return places


def _matches(pattern: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if fnmatchcase(name, pattern)]


def _origin(path: Path, places: Mapping[str, list[int]]) -> Path:
    """Where in the file an element of an expanded list stands."""
    at = places.get(str(path[0]), []) if path else []
    if len(path) > 1 and isinstance(path[1], int) and path[1] < len(at):
        return (path[0], at[path[1]], *path[2:])
    return path


def _weights(parsed: PlanFile, networks: Sequence[Network]) -> dict[str, float]:
    given = [table.weight for table in parsed.networks]
    if all(weight is None for weight in given):
        return {}
    return {n.name: 1.0 if w is None else w for n, w in zip(networks, given, strict=True)}


def _resolve(
    tables: Iterable[Any], key: str, resolve_one: Callable[[Any], Any], report: Report
) -> tuple[Any, ...]:
    resolved, names = [], set()
    for index, table in enumerate(tables):
        try:
            one = resolve_one(table)
        except ValueError as error:
            at = (key, index, error.key) if isinstance(error, KeyedError) else (key, index)
            report(at, str(error))
            continue
        if one.name in names:
            report((key, index), f"the name `{one.name}` is used twice; names tell results apart")
        names.add(one.name)
        resolved.append(one)
    return tuple(resolved)


def _reference(parsed: PlanFile, stacks: Sequence[Stack]) -> str:
    """As named, or with the mark of a stack that somebody else's server serves."""
    marked = parsed.reference + OWN_SERVER_MARK
    return marked if marked in [stack.name for stack in stacks] else parsed.reference


def _check_names(
    parsed: PlanFile,
    stacks: tuple[Stack, ...],
    site_names: Collection[str] | None,
    metric_names: Collection[str] | None,
    report: Report,
) -> None:
    names = [stack.name for stack in stacks]
    if len(names) == len(parsed.stacks) and _reference(parsed, stacks) not in names:
        report(("reference",), unknown("stack", parsed.reference, names))
    if parsed.device is not None and parsed.device not in DEVICES_BY_NAME:
        report(("device",), unknown("device", parsed.device, DEVICES_BY_NAME))
    else:
        browser = _browser(parsed)
        if refused := browser.refusal():
            report((refused[0],), refused[1])
        for index, stack in enumerate(stacks):
            if reason := browser.refused_stack(stack):
                report(("stacks", index), reason)
    if metric_names is not None and parsed.primary_metric not in metric_names:
        report(("primary_metric",), unknown("metric", parsed.primary_metric, metric_names))
    for index, site in enumerate(parsed.sites):
        if site in parsed.sites[:index]:
            report(("sites", index), f"site `{site}` is listed twice")
        elif is_synthetic(site):
            try:
                parse_synthetic(site)
            except ValueError as error:
                report(("sites", index), str(error))
        elif site_names is not None and not is_archive_path(site) and site not in site_names:
            report(("sites", index), unknown("site", site, site_names))
